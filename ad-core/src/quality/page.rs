//! The page of goals and findings, `docs/quality.md`.

use std::fmt::Write;

use super::{Level, findings::FINDINGS, goals::GOALS, vehicle::USUAL};
use crate::{categories, fields::grouped};

macro_rules! say {
    ($page:expr, $($text:tt)*) => {
        writeln!($page, $($text)*).expect("text takes any text")
    };
}

/// Goals and findings, as a page of Markdown.
pub fn markdown() -> String {
    let mut page = "# Quality of ads\n\n\
        <!-- Generated from ad-core/src/quality. UPDATE_SNAPSHOTS=1 cargo test -p ad-core quality -->\n\n\
        The answer of `validate` has the quality of the ad in `quality`, and so has that of a read or write of an ad with\n\
        `include=quality`. Nothing on this page prevents an ad from being published.\n\n\
        In lists, `include=quality` adds score, level and number of findings, and `quality_score__lt=50` lists the ads below 50:\n\n\
        ```\n\
        GET /v4/ad?include=quality&quality_score__lt=50\n\
        ad-cli list --quality-score-lt 50\n\
        ad-cli quality car-1\n\
        ad-cli validate car.json\n\
        ```\n\n\
        The number in lists is that of the findings about the ad itself, without those that compare it with other ads of the dealer or with\n\
        its [earlier prices](prices.md). Where the operator has configured a [vehicle registry](vehicle-registry.md), `validate` proposes values too.\n\
        A photo counts from when its address is sent, until it turns out that it cannot be fetched or stored. What photos show is examined\n\
        after the ad is published; findings about it come then, and do not change the score.\n\n\
        ## Goals\n\n\
        The score is the weight of the goals that the ad meets, as a percentage of the weight of all goals that apply to it. A goal applies to\n\
        the categories that have its field. Below {good} the level is `basic`, from {good} `good`, from {excellent} `excellent`.\n\n\
        | Code | Goal | Weight | How to meet it | Field |\n|---|---|---|---|---|\n"
        .replace("{good}", &Level::GOOD.to_string())
        .replace("{excellent}", &Level::EXCELLENT.to_string());
    for goal in GOALS {
        say!(page, "| `{}` | {} | {} | {} | `{}` |", goal.code, goal.text, goal.weight, goal.how, goal.field);
    }
    say!(page, "\n## Findings\n\nValues that are probably wrong (`warning`), and what could be better (`info`).\n");
    say!(page, "| Code | What was found | What to do |\n|---|---|---|");
    for code in FINDINGS.iter().flat_map(|(codes, _)| codes.iter()) {
        let about = code.about();
        say!(page, "| `{code}` | {} | {} |", about.explanation, about.cure);
    }
    say!(page, "\n## What is usual\n\nAds beyond these limits get a finding. Prices are in SEK.\n");
    say!(page, "| Category | Price | Mileage per year | Model year from | Power | Photos |\n|---|---|---|---|---|---|");
    for usual in USUAL {
        let Some(category) = categories::by_id(usual.category_id) else { continue };
        let (least, most) = usual.price;
        let name = category.vehicle_type.unwrap_or(category.name);
        let power =
            usual.power.map_or_else(|| "–".to_owned(), |(least, most)| format!("{least} to {} kW", grouped(&most)));
        say!(
            page,
            "| `{name}` | {} to {} | {} km | {} | {power} | {} |",
            grouped(&least),
            grouped(&most),
            grouped(&usual.yearly),
            usual.since,
            usual.photos
        );
    }
    page
}
