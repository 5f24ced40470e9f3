//! The quality of an ad: its score, what is probably wrong, and what would raise the score.

use ad_core::{
    model::{GoalStatus, Quality, Severity},
    quality::goal_in_swedish,
};
use maud::{Markup, html};

use super::{badges, route::Visit, texts::Language};

/// The section, below a heading that has the score.
pub(super) fn section(visit: &Visit, quality: &Quality) -> Markup {
    let texts = visit.visitor.texts;
    let is_swedish = visit.visitor.language == Language::Swedish;
    let (met, missed): (Vec<_>, Vec<_>) = quality.goals.iter().partition(|goal| goal.met);
    let goal = |goal: &GoalStatus| {
        let swedish = goal_in_swedish(&goal.code).filter(|_| is_swedish);
        swedish.map_or_else(|| (goal.text.clone(), goal.how.clone()), |(text, how)| (text.to_owned(), how.to_owned()))
    };
    html! {
        h2 { (texts.quality) " " (badges::score(texts, quality.score, quality.level)) }
        @if !quality.findings.is_empty() {
            h3 { (texts.findings) }
            ul.plain {
                @for finding in &quality.findings {
                    li {
                        @match finding.severity {
                            Severity::Warning => span.badge.attention { (texts.warning) },
                            Severity::Info => span.badge.at-rest { (texts.hint) },
                        }
                        " " (if is_swedish { &finding.swedish } else { &finding.text })
                        @if let Some(suggestion) = &finding.suggestion { " → " strong { (suggestion) } }
                        br; code.faint { (finding.field) }
                    }
                }
            }
        }
        @if missed.is_empty() {
            p { (texts.all_goals_met) }
        } @else {
            h3 { (texts.would_raise_score) }
            ul.plain {
                @for (weight, (text, how)) in missed.iter().map(|it| (it.weight, goal(it))) {
                    li { strong { "+" (weight) " " (text) } br; span.faint { (how) } }
                }
            }
        }
        @if !met.is_empty() {
            details #goals-met {
                summary { (texts.goals_met) " (" (met.len()) ")" }
                ul { @for (text, _) in met.iter().map(|it| goal(it)) { li { (text) } } }
            }
        }
    }
}
