//! Erasure: first the counts, then steps that are short enough for a page.

use std::{future::ready, time::Duration};

use ad_core::service::ServiceError;
use maud::{Markup, html};
use poem::http::StatusCode;
use tokio::time::Instant;

use super::{
    super::{
        page::{self, NoticeKind, Section},
        visitor::{PageResult, Visit, value},
    },
    Filter, bad_form, filter_form, pages, table,
};
use crate::api::ApiError;
use ad_server_store::{Erased, ErasureCounts};
use ad_server_work::operators::{Erasure, ErasureError, remove_erased_images};

const PATH: &str = "/operators/erase";

/// Time limit of a step. The last batch may exceed it.
const STEP: Duration = Duration::from_secs(5);

/// Pause between two checks whether the ads are deleted.
const LOOK: Duration = Duration::from_millis(250);

/// Photos that are removed within this time are counted.
const SOON: Duration = Duration::from_hours(30 * 24);

/// Most ads whose photos are counted.
const COUNTED: u32 = 100_000;

/// The dealer and the ad of a query or form.
fn dealer_and_ad(pairs: &[(String, String)]) -> (Option<&str>, Option<&str>) {
    let text = |name| value(pairs, name).map(str::trim).filter(|value| !value.is_empty());
    (text("dealer_code"), text("source_id"))
}

/// `GET /console/operators/erase`: what would be erased.
pub(in crate::console) async fn form(visit: Visit) -> PageResult {
    let (dealer_code, source_id) = dealer_and_ad(&visit.query);
    page(&visit, StatusCode::OK, dealer_code, source_id, &html! {}).await
}

/// `POST /console/operators/erase`: erases as much as there is time for, if the form repeats the dealer's code.
pub(in crate::console) async fn erase(visit: Visit) -> PageResult {
    let (texts, console) = (visit.visitor.texts, &visit.visitor.console);
    let (dealer_code, source_id) = dealer_and_ad(&visit.form);
    let dealer_code = dealer_code.ok_or_else(|| bad_form("no code of a dealer"))?;
    if visit.field("confirmed").map(str::trim) != Some(dealer_code) {
        let problem = html! { p #problem { (texts.erase_mistyped) } };
        let notice = page::notice(NoticeKind::Error, &problem);
        return page(&visit, StatusCode::BAD_REQUEST, Some(dealer_code), source_id, &notice).await;
    }
    super::operator(&visit).record("erase", dealer_code, source_id.unwrap_or_default()).await?;
    let erasure = Erasure { database: &console.database, dealer_code, source_id };
    let (erased, images, left) = step(&visit, &erasure).await?;
    let notice = html! {
        p { strong { (texts.erased) ": " (page::number(erased.ads)) } ". " (texts.images_removed) ": " (page::number(images)) "." }
        @if left > 0 {
            p { (texts.not_deleted) ": " (page::number(left)) ". " (texts.erase_goes_on) }
            form.actions method="post" action=(visit.visitor.address(PATH)) {
                (hidden(dealer_code, source_id))
                input type="hidden" name="confirmed" value=(dealer_code);
                button.primary { (texts.erase_continue) }
            }
        } @else {
            p { (texts.erased_all) " " (texts.erase_space) " " code { "ad-server erase" } }
        }
    };
    let notice = page::notice(NoticeKind::Success, &notice);
    page(&visit, StatusCode::OK, Some(dealer_code), source_id, &notice).await
}

/// Deletes what is not deleted, erases what is, and removes images, until there is no time. Returns how many ads are left.
async fn step(visit: &Visit, erasure: &Erasure<'_>) -> Result<(Erased, u64, u64), ApiError> {
    let (context, console) = (&visit.visitor.context, &visit.visitor.console);
    let until = Instant::now() + STEP;
    let (mut erased, mut behind, mut deletes) = (Erased::default(), 0, true);
    let left = loop {
        if deletes {
            match erasure.delete_some(&context.service, &*context.ids, behind).await? {
                Some(last) => behind = last,
                None => deletes = false,
            }
        }
        let is_erasing = erasure.erase_some(&mut erased, console.clock.now()).await?;
        let counts = console.database.count_erasure(erasure.dealer_code, erasure.source_id).await?;
        let left = counts.ads - counts.erased;
        if left == 0 || Instant::now() >= until {
            break left;
        }
        if !deletes && !is_erasing {
            tokio::time::sleep(LOOK).await;
        }
    };
    let media = || ready(Ok::<_, ErasureError>(console.media.clone()));
    let removed = remove_erased_images(&console.database, &*console.clock, media).await;
    let images = removed.map_err(|error| match error {
        ErasureError::Store(error) => ServiceError::from(error).into(),
        ErasureError::Image { .. } => {
            tracing::error!(%error, "cannot remove images of erased ads");
            ApiError::Internal
        }
    })?;
    Ok((erased, images, left))
}

fn hidden(dealer_code: &str, source_id: Option<&str>) -> Markup {
    html! {
        input type="hidden" name="dealer_code" value=(dealer_code);
        @if let Some(source_id) = source_id { input type="hidden" name="source_id" value=(source_id); }
    }
}

async fn page(
    visit: &Visit,
    status: StatusCode,
    dealer_code: Option<&str>,
    source_id: Option<&str>,
    notice: &Markup,
) -> PageResult {
    let texts = visit.visitor.texts;
    let database = &visit.visitor.console.database;
    let counts = match dealer_code {
        Some(code) => Some((code, database.count_erasure(code, source_id).await?)),
        None => None,
    };
    let photos = photos(visit).await?;
    let content = html! {
        h1 { (texts.erase) }
        (pages(visit))
        p.lead { (texts.erase_lead) }
        (notice)
        (filter_form(visit, PATH, &[Filter::text("dealer_code", texts.dealer), Filter::text("source_id", texts.erase_source_id)]))
        @if let Some((code, counts)) = &counts { (dry_run(visit, code, source_id, counts)) }
        (photos)
    };
    Ok(page::page_with_status(visit, status, Section::Operators, texts.erase, &content))
}

/// Which photos of deleted ads the service removes by itself, and when.
async fn photos(visit: &Visit) -> Result<Markup, ApiError> {
    let (texts, console) = (visit.visitor.texts, &visit.visitor.console);
    let soon = console.photos_kept.map(|kept| console.clock.now() - kept + SOON);
    let found = console.database.photos_of_deleted(soon.unwrap_or_default(), COUNTED).await?;
    let next = console.photos_kept.zip(found.first).map(|(kept, first)| first + kept);
    let number = |number: u64| html! { (page::number(number)) @if found.ads >= u64::from(COUNTED) { "+" } };
    Ok(html! {
        section.panel #photos {
            h2 { (texts.deleted_photos) }
            @match (console.photos_kept, next) {
                (None, _) => p { (texts.deleted_photos_stay) },
                (Some(kept), None) => p { (texts.deleted_photos_kept) " " (page::number(days(kept))) ". " (texts.deleted_photos_none) },
                (Some(kept), Some(next)) => {
                    p { (texts.deleted_photos_kept) " " (page::number(days(kept))) ". " (texts.deleted_photos_next) ": " (page::time(next)) }
                    dl {
                        dt { (texts.deleted_photos_soon) }
                        dd { (number(found.photos)) " (" (texts.ads_heading) ": " (number(found.ads)) ")" }
                    }
                }
            }
            p.help { (texts.setting) ": " code { "deleted_photos_kept" } }
        }
    })
}

fn days(time: Duration) -> u64 {
    time.as_secs() / (24 * 60 * 60)
}

/// The counts, and the form that erases the data.
fn dry_run(visit: &Visit, dealer_code: &str, source_id: Option<&str>, counts: &ErasureCounts) -> Markup {
    let texts = visit.visitor.texts;
    let header = [texts.ads_heading, texts.not_deleted, texts.erased_before, texts.log_entries, texts.local_listings];
    let numbers = [counts.ads, counts.not_deleted, counts.erased, counts.log_entries, counts.listings];
    let row = html! { @for number in numbers { td.number { (page::number(number)) } } };
    html! {
        section.panel {
            h2 { (texts.would_be_erased) ": " (dealer_code) @if let Some(source_id) = source_id { ", " (source_id) } }
            (table(texts, texts.would_be_erased, header, std::iter::once(row)))
            @if counts.ads > counts.erased {
                p { (texts.erase_does) }
                form method="post" action=(visit.visitor.address(PATH)) {
                    (hidden(dealer_code, source_id))
                    div.field {
                        label for="confirmed" { (texts.erase_confirm) " " code { (dealer_code) } }
                        input #confirmed type="text" name="confirmed" required autocomplete="off" spellcheck="false";
                    }
                    div.actions { button.danger { (texts.erase) } }
                }
            } @else {
                p { (texts.nothing_to_erase) }
            }
        }
    }
}
