//! The quality of stored ads (extensions E7).

use super::{Access, Service, ServiceError, category_of};
use crate::{
    categories::Category,
    model::{Ad, AdFilter, AdQuery, AdState, Content, FailedImage, Page, Quality, QualitySummary},
    ports::{ListedAd, Scope},
    quality::Measured,
};

impl Service {
    /// The quality of an ad by itself, given the images that the latest `handle_media` could not store.
    ///
    /// # Errors
    /// [`ServiceError::Store`] if its category is unknown.
    pub fn quality(&self, ad: &Ad, failed_images: &[FailedImage]) -> Result<Quality, ServiceError> {
        Ok(Measured::stored(category_of(ad)?, ad, failed_images, self.clock.now()).quality())
    }

    /// The same, with findings that compare it with the dealer's other ads.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn quality_among_ads(&self, ad: &Ad, failed_images: &[FailedImage]) -> Result<Quality, ServiceError> {
        let category = category_of(ad)?;
        let other = self.ad_with_plate(category, &ad.dealer_code, &ad.content, Some(&ad.source_id)).await?;
        let measured = Measured::stored(category, ad, failed_images, self.clock.now());
        Ok(measured.with_same_plate(other.as_deref()).quality())
    }

    /// The quality of each of these ads as lists show it; `None` if its category is unknown.
    pub fn quality_summaries(&self, access: &Access, ads: &[ListedAd]) -> Vec<Option<QualitySummary>> {
        let now = self.clock.now();
        let bytes = ads.iter().map(|listed| listed.ad.content.bytes()).sum();
        let summary = |ListedAd { ad, failed_images, .. }: &ListedAd| {
            ad.category().map(|category| Measured::stored(category, ad, failed_images, now).summary())
        };
        self.computed(access.name(), bytes, || ads.iter().map(summary).collect())
    }

    /// The source id of another ad of a dealer with the same registration number that is not deleted.
    pub(super) async fn ad_with_plate(
        &self,
        category: &Category,
        dealer_code: &str,
        content: &Content,
        source_id: Option<&str>,
    ) -> Result<Option<String>, ServiceError> {
        let plate = content.registration_number().filter(|_| category.is_found_by_plate());
        let Some(plate) = plate else { return Ok(None) };
        let filters = vec![AdFilter::RegistrationNumber(plate.into_owned()), AdFilter::State(AdState::Created)];
        let page = Page { limit: 2, offset: 0 };
        let query = AdQuery { filters, page, fields: Some(vec!["source_id"]), ..AdQuery::default() };
        let found = self.store.list(Scope::Dealer(dealer_code), &query).await?.rows.into_iter();
        Ok(found.map(|listed| listed.ad.source_id).find(|found| Some(found.as_str()) != source_id))
    }
}
