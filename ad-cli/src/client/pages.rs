//! Lists as streams: pages are requested as they are needed.
//!
//! The next page is the one at the next offset of the same address. The link in the answer (`next`) is not followed: behind a proxy it may
//! name a host that cannot be reached, or one that must not see the token.

use std::collections::VecDeque;

use ad_core::model;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};

use super::{Answer, Error, Page};

/// Where a stream stands.
struct Walk<T, F> {
    page: model::Page,
    rows: VecDeque<T>,
    is_last: bool,
    ask: F,
}

/// The rows of all pages from this one on; `ask` requests one.
pub(super) fn rows<'a, T, F, Fut>(page: model::Page, ask: F) -> BoxStream<'a, Result<T, Error>>
where
    T: Send + 'a,
    F: Fn(model::Page) -> Fut + Send + 'a,
    Fut: Future<Output = Result<Answer<Page<T>>, Error>> + Send + 'a,
{
    let start = Walk { page, rows: VecDeque::new(), is_last: false, ask };
    stream::try_unfold(start, |mut walk| async move {
        while walk.rows.is_empty() && !walk.is_last {
            let asked = (walk.ask)(walk.page);
            let answer = asked.await?.body;
            let after = walk.page.offset.saturating_add(u64::from(walk.page.limit));
            // A page without rows is the end, whatever the count says: rows may have gone in the meantime.
            walk.is_last = after >= answer.count || answer.results.is_empty();
            walk.page.offset = after;
            walk.rows = answer.results.into();
        }
        Ok(walk.rows.pop_front().map(|row| (row, walk)))
    })
    .boxed()
}
