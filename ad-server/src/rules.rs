//! The rules as the settings have them: the catalogue, in which the operator's files replace embedded ones, and the operator's
//! names of fields and parameters.

use std::path::PathBuf;

use ad_core::{
    catalogue::{Catalogue, CatalogueError},
    categories,
    rulebook::Rulebook,
    synonyms::names::Names,
};

use crate::config::Settings;

/// Why the rules cannot be read. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("cannot read the catalogue {path}: {source}; set the folder of catalogue files with --catalogue")]
    CatalogueFile { path: PathBuf, source: std::io::Error },
    #[error("cannot read the names {path}: {reason}; set the file with --synonyms")]
    Synonyms { path: PathBuf, reason: String },
}

/// The rules as the settings have them.
///
/// # Errors
/// When a file of the catalogue, or that of the names, cannot be read or used.
pub(crate) fn of(settings: &Settings) -> Result<Rulebook, RulesError> {
    Ok(Rulebook {
        catalogue: catalogue(settings)?,
        settings: categories::RuleSettings {
            video_hosts: settings.video_hosts.clone(),
            http_images: settings.http_images(),
            names: names(settings)?,
            sample_images: None,
        },
    })
}

/// The operator's names of fields and parameters.
fn names(settings: &Settings) -> Result<Names, RulesError> {
    let Some(path) = &settings.synonyms else { return Ok(Names::default()) };
    let wrong = |reason: String| RulesError::Synonyms { path: path.clone(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Names::parse(&text).map_err(|error| wrong(error.to_string()))
}

/// The catalogue, in which the operator's files replace embedded ones of the same name.
fn catalogue(settings: &Settings) -> Result<Catalogue, RulesError> {
    let Some(folder) = &settings.catalogue else { return Ok(Catalogue::embedded()) };
    let unreadable = |path: PathBuf| move |source| RulesError::CatalogueFile { path, source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable(folder.clone()))? {
        let path = entry.map_err(unreadable(folder.clone()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(&path).map_err(unreadable(path.clone()))?));
        }
    }
    Ok(Catalogue::with_files(files.iter().map(|(name, content)| (name.as_str(), content.as_str())))?)
}
