//! Lists as streams: pages are requested as they are needed.
//!
//! The next page is the one at the next offset of the same address. The link in the answer (`next`) is not followed: behind a proxy it may
//! name a host that cannot be reached, or one that must not see the token.

use ad_core::model;
use futures_util::{
    StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};

use super::{Answer, Error, Page};

/// The rows of all pages from this one on; `ask` requests one.
pub(super) fn rows<'a, T, F, Fut>(page: model::Page, ask: F) -> BoxStream<'a, Result<T, Error>>
where
    T: Send + 'a,
    F: Fn(model::Page) -> Fut + Send + 'a,
    Fut: Future<Output = Result<Answer<Page<T>>, Error>> + Send + 'a,
{
    stream::try_unfold(Some(page), move |page| {
        let asked = page.map(|page| (page, ask(page)));
        async move {
            let Some((mut page, asked)) = asked else { return Ok(None) };
            let answer = asked.await?.body;
            // A page may have ended before its limit, at its most bytes.
            page.offset = page.offset.saturating_add(answer.results.len() as u64);
            // A page without rows is the end, whatever the count says: rows may have gone in the meantime.
            let is_last = page.offset >= answer.count || answer.results.is_empty();
            let rows = stream::iter(answer.results.into_iter().map(Ok));
            Ok(Some((rows, (!is_last).then_some(page))))
        }
    })
    .try_flatten()
    .boxed()
}
