//! Checking payloads of every kind, and what has to hold for whatever is accepted. The fuzz targets have it too.

use std::{fmt, sync::LazyLock};

use ad_core::{
    categories::{self, Category},
    model::{Ad, AdState, ApiVersion, Content, Dealer, Timestamp},
    rulebook::{CheckedPayload, Rulebook, WriteContext},
};
use serde_json::{Map, json};
use uuid::Uuid;

/// The rules as they come.
pub(crate) static RULEBOOK: LazyLock<Rulebook> = LazyLock::new(Rulebook::default);
/// The dealer of the payloads.
pub(crate) static DEALER: LazyLock<Dealer> = LazyLock::new(|| Dealer {
    salespersons: vec!["anna@north.example".to_owned()],
    products: vec!["online_purchase".to_owned()],
    ..Dealer::named("north-cars")
});

/// A category in a version that writes it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) category: &'static Category,
    pub(crate) version: ApiVersion,
}

impl fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} in {}", self.category, self.version)
    }
}

impl Kind {
    /// Every category in every version that writes it.
    pub(crate) fn all() -> Vec<Self> {
        categories::all()
            .flat_map(|category| [ApiVersion::V3, ApiVersion::V4].map(|version| Self { category, version }))
            .filter(|kind| kind.category.is_in(kind.version))
            .collect()
    }

    pub(crate) fn write(self) -> WriteContext<'static> {
        WriteContext { category: self.category, version: self.version, dealer: Some(&DEALER) }
    }
}

/// The ad that content would be stored as: through its text, as a store keeps it.
pub(crate) fn ad(kind: Kind, checked: &CheckedPayload) -> Ad {
    let now = Timestamp::from_millis(0);
    Ad {
        id: Uuid::nil(),
        source_id: checked.source_id.clone(),
        dealer_code: DEALER.code.clone(),
        category_id: kind.category.id,
        state: AdState::Created,
        api_version: kind.version,
        content: Content::stored(json!(checked.content).to_string()).expect("content is an object"),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: now,
        updated: now,
    }
}

/// An ad stays as it is when nothing is sent, and when all of it is sent back.
pub(crate) fn stays(kind: Kind, ad: &Ad) {
    for patch in [Map::new(), ad.content.fields().clone()] {
        let again = RULEBOOK.update(kind.write(), ad, patch).unwrap_or_else(|errors| {
            panic!("{}: {} is not taken back: {}", kind.category, json!(ad.content), json!(errors));
        });
        assert_eq!(json!(again.content), json!(ad.content), "{}", kind.category);
    }
}
