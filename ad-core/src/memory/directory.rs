//! A dealer directory in memory, for tests and embedding.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::{lock::locked, model::Dealer, ports::DealerDirectory};

/// Dealers by code, with groups as the dealers name them.
#[derive(Debug, Default)]
pub struct MemoryDirectory(Mutex<BTreeMap<String, Arc<Dealer>>>);

impl MemoryDirectory {
    /// Adds a dealer, or replaces the one of the same code.
    pub fn put(&self, dealer: Dealer) {
        locked(&self.0).insert(dealer.code.clone(), Arc::new(dealer));
    }
}

impl FromIterator<Dealer> for MemoryDirectory {
    fn from_iter<T: IntoIterator<Item = Dealer>>(dealers: T) -> Self {
        let directory = Self::default();
        dealers.into_iter().for_each(|dealer| directory.put(dealer));
        directory
    }
}

impl DealerDirectory for MemoryDirectory {
    fn dealer(&self, code: &str) -> Option<Arc<Dealer>> {
        locked(&self.0).get(code).cloned()
    }

    fn group(&self, group: &str) -> Arc<[String]> {
        let dealers = locked(&self.0);
        dealers
            .values()
            .filter(|dealer| dealer.group.as_deref() == Some(group))
            .map(|dealer| dealer.code.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_dealers_that_name_it() {
        let member = |code| Dealer { group: Some("nord".to_owned()), ..Dealer::named(code) };
        let directory: MemoryDirectory = [member("b"), Dealer::named("alone"), member("a")].into_iter().collect();
        assert_eq!(*directory.group("nord"), ["a".to_owned(), "b".to_owned()]);
        assert!(directory.group("syd").is_empty());
        assert_eq!(directory.dealer("a").unwrap().name, "a");
        assert_eq!(directory.dealer("c"), None);
    }
}
