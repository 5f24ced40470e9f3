//! Where in a JSON text the records are, from how it begins.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::readers::tree::{NodeId, RecordsPlace, Tree};

/// Looks at a text that may be cut.
pub(super) fn find(text: &[u8]) -> RecordsPlace {
    let mut tree = Tree::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    // Where the text is cut, or no JSON any more, there is nothing more to see.
    let _ = RecordSearch { tree: &mut tree, node: Tree::ROOT, is_item: false }.deserialize(&mut deserializer);
    tree.records()
}

/// Looks at one value.
struct RecordSearch<'a> {
    tree: &'a mut Tree,
    node: NodeId,
    is_item: bool,
}

impl<'de> DeserializeSeed<'de> for RecordSearch<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RecordSearch<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.is_item {
            self.tree.again(self.node);
        }
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let Some(node) = self.tree.enter(self.node, &key) else {
                map.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom("enough"));
            };
            map.next_value_seed(RecordSearch { tree: self.tree, node, is_item: false })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(RecordSearch { tree: self.tree, node: self.node, is_item: true })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.value();
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.value();
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.value();
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.value();
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.value();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.value();
        Ok(())
    }
}

impl RecordSearch<'_> {
    fn value(self) {
        self.tree.value(self.node);
    }
}
