//! `ad-migrate run --sync`: the ads become what the file says.

use std::path::Path;

use ad_bulk::import::Task;
use ad_client::Client;
use ad_core::rulebook::Rulebook;
use ad_terminal::{Context, Exit, Failure, stop_on_interrupt};

use super::{Gone, RunArgs};
use crate::{
    check::Totals,
    submit::{
        both,
        changing::{Changed, Changing},
        folder::Folder,
        prepare::RowNumbers,
        report::Report,
        revise::{RESUME, Removal},
        revised,
        sync::{self, Allowed, Desired, SyncPlan},
    },
};

/// What a sync works with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Night<'a> {
    pub(super) client: &'a Client,
    pub(super) rulebook: &'a Rulebook,
    pub(super) folder: &'a Folder,
    /// A folder for temporary files.
    pub(super) scratch: &'a Path,
}

impl RunArgs {
    /// Makes the ads equal to the file, or shows what that takes. `refused` is why nothing may be changed.
    pub(super) async fn sync(
        &self,
        context: &Context,
        night: Night<'_>,
        mut desired: Desired<'_>,
        totals: &Totals,
        refused: Option<Failure>,
    ) -> Result<(), Failure> {
        revised::check_fields(context)?;
        let removal = Removal { delete: self.gone == Gone::Delete, allowed: self.allow_removals };
        let allowed = Allowed { removal, far_prices: self.allow_far_prices };
        let mut plan = sync::plan(context, night.client, night.rulebook, &mut desired, allowed).await?;
        if let Some(why) = &plan.withheld {
            context.out.warning(why);
        }
        plan.list_removals(context, removal)?;
        let refused = match both(refused, plan.refused.take()) {
            Some(failure) if !self.rehearse => return Err(failure),
            refused => refused,
        };
        let is_withheld = plan.withheld.is_some();
        let left_out = [(plan.unchanged(), "unchanged"), (totals.invalid, "invalid"), (totals.skipped, "skipped")];
        let rows = &mut desired.prepared.rows;
        let Changed { ads, stopped } = if self.rehearse {
            let ads = plan.rehearse(night.client, rows, removal, self.submit.parallel.get()).await?;
            Changed { ads, stopped: None }
        } else {
            self.apply(context, night, plan, rows, removal).await?
        };
        let (name, report) = (self.file.name(), self.submit.report()?);
        let invalid = Some(&mut desired.prepared.invalid);
        let report = report.as_ref().map(|to| Report { to, name: &name, invalid });
        let failed = revised::show(context, Some(&name), &ads, &left_out, report)?;
        if let Some(failure) = refused {
            return Err(failure);
        }
        if let Some(failure) = stopped {
            return Err(failure.hint(RESUME));
        }
        let is_good = failed == 0 && totals.invalid == 0 && !is_withheld;
        if is_good { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
    }

    /// Updates, creates and takes away, until Ctrl-C or a failure that concerns all ads.
    async fn apply(
        &self,
        context: &Context,
        Night { client, rulebook, folder, scratch }: Night<'_>,
        mut plan: SyncPlan,
        rows: &mut RowNumbers,
        removal: Removal,
    ) -> Result<Changed, Failure> {
        let stop = stop_on_interrupt(context);
        let changing = Changing { out: context.out, parallel: self.submit.parallel.get(), stop: &stop };
        let Changed { mut ads, mut stopped } = plan.update(changing, client, rulebook, rows).await;
        if stopped.is_none() && plan.has_creates() {
            let path = scratch.join("new.ndjson");
            let of_creates = plan.write_creates(&path, rows);
            let mut of_creates = of_creates.map_err(|error| folder.unusable("write into", &error))?;
            match self.submit.import(context, folder, &path, (Task::Create, None), Some(&stop)).await {
                Ok(mut imported) => {
                    ads.extend(plan.created(&imported, &mut of_creates)?);
                    stopped = imported.failure.take().map(Failure::from);
                }
                Err(failure) => stopped = Some(failure),
            }
        }
        if stopped.is_none() {
            let gone = plan.take_away(changing, client, removal).await;
            ads.extend(gone.ads);
            stopped = gone.stopped;
        } else {
            ads.extend(plan.left(rows)?);
        }
        Ok(Changed { ads, stopped })
    }
}
