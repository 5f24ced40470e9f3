//! Promotions by the clock (extensions E9.4).

use ad_core::model::{
    self, AdsOrder, Amount, LastDay, Promotion, PromotionKind, PromotionPreview, PromotionRun, TimeOfDay, Weekday,
};
use ad_parameters::{PAGE_PARAMETERS, ToParameters};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    AdFilter, AdQuery, Answer, Error, ErrorKind, Page,
    transport::{Call, Transport, query_string},
};

const PATH: &str = "v4/promotions";

/// The promotion schedules of the token's scope. To make, change and delete them, the token needs the permission `promote`.
#[derive(Debug, Clone, Copy)]
pub struct Promotions<'a> {
    transport: &'a Transport,
}

/// What a schedule says. A new one needs `kind`, `select` and `at`; a change has the members that change. `Some(None)` removes what it
/// has said.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each is the member of its name of `ad_core::model::PromotionRules`")]
pub struct PromotionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<PromotionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<AdsOrder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_per_run: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_age_days: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weekdays: Option<Vec<Weekday>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<TimeOfDay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Option<LastDay>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Option<Amount>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_primary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_secondary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Whose ads are promoted; only of a new one, and needed with a token of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dealer_code: Option<String>,
}

/// `select` of a schedule: the filters by their names in lists.
pub fn selecting(filters: Vec<AdFilter>) -> Map<String, Value> {
    let query = AdQuery { filters, ..AdQuery::default() };
    query.parameters().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

impl<'a> Promotions<'a> {
    pub(super) fn new(transport: &'a Transport) -> Self {
        Self { transport }
    }

    /// Makes a schedule. Charges apply to each promotion that it orders.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) naming what is wrong, and another refusal for a dealer with a hundred schedules.
    pub async fn create(&self, fields: &PromotionFields) -> Result<Answer<Promotion>, Error> {
        self.send(Method::POST, PATH.to_owned(), fields).await
    }

    /// A page of schedules, newest first.
    ///
    /// # Errors
    /// [`Forbidden`](ErrorKind::Forbidden) for a token that may not read.
    pub async fn list(&self, page: model::Page) -> Result<Answer<Page<Promotion>>, Error> {
        self.transport.get(format!("{PATH}{}", of_page(page))).await
    }

    /// One schedule.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound).
    pub async fn read(&self, id: Uuid) -> Result<Answer<Promotion>, Error> {
        self.transport.get(of(id, "")).await
    }

    /// Changes a schedule, pauses it or resumes it.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`read`](Self::read).
    pub async fn update(&self, id: Uuid, fields: &PromotionFields) -> Result<Answer<Promotion>, Error> {
        self.send(Method::PATCH, of(id, ""), fields).await
    }

    /// Deletes a schedule with its runs, and returns what it was. What it has ordered stays ordered.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn delete(&self, id: Uuid) -> Result<Answer<Promotion>, Error> {
        self.transport.ask(Call::new(Method::DELETE, of(id, ""), None)).await
    }

    /// A page of the runs of a schedule, latest first.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn runs(&self, id: Uuid, page: model::Page) -> Result<Answer<Page<PromotionRun>>, Error> {
        self.transport.get(of(id, &format!("/runs{}", of_page(page)))).await
    }

    /// What the next run of a schedule would do now. Nothing is ordered.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn preview(&self, id: Uuid) -> Result<Answer<PromotionPreview>, Error> {
        let call = Call::new(Method::POST, of(id, "/preview"), None);
        self.transport.ask(Call { is_repeatable: true, ..call }).await
    }

    async fn send(&self, method: Method, path: String, fields: &PromotionFields) -> Result<Answer<Promotion>, Error> {
        let body = serde_json::to_vec(fields)
            .map_err(|error| Error::new(ErrorKind::Malformed(error.to_string()), &method, &path))?;
        self.transport.ask(Call::new(method, path, Some(body.into()))).await
    }
}

fn of(id: Uuid, below: &str) -> String {
    format!("{PATH}/{id}{below}")
}

fn of_page(page: model::Page) -> String {
    let values = [page.limit.to_string(), page.offset.to_string()];
    query_string(PAGE_PARAMETERS.iter().map(|parameter| parameter.name).zip(values))
}
