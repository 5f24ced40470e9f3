//! Catalogues that have all lists that the tables name.

use super::typed;
use crate::{
    catalogue::{Catalogue, CatalogueError},
    fields::Kind,
};

impl Catalogue {
    /// The catalogue that comes with the library.
    pub fn embedded() -> Self {
        Self::with_files(std::iter::empty()).expect("the embedded files are checked by a test")
    }

    /// The embedded catalogue with some files, given as name and content, replaced.
    ///
    /// # Errors
    /// When a file is not known, is not an object of lists, or leaves out a list that a field table uses.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, CatalogueError> {
        let catalogue = Self::read(files)?;
        catalogue.complete()?;
        Ok(catalogue)
    }

    /// Checks that it has every list that a table names.
    fn complete(&self) -> Result<(), CatalogueError> {
        for (vehicle_type, category) in typed() {
            for field in category.fields() {
                let used_by = || format!("{vehicle_type} {}", field.path);
                match (field.kind, category.field("brand").map(|brand| brand.kind)) {
                    (Kind::Slug { list }, _) if self.list(list).is_empty() => {
                        let (file, list) = list.split_once('.').unwrap_or((list, ""));
                        return Err(missing(file, list, used_by()));
                    }
                    // An ad is stored with the default, which an update then must accept.
                    (Kind::Slug { list: of }, _) if field.default.is_some_and(|id| !self.list(of).contains(id)) => {
                        let (file, list) = of.split_once('.').unwrap_or((of, ""));
                        let default = field.default.unwrap_or_default();
                        return Err(CatalogueError::BadList {
                            file: format!("{file}.json"),
                            list: list.to_owned(),
                            problem: format!("has no \"{default}\", the default of {}", used_by()),
                        });
                    }
                    (Kind::Model { list: file }, Some(Kind::Slug { list: brands })) => {
                        let without = self.list(brands).ids().find(|brand| self.models(file, brand).is_empty());
                        if let Some(brand) = without {
                            return Err(missing(file, brand, used_by()));
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn missing(file: &str, list: &str, used_by: String) -> CatalogueError {
    CatalogueError::MissingList { file: format!("{file}.json"), list: list.to_owned(), used_by }
}
