//! The page of goals and findings, `docs/quality.md`.

use std::fmt::Write;

use super::{Level, findings::FINDINGS, goals::GOALS, vehicle::USUAL};
use crate::{categories, fields::grouped};

/// Goals and findings, as a page of Markdown.
pub fn markdown() -> String {
    let mut page = "# Quality of ads\n\n\
        <!-- Generated from ad-core/src/quality. UPDATE_SNAPSHOTS=1 cargo test -p ad-core quality -->\n\n\
        Each ad has a score from 0 to 100, the goals that raise it, and findings: values that are probably wrong, and what could be better.\n\
        All of it is advice. Nothing on this page prevents an ad from being published.\n\n\
        | Where | What it shows |\n|---|---|\n\
        | [Console](console.md) | score, goals and findings on the page of each ad; the stock by score |\n\
        | `ad-cli validate car.json` | score, goals and findings of a payload before it is sent |\n\
        | `ad-cli quality car-1` | the same of a stored ad |\n\
        | `ad-cli list --quality-score-lt 50` | the ads with a score below 50 |\n\
        | `POST /v4/{vehicle_type}/validate` | member `quality` of the answer |\n\
        | `GET /v4/ad/{source_id}?include=quality` | the same of a stored ad, and of the answer to a write with `include=quality` |\n\
        | `GET /v4/ad?include=quality&quality_score__lt=50` | score, level and number of findings of each ad in the list |\n\n\
        - **Photos** count towards the goals from when their addresses are sent, until one turns out to be missing. What they show is examined\n  \
        after the ad is published. Findings about it appear then, and do not change the score.\n\
        - **Comparisons** with other ads of the dealer and with [earlier prices](prices.md) are made for a single ad. The number of findings in a\n  \
        list does not include them.\n\
        - **Proposals** of values come from a [vehicle registry](vehicle-registry.md), if the operator has configured one, in the answer of\n  \
        `validate`.\n\n\
        ## Goals\n\n\
        The score is the weight of the goals that the ad meets, as a percentage of the weight of all goals that apply to it. A goal applies to\n\
        the categories that have its field. Below {good} the level is `basic`, from {good} `good`, from {excellent} `excellent`.\n\n\
        | Code | Goal | Weight | How to meet it | Field |\n|---|---|---|---|---|\n"
        .replace("{good}", &Level::GOOD.to_string())
        .replace("{excellent}", &Level::EXCELLENT.to_string());
    for goal in GOALS {
        say!(page, "| `{}` | {} | {} | {} | `{}` |", goal.code, goal.text, goal.weight, goal.how, goal.field);
    }
    say!(
        page,
        "\n## Findings\n\nThe severity of a finding is `warning` if a value is probably wrong, and `info` if something could be better.\n"
    );
    say!(page, "| Code | What was found | What to do |\n|---|---|---|");
    for code in FINDINGS.iter().flat_map(|(codes, _)| codes.iter()) {
        let about = code.about();
        say!(page, "| `{code}` | {} | {} |", about.explanation, about.cure);
    }
    say!(page, "\n## What is usual\n\nAds beyond these limits get a finding. Prices are in SEK.\n");
    say!(
        page,
        "| Category | Price | Mileage per year, at most | Model year from | Power | Photos, at least |\n|---|---|---|---|---|---|"
    );
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
