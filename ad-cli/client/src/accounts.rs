//! What promotions cost, and the limit that a dealer sets itself (extensions E9).

use ad_core::model::{Account, Amount, Charge, ChargeQuery};
use ad_parameters::ToParameters;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Client, Error, Page, pages,
    transport::{Call, query_string},
};

/// The accounts of a token: one of a dealer, a list of a group.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Accounts {
    One(Box<Account>),
    Many(Vec<Account>),
}

impl Client {
    /// The accounts of the token's dealers in the present month: what promotions cost, and how much of the budget is left.
    ///
    /// # Errors
    /// [`Forbidden`](super::ErrorKind::Forbidden) for a token that may not read.
    pub async fn accounts(&self) -> Result<Answer<Vec<Account>>, Error> {
        let answer: Answer<Accounts> = self.transport.get("v4/account".to_owned()).await?;
        Ok(answer.map(|accounts| match accounts {
            Accounts::One(account) => vec![*account],
            Accounts::Many(accounts) => accounts,
        }))
    }

    /// A page of charges, newest first.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorKind::Invalid) naming the parameters that are wrong.
    pub async fn charges(&self, query: &ChargeQuery) -> Result<Answer<Page<Charge>>, Error> {
        self.transport.get(format!("v4/account/charges{}", query_string(query.parameters()))).await
    }

    /// All charges from the page of the query on, page after page as they are needed.
    ///
    /// # Errors
    /// The stream ends with the first error, as those of [`charges`](Self::charges).
    pub fn charges_all<'a>(&'a self, query: &ChargeQuery) -> BoxStream<'a, Result<Charge, Error>> {
        let query = query.clone();
        pages::rows(query.page, move |page| {
            let query = ChargeQuery { page, ..query.clone() };
            async move { self.charges(&query).await }
        })
    }

    /// Sets the most that promotions may cost in each month, beside the operator's budget; `None` removes the limit. A token of a group
    /// names the dealer.
    ///
    /// # Errors
    /// [`Forbidden`](super::ErrorKind::Forbidden) for a token that may not promote; [`Invalid`](super::ErrorKind::Invalid) when a group does
    /// not name one of its dealers.
    pub async fn set_own_budget(
        &self,
        own: Option<Amount>,
        dealer_code: Option<&str>,
    ) -> Result<Answer<Account>, Error> {
        let query = query_string(dealer_code.map(|code| ("dealer_code", code)));
        let body = Bytes::from(json!({"own": own}).to_string());
        self.transport.ask(Call::new(Method::PUT, format!("v4/account/budget{query}"), Some(body))).await
    }
}
