//! Computes a plan while its body comes.

use ad_core::{
    model::{PlanError, PlanOptions, PlanState, StockPlan},
    service::{Access, PlanWriter, StockPlanError, StockPlans},
    violation::Code,
};
use poem::http::StatusCode;
use tokio::sync::oneshot;

use super::{
    payloads::{Payloads, StockPayload},
    receive::{Broken, StockBody},
    selection::Selection,
};
use crate::api::ApiError;
use ad_server_base::limits::FairPermit;

/// The payloads of a body.
pub(super) struct StockStream {
    body: StockBody,
    payloads: Payloads,
    is_ended: bool,
}

impl StockStream {
    pub(super) fn new(body: StockBody) -> Self {
        Self { body, payloads: Payloads::new(), is_ended: false }
    }

    /// The next payload; `None` at the end of the body.
    pub(super) async fn next(&mut self) -> Result<Option<StockPayload>, Broken> {
        loop {
            match self.payloads.next(self.is_ended).map_err(broken)? {
                None if !self.is_ended => {}
                payload => return Ok(payload),
            }
            match self.body.next().await? {
                Some(piece) => self.payloads.push(&piece),
                None => self.is_ended = true,
            }
        }
    }
}

fn broken(error: PlanError) -> Broken {
    let status = if error.code == Code::TooLarge { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST };
    (status, error)
}

pub(super) struct Computing {
    pub(super) plans: StockPlans,
    pub(super) access: Access,
    pub(super) stream: StockStream,
    pub(super) _slot: FairPermit,
}

/// Why a plan is not computed on.
#[derive(derive_more::From)]
enum Stop {
    Broken(Broken),
    Ended(StockPlanError),
}

impl Computing {
    /// Reads the body, and makes the plan. Tells when the body has been read and is a stock. Returns the plan, and the status that says
    /// what has become of it.
    pub(super) async fn run(
        mut self,
        options: PlanOptions,
        received: oneshot::Sender<StockPlan>,
    ) -> Result<(StatusCode, StockPlan), ApiError> {
        let first = self.stream.next().await;
        let selection = match &first {
            Ok(Some(payload)) if Selection::is_one(&payload.object) => Some(self.selection(payload).await?),
            _ => None,
        };
        let mut writer = match selection {
            Some(_) => self.plans.begin_selected(&self.access, options).await?,
            None => self.plans.begin(&self.access, options).await?,
        };
        let added = match selection {
            Some(Selection { filters, change }) => writer.add_selected(&filters, &change).await.map_err(Stop::from),
            None => self.add_stock(&mut writer, first).await,
        };
        let checked = match added {
            Ok(()) => writer.check().await.map_err(Stop::from),
            stopped => stopped,
        };
        let ended = match checked {
            Ok(()) => {
                // Nobody waits if the client has left.
                let _client = received.send(writer.plan().clone());
                writer.finish().await
            }
            Err(Stop::Broken((status, error))) => match writer.refuse(error).await {
                StockPlanError::Ended(plan) if plan.state == PlanState::Refused => return Ok((status, *plan)),
                error => Err(error),
            },
            Err(Stop::Ended(error)) => Err(error),
        };
        match ended {
            Ok(plan) => Ok((StatusCode::OK, plan)),
            Err(StockPlanError::Ended(plan)) if plan.state == PlanState::Refused => {
                Ok((StatusCode::BAD_REQUEST, *plan))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The selection that the body is.
    async fn selection(&mut self, first: &StockPayload) -> Result<Selection, ApiError> {
        let selection = Selection::parse(&first.object)?;
        if matches!(self.stream.next().await, Ok(None)) {
            return Ok(selection);
        }
        Err(ApiError::BadBody("A selection stands alone in the body: send nothing behind it.".to_owned()))
    }

    async fn add_stock(
        &mut self,
        writer: &mut PlanWriter,
        first: Result<Option<StockPayload>, Broken>,
    ) -> Result<(), Stop> {
        let mut next = first?;
        while let Some(StockPayload { line, bytes, object }) = next {
            writer.add(line, bytes, object).await?;
            next = self.stream.next().await?;
        }
        Ok(())
    }
}
