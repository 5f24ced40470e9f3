//! Stock plans: a dealer's whole stock, or a change of selected ads, compared before anything changes (extensions E8).

use std::time::{Duration, Instant};

use ad_core::model::{self, ChangeQuery, PlanOptions, PlannedChange, StockPlan};
use ad_parameters::{ApplyParameters, PAGE_PARAMETERS, ToParameters};
use futures_util::stream::BoxStream;
use reqwest::{Method, header::HeaderValue};
use serde::Serialize;
use serde_json::{Map, Number, Value, json};
use uuid::Uuid;

use super::{
    AdFilter, AdQuery, Answer, Error, Page, StockBody, StockFormat,
    ads::{MOST_WAIT, PREFER},
    pages,
    transport::{Call, Transport, query_string},
};

const PATH: &str = "v4/stock/plans";

/// For how long one read of a plan is held back while others wait for its progress.
const LOOK: Duration = Duration::from_secs(5);

/// The least time between two reads, should the service hold back none.
const PAUSE: Duration = Duration::from_millis(500);

/// The stock plans of the token's scope. To make, apply and cancel them, the token needs the permission `write`.
///
/// A plan changes nothing until it is [applied](Self::apply). Making one is not tried again when the whole stock was sent and no answer came:
/// there may be a plan, and a dealer has few. [`list`](Self::list) shows it.
#[derive(Debug, Clone, Copy)]
pub struct StockPlans<'a> {
    transport: &'a Transport,
}

/// The ads that a plan of a change is about, and the change.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Filters, all of which an ad passes. Deleted ads are never among them.
    pub filters: Vec<AdFilter>,
    /// What is changed in each of the ads.
    pub change: BulkChange,
}

/// One change of many ads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum BulkChange {
    /// List and reduced prices in percent, such as -5.
    Price {
        /// Percent that are added: more than -100, and not 0.
        price_percent: Number,
        /// The multiple to which amounts are rounded.
        #[serde(skip_serializing_if = "Option::is_none")]
        round: Option<Number>,
    },
    /// List and reduced prices by an amount, such as -5000.
    Amount {
        /// What is added, in the currency of each price; not 0.
        price_amount: Number,
        /// The multiple to which amounts are rounded.
        #[serde(skip_serializing_if = "Option::is_none")]
        round: Option<Number>,
    },
    /// Fields, as an update of one ad has them.
    Set {
        /// The fields.
        set: Map<String, Value>,
    },
}

impl<'a> StockPlans<'a> {
    pub(super) fn new(transport: &'a Transport) -> Self {
        Self { transport }
    }

    /// Compares a stock with the stored ads. `wait` is for how long the answer may be held back until the plan is ready, at most 30 seconds; see
    /// [`wait`](Self::wait) for longer. The time limit of the client, and a minute, is for each part of the stock and for the answer.
    ///
    /// A stock that is not whole is answered with a plan that is [refused](model::PlanState::Refused): its errors say why, with line and cure.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorKind::Invalid) naming the options that are wrong, another refusal for a dealer with three unfinished plans, and
    /// [`Body`](super::ErrorKind::Body) when the stock cannot be read.
    pub async fn plan(
        &self,
        stock: StockBody,
        options: &PlanOptions,
        wait: Duration,
    ) -> Result<Answer<StockPlan>, Error> {
        let call = Call::new(Method::POST, format!("{PATH}{}", query_string(options.parameters())), None);
        self.transport.ask(waiting(Call { stock: Some(stock), ..call }, wait)).await
    }

    /// Plans the same change of all selected ads.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Invalid`](super::ErrorKind::Invalid) naming what is wrong with the change.
    pub async fn of_selection(
        &self,
        selection: &Selection,
        options: &PlanOptions,
        wait: Duration,
    ) -> Result<Answer<StockPlan>, Error> {
        let stock = StockBody::bytes(StockFormat::Array, selection.body().to_string());
        self.plan(stock, options, wait).await
    }

    /// A page of plans.
    ///
    /// # Errors
    /// [`Forbidden`](super::ErrorKind::Forbidden) for a token that may not read.
    pub async fn list(&self, page: model::Page) -> Result<Answer<Page<StockPlan>>, Error> {
        let values = [page.limit.to_string(), page.offset.to_string()];
        let query = query_string(PAGE_PARAMETERS.iter().map(|parameter| parameter.name).zip(values));
        self.transport.get(format!("{PATH}{query}")).await
    }

    /// One plan. The answer may be held back for this time (at most 30 seconds) until the plan is neither computed nor applied.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound).
    pub async fn read(&self, id: Uuid, wait: Duration) -> Result<Answer<StockPlan>, Error> {
        self.transport.ask(waiting(Call::new(Method::GET, of(id, ""), None), wait)).await
    }

    /// Waits until a plan is neither computed nor applied and the requests of its changes are finished, for this time at most, and shows it to
    /// `seen` as it gets on. The answer is the plan as it is then.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn wait(
        &self,
        id: Uuid,
        within: Duration,
        mut seen: impl FnMut(&StockPlan),
    ) -> Result<Answer<StockPlan>, Error> {
        let began = Instant::now();
        loop {
            let left = within.saturating_sub(began.elapsed());
            let asked = Instant::now();
            let answer = self.read(id, left.min(LOOK)).await?;
            seen(&answer.body);
            if !answer.body.is_under_way() || began.elapsed() >= within {
                return Ok(answer);
            }
            tokio::time::sleep(PAUSE.saturating_sub(asked.elapsed())).await;
        }
    }

    /// A page of the changes of a plan.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Invalid`](super::ErrorKind::Invalid) naming the parameters that are wrong.
    pub async fn changes(&self, id: Uuid, query: &ChangeQuery) -> Result<Answer<Page<PlannedChange>>, Error> {
        let query = query_string(query.parameters());
        self.transport.get(of(id, &format!("/changes{query}"))).await
    }

    /// All changes from the page of the query on, page after page as they are needed.
    ///
    /// # Errors
    /// The stream ends with the first error, as those of [`changes`](Self::changes).
    pub fn changes_all(&self, id: Uuid, query: &ChangeQuery) -> BoxStream<'a, Result<PlannedChange, Error>> {
        let (plans, query) = (*self, query.clone());
        pages::rows(query.page, move |page| {
            let query = ChangeQuery { page, ..query.clone() };
            async move { plans.changes(id, &query).await }
        })
    }

    /// Applies a plan that is ready; the service goes on by itself. A plan that is applied already is answered as it is.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`Other`](super::ErrorKind::Other) for a plan that is not ready, that has more removals than are allowed, or of
    /// whose dealer another one is being applied.
    pub async fn apply(&self, id: Uuid, parameters: ApplyParameters) -> Result<Answer<StockPlan>, Error> {
        let query = query_string(parameters.parameters());
        self.transport.ask(Call::new(Method::POST, of(id, &format!("/apply{query}")), None)).await
    }

    /// Cancels a plan. Of one that is being applied, what has been made stays.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn cancel(&self, id: Uuid) -> Result<Answer<StockPlan>, Error> {
        self.transport.ask(Call::new(Method::DELETE, of(id, ""), None)).await
    }
}

impl Selection {
    /// The filters by their names in lists.
    fn body(&self) -> Value {
        let query = AdQuery { filters: self.filters.clone(), ..AdQuery::default() };
        let filters = query.parameters().into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        json!({"select": filters.collect::<Map<_, _>>(), "change": self.change})
    }
}

fn of(id: Uuid, below: &str) -> String {
    format!("{PATH}/{id}{below}")
}

/// A call whose answer may be held back.
fn waiting(mut call: Call, wait: Duration) -> Call {
    call.wait = wait.min(MOST_WAIT);
    if !wait.is_zero() {
        let seconds = format!("wait={}", call.wait.as_secs().max(1));
        call.headers.extend(HeaderValue::from_str(&seconds).ok().map(|value| (PREFER, value)));
    }
    call
}

#[cfg(test)]
mod tests;
