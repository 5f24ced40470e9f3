//! Finds the records in a JSON text from its beginning.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::readers::tree::{NodeId, RecordsPlace, Tree};

/// Finds the records in a text that may be truncated.
pub(super) fn find(text: &[u8]) -> RecordsPlace {
    let mut tree = Tree::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    // The search ends where the text is truncated or invalid.
    let _ = RecordSearch { tree: &mut tree, node: Tree::ROOT, is_item: false }.deserialize(&mut deserializer);
    tree.records(Some(super::ANY))
}

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

/// Notes a value of the current path.
macro_rules! scalars {
    ($($visit:ident($type:ty))*) => {
        $(fn $visit<E>(self, _: $type) -> Result<(), E> {
            self.tree.value(self.node);
            Ok(())
        })*
    };
}

impl<'de> Visitor<'de> for RecordSearch<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.is_item {
            self.tree.add_repetition(self.node);
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

    scalars! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.tree.value(self.node);
        Ok(())
    }
}
