//! The quality of an ad: its score, what is probably wrong, and what would raise the score.

use ad_core::{
    model::{Finding, GoalStatus, Quality, Severity},
    quality::goal_in_swedish,
};
use maud::{Markup, html};

use super::{badges, form::label, texts::Language, visitor::Visit};

/// Goals that are shown at once, those that raise the score most.
const FIRST_GOALS: usize = 4;

/// The section, below a heading that has the score.
pub(super) fn section(visit: &Visit, quality: &Quality) -> Markup {
    let texts = visit.visitor.texts;
    let is_swedish = visit.visitor.language == Language::Swedish;
    let (met, missed): (Vec<_>, Vec<_>) = quality.goals.iter().partition(|goal| goal.met);
    let goal = |goal: &GoalStatus| {
        let swedish = goal_in_swedish(&goal.code).filter(|_| is_swedish);
        swedish.map_or_else(|| (goal.text.clone(), goal.how.clone()), |(text, how)| (text.into(), how.into()))
    };
    html! {
        h2 { (texts.quality) " " (badges::score(texts, quality.score, quality.level)) }
        @if !quality.findings.is_empty() {
            h3 { (texts.findings) }
            ul.plain {
                @for finding in &quality.findings {
                    li {
                        (badge(finding, if finding.severity == Severity::Warning { texts.warning } else { texts.hint }))
                        " " (if is_swedish { &finding.swedish } else { &finding.text })
                        @if let Some(suggestion) = &finding.suggestion { " → " strong { (suggestion) } }
                        @if !finding.field.is_empty() { br; span.faint { (label(visit.visitor.language, &finding.field)) } }
                    }
                }
            }
        }
        @if missed.is_empty() {
            p { (texts.all_goals_met) }
        } @else {
            h3 { (texts.would_raise_score) }
            @let advice = |goals: &[&GoalStatus]| html! {
                ul.plain {
                    @for (points, (text, how)) in goals.iter().map(|it| (quality.points(it), goal(it))) {
                        li { strong { "+" (points) " " (text) } br; span.faint { (how) } }
                    }
                }
            };
            @let (first, others) = missed.split_at(missed.len().min(FIRST_GOALS));
            (advice(first))
            @if !others.is_empty() {
                details #goals-missed { summary { (texts.more) " (" (others.len()) ")" } (advice(others)) }
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

/// The findings about a photo, by its index in `image_urls`. A missing photo is part of the status.
pub(super) fn of_photo(visit: &Visit, quality: &Quality, place: usize) -> Markup {
    let field = format!("image_urls.{place}");
    let findings = quality.findings.iter().filter(|finding| finding.field == field);
    html! {
        @for finding in findings {
            @if let Some(wrong) = visit.visitor.texts.wrong_with_photo(finding.code) { p { (badge(finding, wrong)) } }
        }
    }
}

/// A few words about a finding, in the colour of its severity.
fn badge(finding: &Finding, words: &str) -> Markup {
    html! {
        @match finding.severity {
            Severity::Warning => span.badge.attention { (words) },
            Severity::Info => span.badge.at-rest { (words) },
        }
    }
}
