//! Converts ads from V3 to V4: which ads convert, and which data the others still need. [`ad_core`] defines which category becomes which, and
//! what a payload must contain.

use ad_client::{Ad, AdFilter, AdQuery, Client, Error, Image, Target};
use ad_core::{
    categories::{self, Category, ad_fields},
    fields::FieldErrors,
    model::{self, AdState, Content, ImageRef},
    rulebook::{
        Rulebook, WriteContext,
        versions::{Conversion, conversion_of},
    },
};
use futures_util::{Stream, TryStreamExt};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Whether an ad of V3 can become an ad of V4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversionState {
    /// Any update through V4 converts it.
    Converts,
    /// It migrates with what it has.
    Ready,
    /// It can migrate with additional data.
    NeedsData,
    /// Several vehicle types are possible, and none was chosen.
    NeedsType,
    /// V4 has no category for it: it stays with V3.
    #[default]
    Stays,
    /// The service has accepted the conversion.
    Accepted,
    /// The service has rejected it.
    Rejected,
    /// The service has accepted it, but it failed or was unfinished when the wait ended.
    Failed,
}

/// The assessment of the conversion of an ad. Programs read its members, so their names are stable.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Assessment {
    /// `source_id` of the ad.
    pub source_id: String,
    /// `dealer_code` of the ad.
    pub dealer_code: String,
    /// `category_id` by which V3 knows it.
    pub category_id: u16,
    /// Whether it can be converted, or what it waits for.
    #[serde(rename = "way")]
    pub state: ConversionState,
    /// The possible vehicle types of V4; the first one was assessed.
    pub vehicle_types: Vec<&'static str>,
    /// What is wrong or missing, by field.
    pub needs: Vec<Need>,
    /// Values of the V3 ad that the payload lacks, as `path: value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The request that converts it, once accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The payload of V4 that would be sent.
    #[serde(skip)]
    pub payload: Map<String, Value>,
}

/// What is wrong with a field, or that it is missing.
#[derive(Debug, Clone, Serialize)]
pub struct Need {
    /// Dotted path; empty for the payload as a whole.
    pub field: String,
    /// What is wrong, one sentence each.
    pub messages: Vec<String>,
}

/// All ads of V3 that are not deleted.
pub fn ads_of_v3(client: &Client) -> impl Stream<Item = Result<Ad, Error>> {
    let query = AdQuery::oldest_first([AdFilter::State(AdState::Created)]);
    client.v4().all(&query).try_filter(|ad| std::future::ready(ad.api_version == model::ApiVersion::V3))
}

/// Assesses an ad of V3, with a prepared payload or with its own data.
pub fn assess(rulebook: &Rulebook, ad: &Ad, prepared: Option<&Map<String, Value>>, wanted: Option<&str>) -> Assessment {
    let category = categories::by_id(ad.category_id);
    let stored = stored(ad);
    let sent = prepared.and_then(|payload| payload.get("category_id")).and_then(categories::sent_id);
    let mut targets: Vec<_> = category.into_iter().flat_map(Category::targets).collect();
    // The chosen type comes first.
    targets.sort_by_key(|(name, target)| !(Some(*name) == wanted || Some(target.id) == sent));
    let mut assessment = Assessment {
        source_id: ad.source_id.clone(),
        dealer_code: ad.dealer_code.clone(),
        category_id: ad.category_id,
        vehicle_types: targets.iter().map(|(name, _)| *name).collect(),
        ..Assessment::default()
    };
    if conversion_of(ad.api_version, category) == Conversion::Automatic {
        assessment.state = ConversionState::Converts;
        assessment.vehicle_types = category.and_then(|category| category.vehicle_type).into_iter().collect();
        return assessment;
    }
    let Some((name, target)) = targets.first() else { return assessment };
    if targets.len() > 1 && Some(*name) != wanted && Some(target.id) != sent {
        let types: Vec<_> = targets.iter().map(|(name, _)| format!("--type {name}")).collect();
        assessment.state = ConversionState::NeedsType;
        assessment.needs = vec![Need { field: "category_id".to_owned(), messages: vec![types.join(" or ")] }];
        return assessment;
    }
    let mut payload = prepared.cloned().unwrap_or_else(|| stored.content.fields().clone());
    // The path determines the category.
    payload.remove("category_id");
    let write = WriteContext { category: target, version: model::ApiVersion::V4, dealer: None };
    let errors = rulebook.migrate(write, &stored, payload.clone()).err().unwrap_or_default();
    assessment.state = if errors.is_empty() { ConversionState::Ready } else { ConversionState::NeedsData };
    assessment.needs = needs(&errors);
    assessment.payload = payload;
    assessment
}

/// Converts an ad that converts or is ready; its assessment says then whether the service has accepted it.
///
/// # Errors
/// When the service refuses the token, or cannot be reached.
pub async fn convert(client: &Client, assessment: &mut Assessment) -> Result<(), Error> {
    let Some(vehicle_type) = assessment.vehicle_types.first() else { return Ok(()) };
    let ads = client.typed(vehicle_type);
    let target = Target::from(&assessment.source_id).of_dealer(Some(&assessment.dealer_code));
    let answer = match assessment.state {
        // An update that changes nothing else.
        ConversionState::Converts => ads.update(target, &json!({})).await,
        ConversionState::Ready => ads.migrate(target, &assessment.payload).await,
        _ => return Ok(()),
    };
    let error = match answer {
        Ok(answer) => {
            (assessment.state, assessment.request_id) = (ConversionState::Accepted, answer.request_id);
            return Ok(());
        }
        Err(error) => error,
    };
    if error.is_unclear() && client.v4().read(target).await?.api_version == model::ApiVersion::V4 {
        assessment.state = ConversionState::Accepted;
    } else if error.is_refusal() {
        assessment.state = ConversionState::Rejected;
        assessment.needs = vec![Need { field: String::new(), messages: vec![error.to_string()] }];
    } else {
        return Err(error);
    }
    Ok(())
}

fn needs(errors: &FieldErrors) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for (field, message) in errors.flatten() {
        match needs.last_mut() {
            Some(last) if last.field == field => last.messages.push(message.into_owned()),
            _ => needs.push(Need { field, messages: vec![message.into_owned()] }),
        }
    }
    needs
}

/// The ad as the rules know it, with what its client wrote.
pub fn stored(shown: &Ad) -> model::Ad {
    let fields = json!(shown);
    let written = ad_fields::WRITTEN.iter().filter_map(|field| field.path.split('.').next());
    let content: Map<String, Value> = written
        .filter_map(|name| Some((name.to_owned(), fields.get(name)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect();
    model::Ad {
        id: shown.id,
        source_id: shown.source_id.clone(),
        dealer_code: shown.dealer_code.clone(),
        category_id: shown.category_id,
        state: AdState::Created,
        api_version: shown.api_version,
        content: Content::from(content),
        image_refs: shown.image_refs.iter().map(image_ref).collect(),
        marketplace_ad_id: shown.marketplace_ad_id.clone(),
        offer_id: shown.offer_id.clone(),
        created: shown.created,
        updated: shown.updated,
    }
}

fn image_ref(image: &Image) -> ImageRef {
    let Image { url, cdn_url, id, checksum, .. } = image.clone();
    ImageRef { url, cdn_url, id, checksum, photo: None }
}
