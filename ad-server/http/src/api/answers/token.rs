//! What a token gives access to.

use ad_core::{
    model::{ApiVersion, Dealer, Market, Timestamp},
    service::Access,
};
use poem_openapi::registry::MetaSchema;
use serde::Serialize;
use std::sync::Arc;

use super::{
    Of, answers,
    member::{Address, described, in_place},
};
use ad_server_access::auth::{Caller, Permission};
use ad_server_base::values::Rate;

answers! {
    #[derive(Serialize)]
    Me {
        scope: Of<TokenScope> => "The dealer or the dealer group of the token",
        dealers: Vec<MyDealer>,
        permissions: Vec<Of<Permission>>,
        token: MyToken,
        rate_limit: Option<Of<RateLimitView>> => "So many requests in so many seconds, of all tokens of the dealer together; `null` if there is no limit",
        versions: Vec<Of<ApiVersion>> => "Versions of the API",
        documentation: Of<Address>,
        #[serde(skip_serializing_if = "Option::is_none")] http_images: Option<bool> => "Whether images may have http addresses; only in a sandbox",
    }

    #[derive(Serialize)]
    TokenScope {
        #[serde(skip_serializing_if = "Option::is_none")] dealer_code: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")] dealer_group: Option<String>,
    }

    #[derive(Serialize)]
    MyDealer {
        code: String,
        name: String,
        currency: String => "Of prices without one (ISO 4217)",
        products: Vec<String> => "Activated products",
        bump: Vec<Of<Market>> => "Marketplaces on which the dealer may bump ads",
        salespersons: usize => "Number of salespersons",
        ads: u64 => "Number of ads that are not deleted",
    }

    #[derive(Serialize)]
    MyToken {
        jti: String => "Id of the token, by which it can be revoked",
        label: Option<String> => "Name of the client, if the token has one",
        issued: Option<Of<Timestamp>>,
        expires: Option<Of<Timestamp>> => "`null` if it does not expire",
    }

    #[derive(Serialize)]
    RateLimitView {
        #[oai(validator(minimum(value = "1")))] requests: u32,
        #[oai(validator(minimum(value = "1")))] seconds: u64,
        #[oai(validator(minimum(value = "1")))] burst: u32 => "Requests at once, after a pause",
    }
}

impl Me {
    /// What a caller has: its dealers with the numbers of their ads, under this rate limit.
    pub(crate) fn new(
        caller: &Caller,
        dealers: &[(Arc<Dealer>, u64)],
        rate: Option<Rate>,
        documentation: String,
        http_images: bool,
    ) -> Self {
        let Caller { scope, permissions, jti, label, issued, expires } = caller.clone();
        let scope = match scope {
            Access::Dealer(code) => TokenScope { dealer_code: Some(code), dealer_group: None },
            Access::Group(group) => TokenScope { dealer_code: None, dealer_group: Some(group) },
            Access::Operator => TokenScope { dealer_code: None, dealer_group: None },
        };
        let described = |(dealer, ads): &(Arc<Dealer>, u64)| {
            let Dealer { code, name, currency, products, bump, salespersons, .. } = Dealer::clone(dealer);
            let (bump, salespersons) = (bump.into_iter().map(Of).collect(), salespersons.len());
            MyDealer { code, name, currency, products, bump, salespersons, ads: *ads }
        };
        let rate = rate.map(|Rate { requests, per, burst }| RateLimitView {
            requests: requests.get(),
            seconds: per.as_secs(),
            burst: burst.get(),
        });
        Self {
            scope: Of(scope),
            dealers: dealers.iter().map(described).collect(),
            permissions: permissions.iter().map(Of).collect(),
            token: MyToken { jti, label, issued: issued.map(Of), expires: expires.map(Of) },
            rate_limit: rate.map(Of),
            versions: vec![Of(ApiVersion::V3), Of(ApiVersion::V4)],
            documentation: Of(Address(documentation)),
            http_images: http_images.then_some(true),
        }
    }
}

described! {
    TokenScope => MetaSchema { min_properties: Some(1), max_properties: Some(1), ..in_place::<TokenScope>() },
    RateLimitView => in_place::<RateLimitView>(),
}
