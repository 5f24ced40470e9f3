//! An ad as buyers see it: on the primary marketplace, on the secondary one, and on a phone. A sketch: the marketplaces decide how
//! their pages look.

use ad_core::{
    categories::Category,
    model::{Ad, Market},
};
use maud::{Markup, html};

use super::{named, show, visitor::Visit};

/// A way in which the preview shows the ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreviewKind {
    On(Market),
    Phone,
}

/// The previews, of which one is shown at a time. It needs no script: the boxes of the choice are in front of what they show.
pub(super) fn section(visit: &Visit, ad: &Ad) -> Markup {
    let texts = visit.visitor.texts;
    let markets = ad.category().map_or_else(Vec::new, Category::markets);
    let shapes: Vec<_> = markets.into_iter().map(PreviewKind::On).chain([PreviewKind::Phone]).collect();
    let name = |shape: &PreviewKind| match shape {
        PreviewKind::On(market) => texts.market(*market),
        PreviewKind::Phone => texts.phone,
    };
    html! {
        section.panel.previews aria-labelledby="preview-heading" {
            h2 #preview-heading { (texts.preview) }
            fieldset.choice {
                legend.unseen { (texts.preview) }
                @for (place, shape) in shapes.iter().enumerate() {
                    label { input type="radio" name="preview" value=(place) checked[place == 0]; (name(shape)) }
                }
            }
            // Without the boxes, so that the choice stays when the ad changes.
            div #preview data-live {
                @for (place, shape) in shapes.iter().enumerate() {
                    (preview(visit, ad, *shape, place))
                }
            }
        }
    }
}

fn preview(visit: &Visit, ad: &Ad, shape: PreviewKind, place: usize) -> Markup {
    let texts = visit.visitor.texts;
    let class = match shape {
        PreviewKind::On(Market::Primary) => "primary",
        PreviewKind::On(Market::Secondary) => "secondary",
        PreviewKind::Phone => "phone",
    };
    let facts =
        show::facts(visit.visitor.language, &ad.content, |path, value| show::value(visit, Some(ad), None, path, value));
    let place_of_ad = ad.content.text("location.zipcode");
    html! {
        article class={ "preview preview-" (class) " preview-" (place) } {
            @match ad.image_refs.first() {
                Some(image) => img src=(show::rendition(visit, image, 800)) alt=(texts.first_photo) width="640" height="480";
                None => span.no-photo role="img" aria-label=(texts.no_photo) {},
            }
            div.about {
                h3 { (show::title(ad)) }
                p { (show::price(texts, &ad.content)) }
                @match shape {
                    // The secondary marketplace is about vehicles: it lists their facts.
                    PreviewKind::On(Market::Secondary) => ul.chips { @for fact in &facts { li { (fact) } } },
                    _ => p.faint { (facts.join(" · ")) },
                }
                @if let Some(place) = place_of_ad { p.faint { (place) } }
                @if let Some(body) = ad.content.text("body") { p.body { (body) } }
                p.faint { (ad.image_refs.len()) " " (if ad.image_refs.len() == 1 { texts.photo_one } else { texts.photos_many }) " · " (named::dealer_name(visit, &ad.dealer_code)) }
            }
        }
    }
}
