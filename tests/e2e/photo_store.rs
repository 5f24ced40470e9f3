//! What every store has to do with what is known of images (`ad_core::ports::PhotoStore`), in memory, in SQLite, and in PostgreSQL.

use std::{collections::BTreeMap, time::Duration};

use ad_core::{
    model::{Ad, AdState, AdTag, ImageRef, Photo, PhotoFacts, Timestamp, Undecodable},
    ports::{AdChange, Claimed, ClaimedPhotos, ExaminedPhotos, Outcome, PhotoQuery, PhotoStore, Store},
};

use crate::store_contract::{ad, at, claim, create, find, on_every_store, record, revise, stored_image};

/// A store of both kinds.
trait BothStores: Store + PhotoStore {}
impl<T: Store + PhotoStore> BothStores for T {}

on_every_store!(
    images_are_due_when_the_request_that_changed_them_has_ended,
    what_was_found_is_stored_with_the_ad_and_for_every_checksum,
    images_that_change_meanwhile_are_due_again,
    requests_that_wait_come_first_but_not_for_ever,
    dealers_take_turns_with_their_images,
    a_later_attempt_replaces_what_could_not_be_decoded,
    photos_that_look_the_same_are_found_in_other_ads_of_the_dealer,
);

const CLAIM: Duration = Duration::from_secs(10);

async fn claim_photos(store: &dyn BothStores, now: Timestamp, behind: &str) -> Option<ClaimedPhotos> {
    store.claim_photos(now, now - Duration::from_mins(1), now + CLAIM, behind).await.unwrap()
}

/// Records images for a claimed request.
async fn show(store: &dyn BothStores, claimed: &Claimed, images: &[ImageRef], outcome: Outcome) {
    let change = AdChange { image_refs: Some(images.to_vec()), ..AdChange::default() };
    store.record(ad_core::ports::Record { change, ..record(claimed, outcome) }).await.unwrap();
}

/// An ad with images, whose request has ended.
async fn ad_with(store: &dyn BothStores, number: u128, dealer: &str, images: &[u128]) -> Ad {
    let ad = ad(number, dealer, &number.to_string());
    create(store, &ad).await.unwrap();
    let claimed = claim(store, at(590)).await.pop().unwrap();
    let images: Vec<_> = images.iter().copied().map(stored_image).collect();
    show(store, &claimed, &images, Outcome::Finished).await;
    ad
}

fn facts(width: u32) -> Photo {
    Photo::Decoded(PhotoFacts { width, height: 600, hash: u64::MAX, color: [1, 2, 3], contrast: 4, sharpness: 5 })
}

fn with_photo(image: ImageRef, photo: Photo) -> ImageRef {
    ImageRef { photo: Some(photo), ..image }
}

/// Records what was found of the images of a claimed ad, and what is known of them now.
async fn record_found(
    store: &dyn BothStores,
    claimed: &ClaimedPhotos,
    found: BTreeMap<String, Photo>,
    image_refs: &[ImageRef],
    at: Timestamp,
) {
    let (ad, until, is_new) = (claimed.ad, claimed.until, claimed.image_refs != image_refs);
    store
        .record_photos(ExaminedPhotos { ad, until, found, image_refs: image_refs.to_vec(), is_new, at })
        .await
        .unwrap();
}

async fn tag(store: &dyn BothStores, ad: &Ad) -> AdTag {
    find(store, ad).await.0.tag
}

async fn images_are_due_when_the_request_that_changed_them_has_ended(store: &dyn BothStores) {
    let ad = ad(1, "north", "a");
    create(store, &ad).await.unwrap();
    let claimed = claim(store, at(590)).await.remove(0);
    let images = [stored_image(1), stored_image(2)];
    show(store, &claimed, &images, Outcome::Continues { progress: claimed.request.progress.clone() }).await;
    assert_eq!(claim_photos(store, at(100_000), "").await, None, "the ad is published first");
    // A request that waits does not hold them up.
    let until = at(100_000);
    store.record(record(&claimed, Outcome::Waits { progress: claimed.request.progress.clone(), until })).await.unwrap();
    let due = claim_photos(store, at(700), "").await.unwrap();
    let expected =
        ClaimedPhotos { ad: ad.id, dealer_code: "north".to_owned(), image_refs: images.to_vec(), until: at(710) };
    assert_eq!(due, expected);
    assert_eq!(claim_photos(store, at(709), "").await, None, "somebody has it");
    // Who was killed does not come back.
    assert_eq!(claim_photos(store, at(711), "").await, Some(ClaimedPhotos { until: at(721), ..expected.clone() }));
    assert!(!store.extend_photos(ad.id, due.until, at(800)).await.unwrap());
    assert!(store.extend_photos(ad.id, at(721), at(800)).await.unwrap());
    assert_eq!(claim_photos(store, at(790), "").await, None);
    assert_eq!(claim_photos(store, at(800), "").await, Some(ClaimedPhotos { until: at(810), ..expected }));
}

async fn what_was_found_is_stored_with_the_ad_and_for_every_checksum(store: &dyn BothStores) {
    let one = ad_with(store, 1, "north", &[1, 2]).await;
    let (before, _) = find(store, &one).await;
    let claimed = claim_photos(store, at(700), "").await.unwrap();
    let damaged = Photo::Undecodable(Undecodable::Damaged);
    let images = vec![with_photo(stored_image(1), facts(800)), with_photo(stored_image(2), damaged)];
    let found = images.iter().map(|image| (image.checksum.clone(), image.photo.unwrap())).collect();
    record_found(store, &claimed, found, &images, at(705)).await;
    let (after, log) = find(store, &one).await;
    assert_eq!((&after.ad.image_refs, after.ad.updated), (&images, at(705)));
    assert_eq!((after.tag.revision, after.tag.n), (before.tag.revision, before.tag.n + 1));
    assert_eq!((after.revision, log.len()), (before.revision, 1), "it is no write of a client");
    assert_eq!(claim_photos(store, at(9000), "").await, None);
    assert_eq!(store.photo(&stored_image(1).checksum).await.unwrap(), Some(facts(800)));
    assert_eq!(store.photo(&stored_image(2).checksum).await.unwrap(), Some(damaged));
    assert_eq!(store.photo(&stored_image(3).checksum).await.unwrap(), None);

    let other = ad_with(store, 2, "south", &[2, 3]).await;
    let claimed = claim_photos(store, at(700), "").await.unwrap();
    assert_eq!(claimed.ad, other.id);
    // What is known stays, also when somebody else has found it at the same time.
    let found = BTreeMap::from([(stored_image(1).checksum, facts(1)), (stored_image(3).checksum, facts(3))]);
    let before = tag(store, &other).await;
    record_found(store, &claimed, found, &claimed.image_refs, at(705)).await;
    assert_eq!(store.photo(&stored_image(1).checksum).await.unwrap(), Some(facts(800)));
    assert_eq!(store.photo(&stored_image(3).checksum).await.unwrap(), Some(facts(3)));
    assert_eq!(tag(store, &other).await, before, "nothing of the ad has changed");
    assert_eq!(claim_photos(store, at(9000), "").await, None);
}

async fn images_that_change_meanwhile_are_due_again(store: &dyn BothStores) {
    let one = ad_with(store, 1, "north", &[1]).await;
    let claimed = claim_photos(store, at(700), "").await.unwrap();
    let update = async |number| {
        let (stored, _) = find(store, &one).await;
        revise(store, &one, stored.revision, number).await.unwrap();
        claim(store, at(700)).await.remove(0)
    };
    let request = update(2001).await;
    show(store, &request, &[stored_image(5)], Outcome::Finished).await;
    let images = [with_photo(stored_image(1), facts(800))];
    let found = BTreeMap::from([(stored_image(1).checksum, facts(800))]);
    record_found(store, &claimed, found, &images, at(705)).await;
    assert_eq!(find(store, &one).await.0.ad.image_refs, [stored_image(5)]);
    assert_eq!(store.photo(&stored_image(1).checksum).await.unwrap(), Some(facts(800)));
    let claimed = claim_photos(store, at(701), "").await.unwrap();
    assert_eq!(claimed.image_refs, [stored_image(5)]);
    // Images that stay as they are need not be examined again.
    let images = vec![with_photo(stored_image(5), facts(5))];
    let found = BTreeMap::from([(stored_image(5).checksum, facts(5))]);
    record_found(store, &claimed, found, &images, at(706)).await;
    let request = update(2002).await;
    show(store, &request, &images, Outcome::Finished).await;
    assert_eq!(claim_photos(store, at(9000), "").await, None);
}

async fn requests_that_wait_come_first_but_not_for_ever(store: &dyn BothStores) {
    let one = ad_with(store, 1, "north", &[1]).await;
    create(store, &ad(2, "north", "b")).await.unwrap();
    assert_eq!(claim_photos(store, at(610), "").await, None, "a request waits");
    // The images have been due since 600.
    assert_eq!(claim_photos(store, at(660), "").await.unwrap().ad, one.id);
    assert_eq!(claim(store, at(661)).await.len(), 1);
    assert_eq!(claim_photos(store, at(670), "").await.unwrap().ad, one.id, "the request is being executed");
}

async fn dealers_take_turns_with_their_images(store: &dyn BothStores) {
    for (number, dealer) in [(1, "north"), (2, "north"), (3, "north"), (4, "south")] {
        ad_with(store, number, dealer, &[number]).await;
    }
    let (mut behind, mut turns) = (String::new(), Vec::new());
    while let Some(claimed) = claim_photos(store, at(700), &behind).await {
        behind.clone_from(&claimed.dealer_code);
        turns.push(claimed.dealer_code);
    }
    assert_eq!(turns, ["north", "south", "north", "north"]);
}

async fn a_later_attempt_replaces_what_could_not_be_decoded(store: &dyn BothStores) {
    ad_with(store, 1, "north", &[1]).await;
    let too_large = Photo::Undecodable(Undecodable::TooLarge);
    let image = stored_image(1);
    for (number, photo, known) in [
        (1, too_large, too_large),
        (2, facts(800), facts(800)),
        (3, facts(700), facts(800)),
        (4, too_large, facts(800)),
    ] {
        if number > 1 {
            ad_with(store, number, "north", &[1]).await;
        }
        let claimed = claim_photos(store, at(700), "").await.unwrap();
        let found = BTreeMap::from([(image.checksum.clone(), photo)]);
        record_found(store, &claimed, found, &[with_photo(image.clone(), photo)], at(705)).await;
        assert_eq!(store.photo(&image.checksum).await.unwrap(), Some(known), "{number}");
    }
}

/// The ads that show photos that look like these, by their places.
async fn same_photos(store: &dyn BothStores, source_id: &str, photos: &[PhotoFacts]) -> Vec<(usize, String)> {
    let query = PhotoQuery { dealer_code: "north", source_id, photos };
    store.same_photos(query).await.unwrap().into_iter().collect()
}

async fn photos_that_look_the_same_are_found_in_other_ads_of_the_dealer(store: &dyn BothStores) {
    let look = |hash, color| PhotoFacts { width: 800, height: 600, hash, color, contrast: 4, sharpness: 5 };
    let (one, other) = (look(1 << 63, [250, 0, 255]), look(0b1111, [250, 0, 255]));
    let near = look(1 << 63 | 1, [244, 6, 249]);
    let shows = async |number: u128, dealer: &str, photos: &[PhotoFacts]| {
        let ad = ad_with(store, number, dealer, &[10 * number, 10 * number + 1, 10 * number + 2][..photos.len()]).await;
        let claimed = claim_photos(store, at(700), "").await.unwrap();
        let now = claimed.image_refs.iter().zip(photos);
        let now: Vec<_> = now.map(|(image, photo)| with_photo(image.clone(), Photo::Decoded(*photo))).collect();
        record_found(store, &claimed, BTreeMap::new(), &now, at(705)).await;
        ad
    };
    shows(1, "north", &[one, other]).await;
    let second = shows(2, "north", &[near]).await;
    shows(3, "south", &[one]).await;
    shows(4, "north", &[look(0b111 << 61 | 1, [250, 0, 255]), look(1 << 63, [250, 13, 255]), look(1 << 63, [0, 0, 0])])
        .await;
    let of = |place: usize, source_id: &str| (place, source_id.to_owned());
    assert_eq!(
        same_photos(store, "1", &[other, one]).await,
        [of(1, "2")],
        "not in the ad itself, nor of another dealer"
    );
    assert_eq!(same_photos(store, "2", &[near]).await, [of(0, "1")], "of the fourth ad, hash or colour is another one");
    assert_eq!(same_photos(store, "9", &[look(0, [90, 90, 90])]).await, []);
    assert_eq!(same_photos(store, "9", &[]).await, []);

    // An update without the photo.
    let (stored, _) = find(store, &second).await;
    revise(store, &second, stored.revision, 2001).await.unwrap();
    let request = claim(store, at(800)).await.remove(0);
    show(store, &request, &[stored_image(99)], Outcome::Finished).await;
    let claimed = claim_photos(store, at(900), "").await.unwrap();
    record_found(store, &claimed, BTreeMap::new(), &[with_photo(stored_image(99), Photo::Decoded(other))], at(905))
        .await;
    assert_eq!(same_photos(store, "1", &[one, other]).await, [of(1, "2")]);
    // A deleted ad.
    let (stored, _) = find(store, &second).await;
    revise(store, &second, stored.revision, 2002).await.unwrap();
    let request = claim(store, at(1000)).await.remove(0);
    let change = AdChange { state: Some(AdState::Deleted), ..AdChange::default() };
    store.record(ad_core::ports::Record { change, ..record(&request, Outcome::Finished) }).await.unwrap();
    assert_eq!(same_photos(store, "1", &[one, other]).await, []);
}
