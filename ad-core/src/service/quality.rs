//! The quality of stored ads (extensions E7).

use std::collections::BTreeMap;

use super::{Access, Service, ServiceError, category_of};
use crate::{
    categories::{Category, price::REDUCED},
    model::{
        Ad, Content, FailedImage, ImageRef, PriceHistory, Quality, QualitySummary, RegisteredVehicle, SameVehicle,
        Timestamp,
    },
    ports::{ListedAd, PhotoQuery, Scope, VehicleId, VehicleQuery},
    prices,
    quality::Measured,
};

impl Service {
    /// An ad whose quality is measured, by what the operator permits.
    fn measured<'a>(
        &self,
        category: &'static Category,
        ad: &'a Ad,
        failed_images: &'a [FailedImage],
        now: Timestamp,
    ) -> Measured<'a> {
        Measured::stored(category, ad, failed_images, now).with_private_images(self.rulebook.settings.http_images)
    }

    /// The quality of an ad by itself, given the images that the latest `handle_media` could not store.
    ///
    /// # Errors
    /// [`ServiceError::Store`] if its category is unknown.
    pub fn quality(&self, ad: &Ad, failed_images: &[FailedImage]) -> Result<Quality, ServiceError> {
        Ok(self.measured(category_of(ad)?, ad, failed_images, self.clock.now()).quality())
    }

    /// The same, with findings that compare it with the dealer's other ads and with its own earlier prices.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn quality_among_ads(&self, ad: &Ad, failed_images: &[FailedImage]) -> Result<Quality, ServiceError> {
        let prices = self.prices_of_reduced(ad).await?;
        self.quality_with_prices(ad, failed_images, prices.as_ref()).await
    }

    /// The same, for a caller that has read its prices over time.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn quality_with_prices(
        &self,
        ad: &Ad,
        failed_images: &[FailedImage],
        prices: Option<&PriceHistory>,
    ) -> Result<Quality, ServiceError> {
        let category = category_of(ad)?;
        let same = self.same_vehicle(category, &ad.dealer_code, &ad.content, Some(&ad.source_id)).await?;
        let photos = self.same_photos(ad).await?;
        let measured = self.measured(category, ad, failed_images, self.clock.now()).with_same_photos(&photos);
        Ok(measured.with_same_vehicle(&same).with_prices(prices).quality())
    }

    /// The quality of each of these ads as lists show it; `None` if its category is unknown.
    pub fn quality_summaries(&self, access: &Access, ads: &[ListedAd]) -> Vec<Option<QualitySummary>> {
        let now = self.clock.now();
        let bytes = ads.iter().map(|listed| listed.ad.content.bytes()).sum();
        let summary = |ListedAd { ad, failed_images, .. }: &ListedAd| {
            ad.category().map(|category| self.measured(category, ad, failed_images, now).summary())
        };
        self.computed(access.name(), bytes, || ads.iter().map(summary).collect())
    }

    /// Other ads of a dealer with the same registration number or VIN that are not deleted.
    pub(super) async fn same_vehicle(
        &self,
        category: &Category,
        dealer_code: &str,
        content: &Content,
        source_id: Option<&str>,
    ) -> Result<SameVehicle, ServiceError> {
        let plate = content.registration_number().filter(|_| category.is_found_by_plate());
        // Machines have serial numbers, which are unique for one maker only.
        let vin = content.vin().filter(|_| category.registered);
        if plate.is_none() && vin.is_none() {
            return Ok(SameVehicle::default());
        }
        let query = VehicleQuery { dealer_code, plate: plate.as_deref(), vin: vin.as_deref(), source_id };
        Ok(self.store.same_vehicle(query).await?)
    }

    /// Other ads of the dealer with a photo that looks the same: source ids by the checksum of the photo.
    async fn same_photos(&self, ad: &Ad) -> Result<BTreeMap<String, String>, ServiceError> {
        let facts = |image: &ImageRef| Some((image.checksum.clone(), *image.photo.as_ref()?.facts()?));
        let (checksums, photos): (Vec<_>, Vec<_>) = ad.image_refs.iter().filter_map(facts).unzip();
        if photos.is_empty() {
            return Ok(BTreeMap::new());
        }
        let query = PhotoQuery { dealer_code: &ad.dealer_code, source_id: &ad.source_id, photos: &photos };
        let same = self.store.same_photos(query).await?;
        Ok(same.into_iter().filter_map(|(place, other)| Some((checksums.get(place)?.clone(), other))).collect())
    }

    /// Whether there is a register of vehicles.
    pub fn has_registry(&self) -> bool {
        self.registry.is_some()
    }

    /// What a register has about the vehicle of an ad, where there is one.
    pub async fn registered(&self, category: &Category, content: &Content) -> Option<RegisteredVehicle> {
        let registry = self.registry.as_ref().filter(|_| category.registered)?;
        let (plate, vin) = (content.registration_number(), content.vin());
        if plate.is_none() && vin.is_none() {
            return None;
        }
        registry.look_up(VehicleId { plate: plate.as_deref(), vin: vin.as_deref() }).await
    }

    /// The prices of an ad over time, if it has a reduced price, about which alone they say something.
    async fn prices_of_reduced(&self, ad: &Ad) -> Result<Option<PriceHistory>, ServiceError> {
        if !prices::of(&ad.content).iter().any(|price| price.kind == REDUCED) {
            return Ok(None);
        }
        let found = self.store.earlier_prices(Scope::Dealer(&ad.dealer_code), &ad.source_id).await?;
        Ok(found.into_iter().next().map(|(ad, earlier)| prices::history(&ad, earlier, self.clock.now())))
    }
}
