//! The links to the forms of an ad: to change it, and to copy it.

use ad_core::{
    categories::TRAILER,
    model::{Ad, AdState},
    rulebook::versions::{Conversion, conversion},
};
use maud::{Markup, html};

use super::{act::AdKey, visitor::Visit};
use ad_server_access::auth::Permission;

/// The link to the form of an ad, if it has one that the visitor may use.
pub(super) fn to_form(visit: &Visit, ad: &Ad) -> Markup {
    html! { @if let Some(address) = address(visit, ad) { a.button.primary href=(address) { (visit.visitor.texts.edit) } } }
}

/// The address of the form of an ad, if it has one that the visitor may use.
pub(super) fn address(visit: &Visit, ad: &Ad) -> Option<String> {
    let has_form = conversion(ad) != Conversion::Migration && ad.state == AdState::Created;
    let address = || visit.visitor.address(&format!("/ad/edit?{}", AdKey::query(&ad.source_id, &ad.dealer_code)));
    (has_form && visit.may(Permission::Write)).then(address)
}

/// The link to the form of a new ad that begins as this one.
pub(super) fn to_copy(visit: &Visit, ad: &Ad) -> Markup {
    let vehicle_type = ad.category().filter(|it| it.id != TRAILER).and_then(|category| category.vehicle_type);
    html! {
        @if let Some(vehicle_type) = vehicle_type.filter(|_| conversion(ad) != Conversion::Migration && visit.may(Permission::Write)) {
            @let key = AdKey::query(&ad.source_id, &ad.dealer_code);
            a.button href=(visit.visitor.address(&format!("/new?type={vehicle_type}&{key}"))) { (visit.visitor.texts.copy_ad) }
        }
    }
}
