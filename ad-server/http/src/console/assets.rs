//! The stylesheet and the script, each at an address that changes with its content.

use crate::api::{
    observe::Routes,
    pages::{
        ReadOnly,
        viewers::{Asset, SCRIPT, STYLE},
    },
};

pub(super) static STYLESHEET: Asset = Asset::new("console.css", STYLE, || include_str!("console.css").to_owned());
/// One module of three files, whose functions see each other. The last one calls them.
pub(super) static MODULE: Asset = Asset::new("console.js", SCRIPT, || {
    [include_str!("form.js"), include_str!("photos.js"), include_str!("console.js")].concat()
});

pub(super) fn mount(routes: Routes) -> Routes {
    [&STYLESHEET, &MODULE]
        .into_iter()
        .fold(routes, |routes, asset| routes.at(format!("/console/assets/{}", asset.name), ReadOnly(asset.document())))
}
