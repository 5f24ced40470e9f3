//! `/v4/stock/plans`: the whole stock in one request, compared before anything changes (extensions E8).

mod computing;
mod payloads;
mod receive;
mod selection;

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::{AdFilter, ChangeError, ChangeQuery, PlanError, PlanOptions, PlanState, StockPlan},
    service::{Access, BulkChange, PlanWriter, StockPlanError, StockPlans},
    violation::Code,
};
use ad_parameters::{AdParameters, ApplyParameters, PageParameters};
use poem::{
    Body, Response,
    http::{HeaderValue, StatusCode, header},
};
use serde_json::{Map, Value};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::{Instant, sleep, sleep_until, timeout},
};
use uuid::Uuid;

use self::{
    computing::{Computing, StockStream},
    receive::StockBody,
};
use super::{
    ApiError, body::Payload, call::Call, errors::json_response, handler::ApiResult, links, lists::Turn, prefer::Wait,
    respond::PageBody,
};
use ad_server_base::limits::{
    FairPermit, FairSemaphore,
    table::{PLANS_COMPUTED, TURN},
};

pub(super) const PATH: &str = "/v4/stock/plans";

/// The first and the longest pause between two looks at a plan that a client waits for.
const LOOKS: (Duration, Duration) = (Duration::from_millis(25), Duration::from_millis(400));

/// What the endpoints of stock plans use.
#[derive(Clone)]
pub struct StockApi {
    /// The use cases of `ad-core`.
    pub plans: StockPlans,
    /// Notified when a plan is to be applied.
    pub due: Arc<Notify>,
    /// Maximum size of a stock, unpacked, in bytes.
    pub most_bytes: u64,
    computed: FairSemaphore,
}

ad_server_base::debug_by_name!(StockApi);

impl StockApi {
    /// The endpoints over these use cases. `due` wakes who applies plans in this process.
    pub fn new(plans: StockPlans, due: Arc<Notify>, most_bytes: u64) -> Self {
        Self { plans, due, most_bytes, computed: FairSemaphore::with_reserve(PLANS_COMPUTED, 1) }
    }
}

impl StockApi {
    /// Waits for the turn of a plan that is computed.
    async fn slot(&self, access: &Access) -> Result<FairPermit, ApiError> {
        let slot = timeout(TURN, self.computed.take(access.name(), 1));
        slot.await.map_err(|_| ApiError::Crowded(PLANS_COMPUTED))
    }

    /// A plan of one change of selected ads. It comes to an end when the client leaves.
    pub(crate) async fn select(
        &self,
        access: &Access,
        filters: Vec<AdFilter>,
        change: BulkChange,
        options: PlanOptions,
    ) -> Result<StockPlan, ApiError> {
        let slot = self.slot(access).await?;
        let (plans, access) = (self.plans.clone(), access.clone());
        let computed = tokio::spawn(async move {
            let _slot = slot;
            let mut writer = plans.begin_selected(&access, options).await?;
            writer.add_selected(&filters, &change).await?;
            writer.finish().await
        });
        Ok(computed.await.map_err(|_| ApiError::Internal)??)
    }
}

/// A row of a file as a plan takes it.
#[derive(Debug)]
pub(crate) enum StockRow {
    /// The payload of an ad, the row, and an estimate of its bytes.
    Payload { line: u64, bytes: usize, object: Map<String, Value> },
    /// A row of which no payload could be made: why, and the values that could not be read, by pointer.
    Unreadable { line: u64, source_id: Option<String>, errors: Vec<ChangeError>, values: Vec<(String, String)> },
}

impl StockRow {
    async fn add_to(self, writer: &mut PlanWriter) -> Result<(), StockPlanError> {
        match self {
            Self::Payload { line, bytes, object } => writer.add(line, bytes, object).await,
            Self::Unreadable { line, source_id, errors, values } => {
                writer.add_unreadable(line, source_id, errors, values).await
            }
        }
    }
}

impl StockApi {
    /// A plan of the rows of a file, whose ads keep what the file does not have. `read` runs on a thread of its own, passes rows on until
    /// that returns false, and says why it could not read on. The plan comes to an end when the client leaves.
    pub(crate) async fn compare(
        &self,
        access: &Access,
        options: PlanOptions,
        read: impl FnOnce(&mut dyn FnMut(Vec<StockRow>) -> bool) -> Result<(), PlanError> + Send + 'static,
    ) -> Result<StockPlan, ApiError> {
        let slot = self.slot(access).await?;
        let (plans, access) = (self.plans.clone(), access.clone());
        let computed = tokio::spawn(async move {
            let _slot = slot;
            let mut writer = plans.begin(&access, options).await?.keep_absent();
            let (sender, mut parts) = mpsc::channel(1);
            let reading = tokio::task::spawn_blocking(move || read(&mut |rows| sender.blocking_send(rows).is_ok()));
            while let Some(rows) = parts.recv().await {
                for row in rows {
                    row.add_to(&mut writer).await?;
                }
            }
            let broken = match reading.await {
                Ok(read) => read.err(),
                // It has panicked, and what has come is not the whole file.
                Err(_) => Some(PlanError::of_body(Code::IncompleteBody, None, "The file could not be read to its end")),
            };
            if let Some(broken) = broken {
                return Err(writer.refuse(broken).await);
            }
            writer.check().await?;
            writer.finish().await
        });
        match computed.await.map_err(|_| ApiError::Internal)? {
            Err(StockPlanError::Ended(plan)) if plan.state == PlanState::Refused => Ok(*plan),
            planned => Ok(planned?),
        }
    }
}

pub(super) async fn create(call: &Call<'_>, options: PlanOptions, body: Body) -> ApiResult {
    let (stock, context) = (of_service(call)?, call.context());
    let wait = context.limits.waits.preferred(call.request, call.access())?;
    let stream = StockStream::new(StockBody::new(call.request, body, stock.most_bytes)?);
    let slot = stock.slot(call.access()).await?;
    let computing = Computing { plans: stock.plans.clone(), access: call.access().clone(), stream, _slot: slot };
    let (received, is_received) = oneshot::channel();
    // In a task of its own, so that it comes to an end when the client leaves.
    let mut computed = tokio::spawn(computing.run(options, received));
    let is_over = async {
        match is_received.await {
            Ok(plan) => {
                over(wait.as_ref()).await;
                plan
            }
            // The plan has ended.
            Err(_) => std::future::pending().await,
        }
    };
    let (status, plan) = tokio::select! {
        biased;
        ended = &mut computed => ended.map_err(|_| ApiError::Internal)??,
        plan = is_over => (StatusCode::ACCEPTED, plan),
    };
    let status = if status == StatusCode::OK && wait.is_none() { StatusCode::ACCEPTED } else { status };
    let mut response = json_response(status, &plan);
    let address = links::to(context, call.request, &format!("{PATH}/{}", plan.id));
    let location = HeaderValue::try_from(address).ok();
    response.headers_mut().extend(location.map(|address| (header::LOCATION, address)));
    Ok(response)
}

pub(super) async fn list(call: &Call<'_>, PageParameters { page }: PageParameters, mut turn: Turn) -> ApiResult {
    let list = of_service(call)?.plans.plans(call.access(), page).await?;
    turn.has_read();
    call.page(turn, PageBody::new(call, page, list.count, list.rows)?).await
}

pub(super) async fn read(call: &Call<'_>, _: AdParameters, (): ()) -> ApiResult {
    let (stock, limits) = (of_service(call)?, &call.context().limits);
    let id = id(call)?;
    let look = async || {
        let _turn = limits.turns.take(call.access()).await?;
        Ok::<_, ApiError>(stock.plans.plan(call.access(), id).await?)
    };
    let mut plan = look().await?;
    if let Some(wait) = limits.waits.preferred(call.request, call.access())? {
        let is_over = over(Some(&wait));
        tokio::pin!(is_over);
        let mut pause = LOOKS.0;
        while plan.is_under_way() {
            tokio::select! {
                () = &mut is_over => break,
                () = sleep(pause) => {}
            }
            plan = look().await?;
            pause = (pause * 2).min(LOOKS.1);
        }
    }
    Ok(shown(StatusCode::OK, &plan))
}

pub(super) async fn changes(call: &Call<'_>, query: ChangeQuery, mut turn: Turn) -> ApiResult {
    let list = of_service(call)?.plans.changes(call.access(), id(call)?, &query).await?;
    turn.has_read();
    call.page(turn, PageBody::new(call, query.page, list.count, list.rows)?).await
}

pub(super) async fn apply(call: &Call<'_>, query: ApplyParameters, _: Payload) -> ApiResult {
    let stock = of_service(call)?;
    let plan = stock.plans.apply(call.access(), id(call)?, query.allow_removals, &call.origin).await?;
    stock.due.notify_one();
    Ok(shown(StatusCode::ACCEPTED, &plan))
}

pub(super) async fn cancel(call: &Call<'_>, _: AdParameters, _: Payload) -> ApiResult {
    Ok(shown(StatusCode::OK, &of_service(call)?.plans.cancel(call.access(), id(call)?).await?))
}

/// Returns when the answer is not to be held back any longer: at once, if the client does not prefer to wait.
async fn over(wait: Option<&Wait>) {
    let Some(wait) = wait else { return };
    tokio::select! {
        () = sleep_until(Instant::now() + wait.longest) => {}
        () = wait.stopped() => {}
    }
}

fn of_service<'a>(call: &'a Call<'_>) -> Result<&'a StockApi, ApiError> {
    call.context().stock.as_ref().ok_or_else(ApiError::unknown_path)
}

fn id(call: &Call<'_>) -> Result<Uuid, ApiError> {
    call.path_parameter("plan_id").parse().map_err(|_| StockPlanError::NotFound.into())
}

fn shown(status: StatusCode, plan: &StockPlan) -> Response {
    json_response(status, plan)
}
