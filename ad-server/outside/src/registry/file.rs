//! A register in a file: one vehicle per line, as a JSON object with `registration_number`, `vin`, or both, and `category_fields`.
//! It is read once, at the start.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
};

use ad_core::{
    model::{RegisteredVehicle, plate},
    ports::{VehicleId, VehicleRegistry},
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A register that is read from a file into memory.
#[derive(Debug, Default)]
pub struct FileRegistry {
    by_plate: HashMap<String, Arc<RegisteredVehicle>>,
    by_vin: HashMap<String, Arc<RegisteredVehicle>>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileRegistryError {
    #[error("cannot read the vehicle registry {}: {source}; set its file with --vehicle-registry", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}:{line}: not a vehicle: {reason}", .path.display())]
    Invalid { path: PathBuf, line: usize, reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    registration_number: Option<String>,
    vin: Option<String>,
    category_fields: Map<String, Value>,
}

impl FileRegistry {
    /// Reads a file. If a vehicle has two lines, the last one counts.
    ///
    /// # Errors
    /// When it cannot be read, or a line is not a vehicle.
    pub fn read(path: &Path) -> Result<Self, FileRegistryError> {
        let unreadable = |source| FileRegistryError::Unreadable { path: path.to_owned(), source };
        let mut registry = Self::default();
        for (index, text) in BufReader::new(File::open(path).map_err(unreadable)?).lines().enumerate() {
            let text = text.map_err(unreadable)?;
            if text.trim().is_empty() {
                continue;
            }
            let invalid =
                |reason: String| FileRegistryError::Invalid { path: path.to_owned(), line: index + 1, reason };
            let line: Line = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
            if line.registration_number.is_none() && line.vin.is_none() {
                return Err(invalid("it has neither registration_number nor vin".to_owned()));
            }
            let vehicle = Arc::new(RegisteredVehicle { category_fields: line.category_fields });
            registry.by_plate.extend(line.registration_number.map(|it| (plate(&it), Arc::clone(&vehicle))));
            registry.by_vin.extend(line.vin.map(|vin| (vin.to_ascii_uppercase(), vehicle)));
        }
        Ok(registry)
    }
}

#[async_trait]
impl VehicleRegistry for FileRegistry {
    async fn look_up(&self, vehicle: VehicleId<'_>) -> Option<RegisteredVehicle> {
        let by_plate = vehicle.plate.and_then(|plate| self.by_plate.get(plate));
        let found = by_plate.or_else(|| vehicle.vin.and_then(|vin| self.by_vin.get(vin)))?;
        Some(RegisteredVehicle::clone(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FileRegistry, FileRegistryError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, text).unwrap();
        FileRegistry::read(file.path())
    }

    #[tokio::test]
    async fn vehicles_are_found_by_plate_or_vin() {
        let registry = read(
            "{\"registration_number\": \"abc 123\", \"category_fields\": {\"brand\": \"volvo\"}}\n\n\
             {\"vin\": \"yv1uz8256n1234567\", \"category_fields\": {\"brand\": \"saab\"}}\n",
        )
        .unwrap();
        let brand = async |plate, vin| {
            let found = registry.look_up(VehicleId { plate, vin }).await?;
            found.category_fields["brand"].as_str().map(str::to_owned)
        };
        assert_eq!(brand(Some("ABC123"), Some("YV1UZ8256N1234567")).await.as_deref(), Some("volvo"));
        assert_eq!(brand(Some("XYZ123"), Some("YV1UZ8256N1234567")).await.as_deref(), Some("saab"));
        assert_eq!(brand(None, None).await, None);
    }

    #[test]
    fn a_line_that_is_no_vehicle_is_named() {
        for text in
            ["{}", "{\"category_fields\": {}}", "\n[]", "{\"vin\": \"a\", \"category_fields\": {}, \"colour\": 1}"]
        {
            let error = read(text).unwrap_err();
            assert!(matches!(error, FileRegistryError::Invalid { .. }), "{text}: {error}");
        }
        assert!(matches!(FileRegistry::read(Path::new("no/such")), Err(FileRegistryError::Unreadable { .. })));
    }
}
