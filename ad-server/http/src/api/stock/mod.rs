//! `/v4/stock/plans`: the whole stock in one request, compared before anything changes (extensions E8).

mod computing;
mod payloads;
mod receive;
mod selection;

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::{AdFilter, ChangeQuery, PlanOptions, StockPlan},
    service::{Access, BulkChange, StockPlanError, StockPlans},
};
use ad_parameters::{AdParameters, ApplyParameters, PageParameters};
use poem::{
    Body, Response,
    http::{HeaderValue, StatusCode, header},
};
use tokio::{
    sync::{Notify, oneshot},
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
    FairSemaphore,
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
    /// A plan of one change of selected ads. It comes to an end when the client leaves.
    pub(crate) async fn select(
        &self,
        access: &Access,
        filters: Vec<AdFilter>,
        change: BulkChange,
        options: PlanOptions,
    ) -> Result<StockPlan, ApiError> {
        let slot = timeout(TURN, self.computed.take(access.name(), 1));
        let slot = slot.await.map_err(|_| ApiError::Crowded(PLANS_COMPUTED))?;
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

pub(super) async fn create(call: &Call<'_>, options: PlanOptions, body: Body) -> ApiResult {
    let (stock, context) = (of_service(call)?, call.context());
    let wait = context.limits.waits.preferred(call.request, call.access())?;
    let stream = StockStream::new(StockBody::new(call.request, body, stock.most_bytes)?);
    let slot = timeout(TURN, stock.computed.take(call.access().name(), 1));
    let slot = slot.await.map_err(|_| ApiError::Crowded(PLANS_COMPUTED))?;
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
