//! Help in the words of sellers: what each page is for, and the usual tasks. The first steps of who has no ads yet.

use maud::{Markup, html};

use super::{
    page::{self, Text},
    plans, session,
    sign_in::Guest,
    texts::{Language, Texts},
    visitor::{PageResult, Visit, Visitor},
};
use ad_server_access::auth::Permission;

/// A text in English and in Swedish.
type Both = (&'static str, &'static str);

/// A task, by its id in the page, with its name and its steps.
struct Task {
    id: &'static str,
    name: Both,
    steps: &'static [Both],
}

const TASKS: [Task; 6] = [
    Task {
        id: "publish",
        name: ("Publish a car", "Publicera en bil"),
        steps: &[
            ("Choose New ad, and then the type of vehicle.", "Välj Ny annons och sedan fordonstyp."),
            (
                "Write the plate and the price, add photos from your phone or computer, and fill in what you know. The page says what is missing.",
                "Skriv registreringsnummer och pris, lägg till foton från telefonen eller datorn och fyll i det du vet. Sidan säger vad som saknas.",
            ),
            (
                "Choose Save as draft. Nobody else sees the ad yet.",
                "Välj Spara som utkast. Ingen annan ser annonsen än.",
            ),
            (
                "Choose Publish on the page of the ad. You see the ad as buyers will, and publish it. After a moment its page says Live.",
                "Välj Publicera på annonsens sida. Du ser annonsen så som köpare gör, och publicerar den. Efter en stund står det Publicerad på sidan.",
            ),
        ],
    },
    Task {
        id: "price",
        name: ("Change a price", "Ändra ett pris"),
        steps: &[
            (
                "Find the car under Stock, by its plate or its name, and open it.",
                "Leta upp bilen under Lager, med registreringsnummer eller namn, och öppna den.",
            ),
            (
                "Choose Edit, change the amount under Price, and choose Save.",
                "Välj Ändra, ändra beloppet under Pris och välj Spara.",
            ),
            (
                "Many at once: tick the cars under Stock, and choose Change price. You see all new prices before anything changes.",
                "Många på en gång: kryssa i bilarna under Lager och välj Ändra pris. Du ser alla nya priser innan något ändras.",
            ),
        ],
    },
    Task {
        id: "sold",
        name: ("Mark as sold", "Markera som såld"),
        steps: &[
            (
                "Open the car, choose Sold, and confirm. It leaves the marketplaces at once.",
                "Öppna bilen, välj Såld och bekräfta. Den försvinner från marknadsplatserna på en gång.",
            ),
            (
                "If the sale is not certain yet, choose Hide: the ad is kept, and nobody else sees it.",
                "Om affären inte är säker än, välj Dölj: annonsen finns kvar, men ingen annan ser den.",
            ),
        ],
    },
    Task {
        id: "undo",
        name: ("Undo", "Ångra"),
        steps: &[
            (
                "Sold by mistake: open the car, and choose Not sold after all. The page says until when you can.",
                "Såld av misstag: öppna bilen och välj Inte såld ändå. Sidan säger hur länge det går.",
            ),
            ("Hidden by you: choose Publish.", "Dold av dig: välj Publicera."),
            (
                "A change that was wrong: look for it in the timeline of the ad. Choose Restore this version at the one that was right. You see what it changes before it is done.",
                "En ändring som blev fel: leta upp den i annonsens tidslinje. Välj Återställ den här versionen vid den som var rätt. Du ser vad som ändras innan det görs.",
            ),
            (
                "What has been deleted for good cannot be shown again under its old number. Create the ad anew with Copy as new ad.",
                "Det som har tagits bort för gott kan inte visas igen under sitt gamla nummer. Skapa annonsen på nytt med Kopiera till ny annons.",
            ),
        ],
    },
    Task {
        id: "not-live",
        name: ("Why is my ad not live?", "Varför syns inte min annons?"),
        steps: &[
            (
                "Open the ad. At the top it says for each marketplace whether the ad is there. If not, it says why, who can change that, and what to do.",
                "Öppna annonsen. Överst står för varje marknadsplats om annonsen finns där. Om inte står det varför, vem som kan ändra det och vad som behöver göras.",
            ),
            (
                "Draft or Hidden: choose Publish. Sold: choose Not sold after all.",
                "Utkast eller Dold: välj Publicera. Såld: välj Inte såld ändå.",
            ),
            (
                "Waiting or Processing: you need not do anything. The service tries again by itself.",
                "Väntar eller Behandlas: du behöver inte göra något. Tjänsten försöker igen av sig själv.",
            ),
            (
                "Failed: correct what the page names, such as a photo, with Edit. Then choose Retry.",
                "Misslyckad: rätta det som sidan nämner, till exempel ett foto, med Ändra. Välj sedan Försök igen.",
            ),
        ],
    },
    Task {
        id: "promote",
        name: ("Be seen more", "Synas mer"),
        steps: &[
            (
                "Bump: the ad appears as new again, at the top of lists by age.",
                "Förnya: annonsen visas som ny igen, överst i listor efter ålder.",
            ),
            (
                "Pole position: the ad appears before others on the primary marketplace for 3 days.",
                "Toppläge: annonsen visas före andra på den primära marknadsplatsen i 3 dagar.",
            ),
            (
                "Each says what it costs before you order it. Under Schedules, choose days on which ads are bumped by themselves.",
                "Var och en säger vad den kostar innan du beställer. Välj under Scheman dagar då annonser förnyas av sig själva.",
            ),
        ],
    },
];

/// What a page is for: its path, its name, the permission that it needs, and its purpose.
const PAGES: [(&str, Text, Permission, Both); 7] = [
    (
        "/",
        |texts| texts.overview,
        Permission::Read,
        (
            "How many of your ads are live, which are not, and what happens now. Each number opens its ads.",
            "Hur många av dina annonser som syns, vilka som inte gör det och vad som händer just nu. Varje siffra öppnar sina annonser.",
        ),
    ),
    (
        "/stock",
        |texts| texts.stock,
        Permission::Read,
        (
            "All your ads. Find one by plate or name, or tick several and change them together.",
            "Alla dina annonser. Hitta en med registreringsnummer eller namn, eller kryssa i flera och ändra dem tillsammans.",
        ),
    ),
    (
        "/import",
        |texts| texts.import,
        Permission::Write,
        (
            "Your stock as a file from Excel. You see what is new, changed or missing before anything changes.",
            "Ert lager som en fil från Excel. Du ser vad som är nytt, ändrat eller saknas innan något ändras.",
        ),
    ),
    ("/new", |texts| texts.new_ad, Permission::Write, ("Make an ad, with photos.", "Gör en annons, med foton.")),
    (
        "/account",
        |texts| texts.account,
        Permission::Read,
        (
            "What bumps and pole positions have cost this month, and what is left.",
            "Vad förnyelser och topplägen har kostat den här månaden, och vad som är kvar.",
        ),
    ),
    (
        "/schedules",
        |texts| texts.schedules,
        Permission::Read,
        (
            "Have ads bumped on the days and at the times that you choose, for no more than you allow.",
            "Låt annonser förnyas de dagar och tider som du väljer, för högst så mycket som du tillåter.",
        ),
    ),
    (
        "/access",
        |texts| texts.access,
        Permission::Access,
        (
            "Invite colleagues, see who is signed in, and end it.",
            "Bjud in kollegor, se vilka som är inloggade och avsluta det.",
        ),
    ),
];

/// `GET /console/help`, for everybody.
pub(super) async fn page(guest: Guest) -> PageResult {
    let visitor = &guest.visitor;
    let caller = session::of(visitor, guest.cookie.as_deref()).await.ok().map(|session| session.caller);
    let may = |permission| caller.as_ref().is_none_or(|caller| caller.permissions.contains(permission));
    let (texts, language) = (visitor.texts, visitor.language);
    let content = html! {
        div.heading { h1 { (texts.help) } }
        div.columns.help-page {
            div {
                @for Task { id, name, steps } in &TASKS {
                    section.panel #(id) {
                        h2 { (said(language, *name)) }
                        ol { @for step in *steps { li { (said(language, *step)) } } }
                    }
                }
            }
            section.panel aria-labelledby="pages-heading" {
                h2 #pages-heading { (texts.what_pages_are_for) }
                ul.plain {
                    @for (path, name, _, purpose) in PAGES.iter().filter(|(_, _, permission, _)| may(*permission)) {
                        li { strong { a href=(visitor.address(path)) { (name(texts)) } } br; (said(language, *purpose)) }
                    }
                }
                p.faint { (texts.help_further) }
            }
        }
    };
    Ok(page::for_everybody(visitor, caller.as_ref(), texts.help, &content))
}

const fn said(language: Language, (english, swedish): Both) -> &'static str {
    language.pick(english, swedish)
}

/// The overview of who has no ads yet: what to do, in three steps.
pub(super) fn first_steps(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        section.panel #first-steps data-live="until-others" aria-labelledby="first-steps-heading" {
            h1 #first-steps-heading { (texts.no_ads_yet) }
            @if visit.may(Permission::Write) {
                ol.steps {
                    (step(&visit.visitor, texts.step_new_ad, texts.step_new_ad_does, "/new"))
                    (step(&visit.visitor, texts.step_photos, texts.step_photos_does, "/help#publish"))
                    (step(&visit.visitor, texts.step_publish, texts.step_publish_does, "/help#publish"))
                }
                p.actions { a.button.primary href=(visit.visitor.address("/new")) { (texts.new_ad) } }
            } @else {
                p { (texts.no_ads_to_read) }
            }
            p.faint { (texts.or_connect) " " (other_ways(visit, texts)) }
        }
    }
}

fn other_ways(visit: &Visit, texts: &Texts) -> Markup {
    html! {
        @if visit.may(Permission::Write) && plans::is_there(visit) { a href=(visit.visitor.address("/import")) { (texts.import) } " · " }
        a href=(visit.visitor.address("/developers")) { (texts.connect_system) }
    }
}

fn step(visitor: &Visitor, name: &str, does: &str, path: &str) -> Markup {
    html! { li { strong { a href=(visitor.address(path)) { (name) } } br; (does) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of buttons that a step names are those of the buttons.
    #[test]
    fn steps_name_buttons_as_they_are_named() {
        let buttons: [(&str, &[Text]); 6] = [
            (
                "publish",
                &[|texts| texts.new_ad, |texts| texts.save_draft, |texts| texts.publish, |texts| texts.status_live],
            ),
            ("price", &[|texts| texts.stock, |texts| texts.edit, |texts| texts.save, |texts| texts.change_price]),
            ("sold", &[|texts| texts.sold, |texts| texts.hide_ad]),
            ("undo", &[|texts| texts.unsold, |texts| texts.restore_version, |texts| texts.copy_ad]),
            ("not-live", &[|texts| texts.retry, |texts| texts.edit, |texts| texts.status_waiting]),
            ("promote", &[|texts| texts.bump, |texts| texts.pole_position, |texts| texts.schedules]),
        ];
        for (task, (id, names)) in TASKS.iter().zip(buttons) {
            assert_eq!(task.id, id);
            for language in Language::ALL {
                let steps: String = task.steps.iter().map(|step| said(language, *step)).collect();
                for name in names {
                    assert!(steps.contains(name(language.texts())), "{id} {language:?}: {}", name(language.texts()));
                }
            }
        }
    }
}
