//! Photos from the phone or computer. They are stored in the image store of the service, and their addresses there become those of an ad;
//! the worker then takes them from the store. What no ad refers to is removed after a day.

use ad_core::{
    categories::ad_fields::MOST_IMAGES,
    model::Ad,
    ports::{Image, ImageError, MediaStore as _},
    quotas::{NotAdmitted, Quotas},
    service::{Access, Incoming, ServiceError, Target},
};
use maud::{Markup, html};
use poem::{
    Response,
    http::{StatusCode, header},
};
use serde_json::{Map, Value, json};

use super::{
    act::AdKey,
    page::{self, NoticeKind, Section},
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, body::ReceivedFile};
use ad_server_access::auth::Permission;
use ad_server_base::limits::table::{IMAGE_BYTES, MOST_UPLOAD_BYTES, MOST_UPLOADS, UPLOAD_FORM, UPLOADS_KEPT};
use ad_server_store::{MostUploads, Upload};

/// Most bytes of a photo, as of one that is fetched.
pub(super) const MOST_BYTES: usize = IMAGE_BYTES;

pub(super) const MOST_FORM_BYTES: usize = UPLOAD_FORM;

/// Name of the input with files.
const FILES: &str = "photos";

/// Why a photo is not stored, for the visitor.
type Refusal = (StatusCode, String);

/// `POST /console/photos?dealer_code=…`, with a photo as body: stores it, and answers with its address. For the script.
pub(super) async fn add(visit: Visit) -> PageResult {
    let dealer = dealer(&visit).await?;
    let Some(file) = visit.files.first() else { return Err(ApiError::Internal) };
    let (status, answer) = match store(&visit, &dealer, file).await? {
        Ok(address) => {
            (StatusCode::OK, json!({"address": address, "shown": super::show::reachable(&visit, address.clone())}))
        }
        Err((status, reason)) => (status, json!({"error": reason})),
    };
    let body = serde_json::to_vec(&answer).map_err(|_| ApiError::Internal)?;
    let response = Response::builder().status(status).content_type("application/json");
    Ok(response.header(header::CACHE_CONTROL, "no-store").body(body))
}

/// `POST /console/ad/photos?source_id=…`, the form without script: stores the photos and adds them to the ad.
pub(super) async fn add_to_ad(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let key = AdKey::of(&visit.query).ok_or(ServiceError::NotFound)?;
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let read = context.service.read_without_log(access, key.target());
    let shown = context.in_turn(access, None, false, Box::pin(read)).await?;
    let dealer_code = shown.ad.dealer_code.clone();
    let (mut addresses, mut refused) = (Vec::new(), Vec::new());
    for file in &visit.files {
        match store(&visit, &dealer_code, file).await? {
            Ok(address) => addresses.push(address),
            Err((_, reason)) => refused.push(reason),
        }
    }
    let address = format!("/ad?{}", AdKey::query(&shown.ad.source_id, &dealer_code));
    if !addresses.is_empty() {
        let mut urls: Vec<_> = shown.ad.content.image_urls().map(str::to_owned).collect();
        addresses.retain(|address| !urls.contains(address));
        urls.extend(addresses);
        let origin = visit.origin();
        let incoming = Incoming { id: visit.request_id, keep: None, origin: Some(&origin) };
        let revisions = [shown.tag.revision];
        let target = Target { revisions: Some(&revisions), ..key.target() };
        let patch = Map::from_iter([("image_urls".to_owned(), Value::from(urls))]);
        let update = context.service.update(access, incoming, shown.ad.api_version, target, &patch);
        context.in_turn(access, Some(&shown.ad.source_id), false, Box::pin(update)).await?;
    } else if refused.is_empty() {
        refused.push(texts.no_photo_chosen.to_owned());
    }
    if refused.is_empty() {
        return Ok(visit.visitor.redirect(&address));
    }
    let reasons = html! { h1 { (texts.photos) } ul { @for reason in refused { li { (reason) } } } };
    let answer = html! {
        (page::notice(NoticeKind::Error, &reasons))
        p { a.button href=(visit.visitor.address(&address)) { (texts.back) } }
    };
    Ok(page::page_with_status(&visit, StatusCode::BAD_REQUEST, Section::Stock, texts.photos, &answer))
}

/// The form without script, which the script hides: its own is among the fields of the ad.
pub(super) fn form(visit: &Visit, ad: &Ad) -> Markup {
    let texts = visit.visitor.texts;
    let action = visit.visitor.address(&format!("/ad/photos?{}", AdKey::query(&ad.source_id, &ad.dealer_code)));
    html! {
        @if visit.may(Permission::Write) && ad.image_refs.len() < MOST_IMAGES {
            form.row method="post" action=(action) enctype="multipart/form-data" {
                div {
                    label for=(FILES) { (texts.add_photos) }
                    input #(FILES) type="file" name=(FILES) accept="image/jpeg,image/png" multiple;
                }
                button { (texts.add_photos) }
            }
        }
    }
}

/// The dealer whose photos they are.
async fn dealer(visit: &Visit) -> Result<String, ApiError> {
    let dealers = visit.visitor.context.service.dealers(&visit.caller.scope).await?;
    let wanted = visit.parameter("dealer_code").filter(|_| matches!(visit.caller.scope, Access::Group(_)));
    let found = dealers
        .into_iter()
        .map(|(dealer, _)| dealer.code.clone())
        .find(|code| wanted.is_none_or(|wanted| wanted == code));
    Ok(found.ok_or(ServiceError::NotFound)?)
}

/// Stores a photo of a dealer, and returns its address.
async fn store(visit: &Visit, dealer: &str, file: &ReceivedFile) -> Result<Result<String, Refusal>, ApiError> {
    let (texts, console, context) = (visit.visitor.texts, &visit.visitor.console, &visit.visitor.context);
    let bytes = file.bytes.clone();
    let image = context.limits.processor.run(visit.caller.scope.name(), async move { Image::new(bytes) }).await;
    let image = match image {
        Ok(image) => image,
        Err(ImageError::Unusable(_, reason)) => {
            let reason = visit.visitor.language.pick(&reason, texts.not_a_photo).to_owned();
            return Ok(Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, reason)));
        }
        Err(_) => return Err(ApiError::Internal),
    };
    let (name, address) = console.media.place(&image);
    if !context.service.rulebook().image_schemes().iter().any(|scheme| address.starts_with(&format!("{scheme}://"))) {
        return Ok(Err((StatusCode::CONFLICT, texts.photos_need_https.to_owned())));
    }
    let quotas = Quotas::new(console.quotas, context.store.clone(), console.clock.clone());
    match quotas.admit_image(dealer, &image).await {
        Ok(()) => {}
        Err(NotAdmitted::Exceeded(_)) => {
            return Ok(Err((StatusCode::INSUFFICIENT_STORAGE, texts.photo_quota.to_owned())));
        }
        Err(NotAdmitted::Store(error)) => return Err(ServiceError::from(error).into()),
    }
    let now = console.clock.now();
    let most = MostUploads { photos: MOST_UPLOADS, bytes: MOST_UPLOAD_BYTES };
    let size = u64::try_from(image.bytes.len()).unwrap_or(u64::MAX);
    let noted = console.database.add_upload(dealer, &name, size, most, (now, now + UPLOADS_KEPT)).await;
    match noted.map_err(ServiceError::from)? {
        Upload::Noted => {}
        Upload::TooMany => return Ok(Err((StatusCode::INSUFFICIENT_STORAGE, texts.too_many_photos.to_owned()))),
        Upload::BeingRemoved => return Ok(Err((StatusCode::SERVICE_UNAVAILABLE, texts.try_again_soon.to_owned()))),
    }
    if console.media.put(&image).await.is_err() {
        return Ok(Err((StatusCode::SERVICE_UNAVAILABLE, texts.try_again_soon.to_owned())));
    }
    quotas.image_stored(dealer, &image).await.map_err(ServiceError::from)?;
    Ok(Ok(address))
}
