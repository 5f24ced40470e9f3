//! The webhooks of a token's scope: what the API and the console do with them.

use ad_core::{
    fields::FieldErrors,
    model::{DeliveryState, Page, WebhookProblem},
    service::{Access, Denial, ServiceError},
    violation::{Code, Violation},
};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::api::{ApiError, Context};
use ad_server_base::limits::table::PENDING_DELIVERIES;
use ad_server_outside::{
    events::{CursorScope, NotACursor},
    webhooks::{
        Dealers, SigningSecret, TEST_TYPE, Webhooks,
        fields::{self, ReplayAfter},
        replay::position_before,
    },
};
use ad_server_store::webhooks::{Delivery, NewWebhook, ScopeWebhook, StoredSecret, Webhook, WebhookChange};

/// How long a replaced secret continues to sign.
const ROTATION: std::time::Duration = std::time::Duration::from_hours(24);

/// Most secrets that sign at the same time.
const MOST_SECRETS: usize = 5;

/// A webhook, and how it stands.
#[derive(Debug)]
pub struct WebhookState {
    pub webhook: Webhook,
    /// Number of its pending deliveries.
    pub pending: u64,
    /// Why nothing is sent to it although it is enabled.
    pub problem: Option<WebhookProblem>,
}

/// The webhooks of a scope. Each is identified by its id as a text, as in a path.
pub struct ScopedWebhooks<'a> {
    pub context: &'a Context,
    pub webhooks: &'a Webhooks,
    pub access: &'a Access,
}

ad_server_base::debug_by_name!(ScopedWebhooks<'_>);

impl ScopedWebhooks<'_> {
    /// Creates a webhook by the body of a request. Its secret cannot be read again.
    pub async fn create(&self, sent: &Map<String, Value>) -> Result<(WebhookState, SigningSecret), ApiError> {
        let Webhooks { database, directory, vault, clock, per_scope, .. } = self.webhooks;
        let scope = Dealers::of(&**directory, self.access, None);
        let fields = fields::new(sent, self.webhooks.guard(), |code| scope.contain(code)).map_err(invalid)?;
        let id = self.context.ids.next();
        let secret = SigningSecret::random().map_err(|error| internal(&error))?;
        let sealed = vault.seal(id, &secret).map_err(|error| internal(&error))?;
        let new = NewWebhook {
            id,
            access: self.access.clone(),
            url: fields.url,
            types: fields.types,
            dealer_code: fields.dealer_code,
            description: fields.description,
            secret: StoredSecret { sealed, until: None },
            created: clock.now(),
            position: self.context.store.newest_event().await?,
        };
        if !database.add_webhook(&new, *per_scope).await? {
            let text =
                format!("The token's scope has {per_scope} webhooks already, which is the maximum. Delete one first.");
            return Err(denied(Code::QuotaExceeded, text));
        }
        self.webhooks.changed.notify_one();
        Ok((self.find(&id.to_string()).await?, secret))
    }

    /// All of them, oldest first.
    pub async fn all(&self) -> Result<Vec<WebhookState>, ApiError> {
        let Webhooks { database, vault, clock, .. } = self.webhooks;
        let now = clock.now();
        let state = |ScopeWebhook { webhook, pending, is_owned }: ScopeWebhook| {
            // This process would have claimed it with the key; others may have the key.
            let is_unreadable =
                webhook.disabled.is_none() && !is_owned && vault.open_all(webhook.id, &webhook.secrets, now).is_err();
            WebhookState { webhook, pending, problem: is_unreadable.then_some(WebhookProblem::SecretUnreadable) }
        };
        Ok(database.webhooks(self.access, now).await?.into_iter().map(state).collect())
    }

    /// Changes a webhook by the body of a request.
    pub async fn change(&self, id: &str, sent: &Map<String, Value>) -> Result<WebhookState, ApiError> {
        let WebhookState { webhook, .. } = self.find(id).await?;
        let fields = fields::changed(sent, self.webhooks.guard(), webhook.dealer_code.as_deref()).map_err(invalid)?;
        let resume_at = if fields.resume { Some(self.context.store.newest_event().await?) } else { None };
        let change = WebhookChange {
            url: fields.url,
            types: fields.types,
            description: fields.description,
            enabled: fields.enabled,
            resume_at,
        };
        self.webhooks.database.change_webhook(webhook.id, &change, self.webhooks.clock.now()).await?;
        self.webhooks.changed.notify_one();
        self.find(id).await
    }

    /// Deletes a webhook and returns it as it was.
    pub async fn delete(&self, id: &str) -> Result<WebhookState, ApiError> {
        let found = self.find(id).await?;
        self.webhooks.database.delete_webhook(found.webhook.id, self.webhooks.clock.now()).await?;
        self.webhooks.changed.notify_one();
        Ok(found)
    }

    /// Queues a test event for an endpoint.
    pub async fn test(&self, id: &str) -> Result<Delivery, ApiError> {
        let webhook = self.find_enabled(id).await?;
        let event_id = format!("evt_test_{}", self.context.ids.next().simple());
        let now = self.webhooks.clock.now();
        if !self.webhooks.database.add_test(webhook.id, &event_id, TEST_TYPE, now, PENDING_DELIVERIES).await? {
            let text = format!(
                "{PENDING_DELIVERIES} deliveries to this webhook are pending. Wait until some of them have ended."
            );
            return Err(denied(Code::QuotaExceeded, text));
        }
        self.queued(&webhook, &event_id).await
    }

    /// Queues a stored delivery again.
    pub async fn resend(&self, id: &str, event_id: &str) -> Result<Delivery, ApiError> {
        let webhook = self.find_enabled(id).await?;
        if !self.webhooks.database.resend(webhook.id, event_id, self.webhooks.clock.now()).await? {
            return Err(unknown_delivery(event_id));
        }
        self.queued(&webhook, event_id).await
    }

    async fn queued(&self, webhook: &Webhook, event_id: &str) -> Result<Delivery, ApiError> {
        self.webhooks.changed.notify_one();
        let delivery = self.webhooks.database.find_delivery(webhook.id, event_id).await?;
        delivery.ok_or_else(|| unknown_delivery(event_id))
    }

    pub async fn rotate_secret(&self, id: &str) -> Result<(WebhookState, SigningSecret), ApiError> {
        loop {
            let state = self.find(id).await?;
            let webhook = &state.webhook;
            let secret = SigningSecret::random().map_err(|error| internal(&error))?;
            let sealed = self.webhooks.vault.seal(webhook.id, &secret).map_err(|error| internal(&error))?;
            let now = self.webhooks.clock.now();
            let mut secrets = vec![StoredSecret { sealed, until: None }];
            let old = webhook.secrets.iter().filter(|secret| secret.until.is_none_or(|until| until > now));
            let old = old.map(|old| StoredSecret { until: old.until.or(Some(now + ROTATION)), ..old.clone() });
            secrets.extend(old.take(MOST_SECRETS - 1));
            // A concurrent rotation may have replaced the secret first.
            if self.webhooks.database.replace_secrets(webhook, &secrets, now).await? {
                self.webhooks.changed.notify_one();
                return Ok((WebhookState { webhook: Webhook { updated: now, ..state.webhook }, ..state }, secret));
            }
        }
    }

    /// Moves the position of a webhook by the body of a request.
    pub async fn replay(&self, id: &str, sent: &Map<String, Value>) -> Result<WebhookState, ApiError> {
        let WebhookState { webhook, .. } = self.find(id).await?;
        let after = fields::replay(sent).map_err(invalid)?;
        let store = &*self.context.store;
        let position = match after {
            ReplayAfter::Time(time) => {
                let dealers = Dealers::of(&*self.webhooks.directory, self.access, webhook.dealer_code.as_deref());
                position_before(store, dealers.scope(), time).await?
            }
            ReplayAfter::Cursor(cursor) => {
                let position = CursorScope::of(self.access).decode(&cursor).map_err(|NotACursor| {
                    wrong_after(
                        Code::InvalidFormat,
                        "Neither a cursor of the token's scope nor a time. Send the cursor of an event, or a time such as \
                         \"2026-01-15T10:00:00Z\".",
                    )
                })?;
                if store.has_lost(position) || position > store.newest_event().await? {
                    return Err(wrong_after(
                        Code::OutOfRange,
                        "The cursor lies beyond the newest event: the service was restored from a backup, or a standby has taken over. Send a time instead.",
                    ));
                }
                position
            }
        };
        self.webhooks.database.replay_webhook(webhook.id, position).await?;
        self.webhooks.changed.notify_one();
        self.find(id).await
    }

    /// A page of a webhook's deliveries, newest first, and the number of all of them.
    pub async fn deliveries(
        &self,
        id: &str,
        state: Option<DeliveryState>,
        page: Page,
    ) -> Result<(Vec<Delivery>, u64), ApiError> {
        let WebhookState { webhook, .. } = self.find(id).await?;
        Ok(self.webhooks.database.deliveries(webhook.id, state, page).await?)
    }

    /// The webhook with this id.
    pub async fn find(&self, id: &str) -> Result<WebhookState, ApiError> {
        let unknown = || {
            let text = format!("No webhook in the token's scope has the id \"{id}\".");
            ApiError::not_found_but(text, "GET /v4/webhooks lists them.")
        };
        let parsed: Uuid = id.parse().map_err(|_| unknown())?;
        self.all().await?.into_iter().find(|state| state.webhook.id == parsed).ok_or_else(unknown)
    }

    async fn find_enabled(&self, id: &str) -> Result<Webhook, ApiError> {
        let WebhookState { webhook, .. } = self.find(id).await?;
        if webhook.disabled.is_some() {
            let text = "This webhook is disabled, so nothing is sent to it. Enable it first, with \"enabled\": true.";
            return Err(denied(Code::WebhookDisabled, text.to_owned()));
        }
        Ok(webhook)
    }
}

fn invalid(errors: FieldErrors) -> ApiError {
    ServiceError::Invalid(errors).into()
}

fn denied(code: Code, text: String) -> ApiError {
    ServiceError::Refused(vec![Denial { code, text }]).into()
}

fn wrong_after(code: Code, text: &'static str) -> ApiError {
    let mut errors = FieldErrors::default();
    errors.push("after", Violation::stated(code, text));
    invalid(errors)
}

fn internal(error: &std::io::Error) -> ApiError {
    tracing::error!(%error, "cannot create a webhook secret");
    ApiError::Internal
}

fn unknown_delivery(event_id: &str) -> ApiError {
    ApiError::not_found(format!(
        "No delivery of an event with the id \"{event_id}\" to this webhook is stored. To send older events again, use replay."
    ))
}
