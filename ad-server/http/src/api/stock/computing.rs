//! Computes a plan while its body comes.

use ad_core::{
    model::{PlanError, PlanOptions, PlanState, StockPlan},
    service::{Access, PlanWriter, StockPlanError, StockPlans},
    violation::Code,
};
use poem::http::StatusCode;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{
    payloads::{Payloads, StockPayload},
    receive::{Broken, StockBody},
    selection::Selection,
};
use crate::api::ApiError;
use ad_server_base::limits::FairPermit;

/// Payloads that are parsed together, unless they are large, while those before are compared.
const PART: usize = 100;
/// An estimate of the bytes of a part, but for its last payload.
const PART_BYTES: usize = 1024 * 1024;

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

    /// The next payloads; none at the end of the body.
    async fn part(&mut self) -> Result<Vec<StockPayload>, Broken> {
        let (mut part, mut bytes) = (Vec::with_capacity(PART), 0);
        while part.len() < PART && bytes < PART_BYTES {
            let Some(payload) = self.next().await? else { break };
            bytes += payload.bytes;
            part.push(payload);
        }
        Ok(part)
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
        self,
        options: PlanOptions,
        received: oneshot::Sender<StockPlan>,
    ) -> Result<(StatusCode, StockPlan), ApiError> {
        let Self { plans, access, mut stream, _slot } = self;
        let first = stream.next().await;
        let selection = match &first {
            Ok(Some(payload)) if Selection::is_one(&payload.object) => Some(selection(payload, &mut stream).await?),
            _ => None,
        };
        let mut writer = match selection {
            Some(_) => plans.begin_selected(&access, options).await?,
            None => plans.begin(&access, options).await?,
        };
        let added = match selection {
            Some(Selection { filters, change }) => writer.add_selected(&filters, &change).await.map_err(Stop::from),
            None => add_stock(&mut writer, first, stream).await,
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
}

/// The selection that the body is.
async fn selection(first: &StockPayload, stream: &mut StockStream) -> Result<Selection, ApiError> {
    let selection = Selection::parse(&first.object)?;
    if matches!(stream.next().await, Ok(None)) {
        return Ok(selection);
    }
    Err(ApiError::BadBody("A selection stands alone in the body: send nothing behind it.".to_owned()))
}

/// Adds the payloads of a body. The next ones are received and parsed meanwhile, in a task that ends with this.
async fn add_stock(
    writer: &mut PlanWriter,
    first: Result<Option<StockPayload>, Broken>,
    mut stream: StockStream,
) -> Result<(), Stop> {
    let Some(StockPayload { line, bytes, object }) = first? else { return Ok(()) };
    writer.add(line, bytes, object).await?;
    let (sender, mut parts) = mpsc::channel(1);
    let mut reader = JoinSet::new();
    reader.spawn(async move {
        loop {
            let part = stream.part().await;
            let is_last = !part.as_ref().is_ok_and(|part| !part.is_empty());
            if sender.send(part).await.is_err() || is_last {
                return;
            }
        }
    });
    while let Some(part) = parts.recv().await {
        let part = part?;
        if part.is_empty() {
            return Ok(());
        }
        for StockPayload { line, bytes, object } in part {
            writer.add(line, bytes, object).await?;
        }
    }
    // The task has panicked, and what has come is not the whole stock.
    let text = "The service could not read the body to its end.";
    Err(Stop::Broken((StatusCode::INTERNAL_SERVER_ERROR, PlanError::of_body(Code::IncompleteBody, None, text))))
}
