//! Tags of ads, and what has become of requests (extensions E2 and E3.1).

use std::time::Duration;

use ad_core::{
    memory::{ManualClock, one_pixel},
    model::{Action, ActionState, AdTag, ApiVersion, Exclusions, RequestState, RequestStatus, WaitingFor},
    ports::{Clock, Ids, ImageError, ImageStoreError, MarketplaceError},
    service::{ServiceError, TaggedAd, Target},
    violation::Code,
};
use serde_json::json;
use uuid::Uuid;

use crate::support::{House, access, boat, car, category, object, target};

async fn tag(house: &House) -> AdTag {
    let (TaggedAd { tag, .. }, _) = house.kit.service.read(&access(), target("boat-8")).await.unwrap();
    assert_eq!(house.kit.service.tag(&access(), target("boat-8")).await.unwrap(), Some(tag));
    tag
}

#[tokio::test]
async fn an_answer_has_the_tag_that_the_next_read_has() {
    let (house, _) = House::with("boat", boat()).await;
    let service = &house.kit.service;
    let (id, at) = (|| house.kit.ids.next(), target("boat-8"));
    let patch = object(json!({"body": "new"}));
    let before = tag(&house).await;
    let update = service.update(&access(), id(), ApiVersion::V4, at, &patch).await.unwrap();
    assert_eq!((update.tag, update.tag), (tag(&house).await, AdTag { revision: 1, ..before }));
    for answer in [
        service.bump(&access(), id(), at, Exclusions::default()).await,
        service.retry(&access(), id(), at).await,
        service.delete(&access(), id(), at).await,
        service.delete(&access(), id(), at).await,
    ] {
        assert_eq!(answer.unwrap().tag.revision, 1);
    }
    assert_eq!(tag(&house).await.n, before.n + 3, "the second deletion has nothing to do");
    house.run().await;
    assert!(tag(&house).await.n > before.n + 3);
}

#[tokio::test]
async fn no_tag_is_found_where_an_ad_cannot_be_read() {
    let (house, _) = House::with("boat", boat()).await;
    let as_car = Target { category: Some(category("car")), ..target("boat-8") };
    for target in [target("boat-9"), as_car, target("boat-8").of_dealer(Some("south"))] {
        assert_eq!(house.kit.service.tag(&access(), target).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_write_on_another_revision_does_nothing() {
    let (house, _) = House::with("boat", boat()).await;
    let service = &house.kit.service;
    house.update("boat-8", json!({"body": "mine"})).await.unwrap();
    house.run().await;
    let before = tag(&house).await;
    let theirs = object(json!({"body": "theirs"}));
    for revisions in [&[0, 2][..], &[]] {
        let stale = Target { revisions: Some(revisions), ..target("boat-8") };
        let id = house.kit.ids.next();
        for answer in [
            service.update(&access(), id, ApiVersion::V4, stale, &theirs).await,
            service.delete(&access(), id, stale).await,
            service.bump(&access(), id, stale, Exclusions::default()).await,
            // Boats have no pole position, and a boat of V4 does not migrate: both come after.
            service.pole_position(&access(), id, stale).await,
            service.migrate(&access(), id, stale, &theirs).await,
            service.retry(&access(), id, stale).await,
        ] {
            let refused = match answer {
                Err(ServiceError::PreconditionFailed(tag)) if !revisions.is_empty() => tag,
                // A weak tag is of no revision.
                Err(ServiceError::NoRevisionNamed(tag)) if revisions.is_empty() => tag,
                other => panic!("{other:?}"),
            };
            assert_eq!(refused, before);
        }
    }
    assert_eq!((tag(&house).await, house.run().await), (before, 0));
    let current = Target { revisions: Some(&[7, 1]), ..target("boat-8") };
    service.update(&access(), house.kit.ids.next(), ApiVersion::V4, current, &theirs).await.unwrap();
    let none = Target { revisions: Some(&[0]), ..target("boat-9") };
    assert!(matches!(service.retry(&access(), house.kit.ids.next(), none).await, Err(ServiceError::NotFound)));
}

async fn status(house: &House, id: Uuid) -> RequestStatus {
    house.kit.service.request(&access(), id).await.unwrap()
}

/// Creates an ad, and returns the id of its request.
async fn created(house: &House, vehicle_type: &str, payload: serde_json::Value) -> Uuid {
    let id = house.kit.ids.next();
    house.kit.service.create(&access(), id, category(vehicle_type), object(payload)).await.unwrap();
    id
}

#[tokio::test]
async fn a_request_waits_for_what_failed_and_for_those_before_it() {
    let house = House::new();
    let first = created(&house, "car", car()).await;
    let accepted = house.clock.now();
    let queued = status(&house, first).await;
    assert_eq!((queued.state, queued.waiting_for, queued.accepted), (RequestState::Queued, None, accepted));
    let begun: Vec<_> = queued.actions.iter().map(|action| (action.action, action.state)).collect();
    assert_eq!(begun, [(Action::Create, ActionState::Processing)]);
    let second = house.kit.ids.next();
    house.kit.service.retry(&access(), second, target("car-1")).await.unwrap();

    house.clock.advance(Duration::from_secs(1));
    house.kit.secondary.fail_next(MarketplaceError::unreachable("timeout", None));
    house.run().await;
    let waits = status(&house, first).await;
    let shown = (waits.state, waits.waiting_for, waits.attempts, waits.finished);
    assert_eq!(shown, (RequestState::Waiting, Some(WaitingFor::Secondary), 1, None));
    let next = waits.next_attempt.unwrap();
    assert!(next > house.clock.now());
    let publishes = waits.actions.last().unwrap();
    let retried = json!(format!("Attempt 1 failed: secondary: timeout. Next attempt at {next}."));
    assert_eq!((publishes.action, publishes.state), (Action::Publish, ActionState::Processing));
    assert_eq!((publishes.code, &publishes.external_message), (Some(Code::MarketplaceUnreachable), &retried));
    let behind = status(&house, second).await;
    let shown = (behind.state, behind.waiting_for, behind.attempts, behind.next_attempt, behind.actions);
    assert_eq!(shown, (RequestState::Waiting, Some(WaitingFor::Request), 0, None, vec![]));

    house.run_to_the_end().await;
    let done = status(&house, first).await;
    let shown = (done.state, done.waiting_for, done.attempts, done.next_attempt, done.accepted);
    assert_eq!(shown, (RequestState::Done, None, 0, None, accepted));
    assert_eq!(done.finished, done.actions.last().map(|action| action.created));
    let ended: Vec<_> = done.actions.iter().map(|action| (action.action, action.state)).collect();
    assert_eq!(ended, [Action::Create, Action::HandleMedia, Action::Publish].map(|action| (action, ActionState::Done)));
    assert_eq!(status(&house, second).await.state, RequestState::Done);
}

#[tokio::test]
async fn a_request_whose_action_failed_has_ended_in_an_error() {
    let house = House::new();
    house.kit.primary.fail_next(MarketplaceError::refused("no boats"));
    let id = created(&house, "boat", boat()).await;
    house.run().await;
    let failed = status(&house, id).await;
    let last = failed.actions.last().unwrap();
    assert_eq!((failed.state, last.action, last.state), (RequestState::Error, Action::Publish, ActionState::Error));
    assert_eq!(last.code, Some(Code::MarketplaceRefused));
    let shown = serde_json::to_value(&failed).unwrap();
    assert_eq!(
        (&shown["state"], &shown["attempts"], &shown["waiting_for"]),
        (&json!("error"), &json!(0), &json!(null))
    );
}

#[tokio::test]
async fn images_wait_for_their_host_or_for_the_image_store() {
    let house = House::new();
    let busy = ImageError::Transient { reason: "busy".to_owned(), retry_after: None };
    let image = "https://cdn.example.com/b1.jpg";
    house.kit.images.clear(image);
    house.kit.images.fail(image, busy);
    house.kit.images.put(image, one_pixel(3));
    let id = created(&house, "boat", boat()).await;
    house.run().await;
    assert_eq!(status(&house, id).await.waiting_for, Some(WaitingFor::Images));
    house.kit.media.fail_next(ImageStoreError::Unavailable);
    advance_to(&house.clock, &status(&house, id).await);
    house.run().await;
    let waits = status(&house, id).await;
    assert_eq!((waits.waiting_for, waits.attempts), (Some(WaitingFor::ImageStore), 2));
    house.run_to_the_end().await;
    assert_eq!(status(&house, id).await.state, RequestState::Done);
}

fn advance_to(clock: &ManualClock, status: &RequestStatus) {
    clock.set(status.next_attempt.unwrap());
}
