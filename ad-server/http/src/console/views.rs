//! Saved views: filters and order of the stock under a name. They are kept in a cookie: the console knows tokens and links, but not who the
//! same person is on another computer.

use maud::{Markup, html};
use poem::{
    Response,
    http::{HeaderValue, header},
};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::{
    texts::cookie_in,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;

/// Longest name, in characters.
const MOST_NAME: usize = 40;

/// Most bytes of all views; browsers keep 4,096 of a cookie.
const MOST_BYTES: usize = 3500;

/// How long the browser keeps them, in seconds.
const KEPT: u32 = 365 * 24 * 3600;

/// Parameters that are no part of a view.
const LEFT_OUT: [&str; 4] = ["offset", "limit", "done", "views"];

/// The name of the cookie, by dealer or group: who signs in for another one has other views.
fn cookie_name(visit: &Visit) -> String {
    let digest = Sha256::digest(visit.caller.scope.key());
    format!("console_views_{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3])
}

/// The views with their queries, in the order in which they were saved.
fn saved(visit: &Visit) -> Vec<(String, String)> {
    let cookie = cookie_in(&visit.headers, &cookie_name(visit)).unwrap_or_default();
    form_urlencoded::parse(cookie.as_bytes()).into_owned().collect()
}

fn encoded(pairs: impl IntoIterator<Item = (String, String)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Filters and order of a query.
fn view_of(query: &str) -> String {
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
    encoded(pairs.filter(|(name, value)| !value.is_empty() && !LEFT_OUT.contains(&name.as_str())))
}

/// The saved views as links, and the form that saves the present one.
pub(super) fn section(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let views = saved(visit);
    let present = view_of(visit.visitor.here.split_once('?').map_or("", |(_, query)| query));
    let is_full = visit.parameter("views") == Some("full");
    html! {
        nav.actions.saved-views aria-label=(texts.saved_views) {
            @for (name, query) in &views {
                span.saved-view {
                    a.button href=(visit.visitor.address(&format!("/stock?{query}"))) aria-current=[(*query == present).then_some("true")] { (name) }
                    form method="post" action=(visit.visitor.address("/views")) {
                        input type="hidden" name="query" value=(present);
                        button.quiet name="delete" value=(name) aria-label={ (texts.delete_view) ": " (name) } title=(texts.delete_view) { "×" }
                    }
                }
            }
            @if !present.is_empty() && !views.iter().any(|(_, query)| *query == present) || is_full {
                details #save-view open[is_full] {
                    summary { (texts.save_view) }
                    form.row method="post" action=(visit.visitor.address("/views")) {
                        input type="hidden" name="query" value=(present);
                        div {
                            label for="view-name" { (texts.name_of_view) }
                            input #view-name name="name" required maxlength=(MOST_NAME) autocomplete="off" aria-describedby="view-help";
                        }
                        button { (texts.save) }
                        p.help #view-help {
                            @if is_full { strong.field-error { (texts.too_many_views) } " " }
                            (texts.views_are_kept)
                        }
                    }
                }
            }
        }
    }
}

/// `POST /console/views`: saves the filters and the order of `query` under `name`, or deletes a view. Leads back to the stock.
pub(super) async fn change(visit: Visit) -> PageResult {
    let mut views = saved(&visit);
    let query = view_of(visit.field("query").unwrap_or_default());
    let back = format!("/stock?{query}");
    if let Some(name) = visit.field("delete") {
        views.retain(|(known, _)| known != name);
        return kept(&visit, &back, &encoded(views));
    }
    let name: String = visit.field("name").unwrap_or_default().trim().chars().take(MOST_NAME).collect();
    if name.is_empty() {
        return Err(ApiError::BadBody("The form has no name of a view.".to_owned()));
    }
    match views.iter_mut().find(|(known, _)| *known == name) {
        Some((_, of_name)) => *of_name = query,
        None => views.push((name, query)),
    }
    let views = encoded(views);
    if views.len() > MOST_BYTES {
        return Ok(visit.visitor.redirect(&format!("{back}{}views=full", if back.ends_with('?') { "" } else { "&" })));
    }
    kept(&visit, &back, &views)
}

fn kept(visit: &Visit, back: &str, views: &str) -> PageResult {
    let mut response: Response = visit.visitor.redirect(back);
    let (name, path) = (cookie_name(visit), visit.visitor.address("/"));
    let secure = if visit.visitor.is_secure() { "; Secure" } else { "" };
    let cookie = format!("{name}={views}; Path={path}; Max-Age={KEPT}; HttpOnly; SameSite=Lax{secure}");
    let cookie =
        HeaderValue::try_from(cookie).map_err(|_| ApiError::BadBody("The view has no such name.".to_owned()))?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}
