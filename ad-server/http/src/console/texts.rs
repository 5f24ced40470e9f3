//! Every text of the console, in English and Swedish. Errors of a payload are shown in the words of the API, in English.

use poem::{
    Request,
    http::{HeaderMap, header},
};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Swedish,
}

impl Language {
    pub(super) const ALL: [Self; 2] = [Self::English, Self::Swedish];

    /// Name of the cookie that holds what the visitor has chosen.
    pub(super) const COOKIE: &str = "console_language";

    /// What the visitor has chosen, or else what the browser prefers.
    pub(super) fn of(request: &Request) -> Self {
        let chosen = cookie(request, Self::COOKIE).and_then(Self::from_code);
        chosen.unwrap_or_else(|| Self::preferred(request.header(header::ACCEPT_LANGUAGE).unwrap_or_default()))
    }

    /// The language of an `Accept-Language` with the highest quality.
    fn preferred(accepted: &str) -> Self {
        let weighted = accepted.split(',').filter_map(|item| {
            let (range, quality) = item.split_once(';').unwrap_or((item, "q=1"));
            let language = Self::from_code(range.trim().split('-').next()?)?;
            let quality: f32 = quality.trim().strip_prefix("q=")?.parse().ok()?;
            Some((quality, language))
        });
        // The first one of the highest quality.
        let best =
            weighted.filter(|(quality, _)| *quality > 0.0).reduce(|best, it| if it.0 > best.0 { it } else { best });
        best.map_or(Self::English, |(_, language)| language)
    }

    /// By its code (BCP 47).
    pub(super) fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(code))
    }

    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Swedish => "sv",
        }
    }

    /// Its name in the language itself.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Swedish => "Svenska",
        }
    }

    /// One of two texts that say the same.
    pub(super) const fn pick<'a>(self, english: &'a str, swedish: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Swedish => swedish,
        }
    }

    pub(super) const fn texts(self) -> &'static Texts {
        match self {
            Self::English => &ENGLISH,
            Self::Swedish => &SWEDISH,
        }
    }
}

pub(super) fn cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    cookie_in(request.headers(), name)
}

pub(super) fn cookie_in<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let headers = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = headers.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

macro_rules! texts {
    ($($name:ident: $english:literal, $swedish:literal;)+) => {
        #[derive(Debug)]
        pub(super) struct Texts {
            $(pub(super) $name: &'static str,)+
        }

        static ENGLISH: Texts = Texts { $($name: $english,)+ };
        static SWEDISH: Texts = Texts { $($name: $swedish,)+ };
    };
}

texts! {
    // Layout.
    console: "Console", "Konsol";
    skip_to_content: "Skip to content", "Hoppa till innehållet";
    navigation: "Main navigation", "Huvudmeny";
    language: "Language", "Språk";
    help: "Help", "Hjälp";
    what_pages_are_for: "What each page is for", "Vad varje sida är till för";
    help_further: "If that does not help, ask whoever gave you access to the console.", "Om det inte hjälper, fråga den som gav dig åtkomst till konsolen.";
    no_ads_yet: "You have no ads yet. Three steps to the first one:", "Du har inga annonser än. Tre steg till den första:";
    step_new_ad: "New ad", "Ny annons";
    step_new_ad_does: "Choose what you sell. With the plate, much is filled in for you where the service has a vehicle register.",
        "Välj vad du säljer. Med registreringsnumret fylls mycket i åt dig, om tjänsten har ett fordonsregister.";
    step_photos: "Photos", "Foton";
    step_photos_does: "Add them in the same form, from your phone or computer. The first one is what buyers see in lists.",
        "Lägg till dem i samma formulär, från telefonen eller datorn. Det första är det som köpare ser i listor.";
    step_publish: "Publish", "Publicera";
    step_publish_does: "Save the draft, look at it as buyers will, and publish it.", "Spara utkastet, se det så som köpare gör och publicera det.";
    no_ads_to_read: "As soon as your company has some, they are here.", "Så snart ert företag har några finns de här.";
    or_connect: "You have a system with your stock already? Import its ads from a file, or connect it:",
        "Har ni redan ett system med lagret? Importera annonserna från en fil, eller koppla det:";
    connect_system: "Connect a system", "Koppla ett system";
    may_be_old: "The server does not answer. What you see may be old. The page goes on by itself as soon as it can.",
        "Servern svarar inte. Det du ser kan vara gammalt. Sidan fortsätter av sig själv så snart det går.";
    overview: "Overview", "Översikt";
    stock: "Stock", "Lager";
    signed_in_as: "Signed in as", "Inloggad som";
    dealer: "Dealer", "Handlare";
    dealer_group: "Dealer group", "Handlargrupp";
    sign_out: "Sign out", "Logga ut";
    pages: "Pages", "Sidor";
    previous: "Previous", "Föregående";
    next: "Next", "Nästa";
    of_in_all: "of", "av";
    more_than: "more than", "fler än";
    details: "Details", "Detaljer";
    back: "Back", "Tillbaka";
    yes: "Yes", "Ja";
    no: "No", "Nej";

    // Sign-in.
    sign_in: "Sign in", "Logga in";
    sign_in_title: "Sign in to the console", "Logga in i konsolen";
    sign_in_lead: "You need a sign-in link. Ask your administrator for one: whoever looks after access at your company. It is sent to you, works once, and signs you in.",
        "Du behöver en inloggningslänk. Be er administratör om en: den som sköter åtkomsten hos er. Du får den skickad till dig, den fungerar en gång och loggar in dig.";
    token: "Token", "Token";
    sign_in_with_token: "Sign in with a token", "Logga in med en token";
    token_help: "A long code for systems, from the operator of the service. You do not need one if you have a link.",
        "En lång kod för system, från tjänstens driftansvarige. Har du en länk behövs den inte.";
    token_missing: "Paste the token first, or ask for a link.", "Klistra in din token först, eller be om en länk.";
    token_wrong: "This is not a token that works here. Copy all of it again, or ask for a sign-in link.",
        "Den här fungerar inte som token här. Kopiera hela igen, eller be om en inloggningslänk.";
    token_over: "This token no longer works. Ask for a new one, or for a sign-in link.",
        "Den här token gäller inte längre. Be om en ny, eller om en inloggningslänk.";
    try_sign_in_later: "You cannot be signed in right now. Try again in a moment.",
        "Det går inte att logga in just nu. Försök igen om en stund.";
    token_too_long: "The token is too long for a session. Ask the operator of the service for a token of this service's own.",
        "Denna token är för lång för en session. Be tjänstens driftansvarige om en token från tjänsten själv.";
    link_used: "This link has been used, withdrawn, or is too old. Ask whoever sent it for a new one.",
        "Länken är redan använd, tillbakadragen eller för gammal. Be den som skickade den om en ny.";

    // Errors.
    error: "Error", "Fel";
    not_found: "Not found", "Finns inte";
    not_permitted: "Not permitted", "Inte tillåtet";
    not_done: "Nothing was done", "Inget har gjorts";
    permission_needed: "You may not do this:", "Du får inte göra det här:";
    ask_who_invited: "Ask whoever invited you, or your administrator.", "Be den som bjöd in dig, eller er administratör.";
    no_such_page: "There is nothing here, or you do not have access to it.", "Här finns inget, eller så har du inte åtkomst till det.";
    not_again: "This page cannot be opened anew. Begin again from the stock.",
        "Den här sidan går inte att öppna på nytt. Börja om från lagret.";
    too_many_now: "That is too much at once. Wait a moment and try again.",
        "Det är för mycket på en gång. Vänta en stund och försök igen.";
    service_fails: "The service cannot do this right now. Try again in a moment.",
        "Tjänsten kan inte göra det just nu. Försök igen om en stund.";
    not_possible_now: "This is not possible as things are now. Go back, look at the present state, and try again.",
        "Det går inte som läget är nu. Gå tillbaka, se hur det ser ut och försök igen.";
    form_not_understood: "What was sent could not be understood. Go back and try again.",
        "Det som skickades gick inte att förstå. Gå tillbaka och försök igen.";
    to_overview: "To the overview", "Till översikten";
    request_id: "Request id", "Begärans id";

    // Overview.
    ads_by_status: "Ads by status", "Annonser efter status";
    do_live: "Nothing to do.", "Inget att göra.";
    lacks_photos: "lacks photos that could not be fetched.", "saknar foton som inte kunde hämtas.";
    lack_photos: "lack photos that could not be fetched.", "saknar foton som inte kunde hämtas.";
    do_partly_live: "Open the ad: it says which marketplace lacks it, and why.", "Öppna annonsen: där står vilken marknadsplats som saknar den, och varför.";
    do_hidden: "Choose Publish in the ad when buyers may see it.", "Välj Publicera i annonsen när köpare får se den.";
    do_processing: "The service is working on it.", "Tjänsten arbetar med den.";
    do_waiting: "The service tries again by itself. The ad says who can help.", "Tjänsten försöker igen av sig själv. Annonsen säger vem som kan hjälpa till.";
    do_failed: "Open the ad, correct the cause, and retry.", "Öppna annonsen, åtgärda orsaken och försök igen.";
    do_deleted: "Nothing to do.", "Inget att göra.";
    failures: "Failures by cause", "Fel efter orsak";
    no_failures: "No ad has a failure.", "Ingen annons har något fel.";
    failure_image_failed: "A photo could not be fetched", "Ett foto kunde inte hämtas";
    helps_image_failed: "Replace the photo, or make it available at its address and retry.",
        "Byt ut fotot, eller gör det tillgängligt på sin adress och försök igen.";
    failure_image_store: "Photos could not be stored", "Foton kunde inte sparas";
    helps_image_store: "Retry later. If it fails again, the operator has to look at the image store.",
        "Försök igen senare. Om det misslyckas igen måste den driftansvarige se till bildlagret.";
    failure_quota: "A quota is used up", "En kvot är förbrukad";
    helps_quota: "Delete ads that are sold, or ask the operator for a higher quota.",
        "Ta bort sålda annonser, eller be den driftansvarige om en högre kvot.";
    failure_held: "Not published because a photo is missing", "Inte publicerad eftersom ett foto saknas";
    helps_held: "Replace the photo, or allow publication without it.",
        "Byt ut fotot, eller tillåt publicering utan det.";
    failure_slots: "Waits for a free slot", "Väntar på en ledig plats";
    helps_slots: "Hide or delete another ad, or ask the operator for more slots: the ad is then published by itself.",
        "Dölj eller ta bort en annan annons, eller be den driftansvarige om fler platser: då publiceras annonsen av sig själv.";
    failure_refused: "Refused by the marketplace", "Avvisad av marknadsplatsen";
    helps_refused: "Edit the ad, and correct what the marketplace gives as its reason.",
        "Ändra annonsen och rätta det som marknadsplatsen anger som orsak.";
    marketplace_says: "The marketplace says:", "Marknadsplatsen svarar:";
    failure_unreachable: "The marketplace does not answer", "Marknadsplatsen svarar inte";
    failure_busy: "The marketplace is busy", "Marknadsplatsen är upptagen";
    helps_later: "Retry later.", "Försök igen senare.";
    failure_credentials: "The marketplace rejects the service's credentials", "Marknadsplatsen godtar inte tjänstens inloggning";
    helps_credentials: "Correct the credentials; retry afterwards.", "Rätta inloggningen; försök igen därefter.";
    failure_not_listed: "Not listed, so not promoted", "Inte publicerad, därför inte lyft";
    helps_not_listed: "Retry publishes the ad; promote it again then.", "Försök igen publicerar annonsen; lyft den igen därefter.";
    failure_paused: "The operator has paused the marketplace", "Den driftansvarige har pausat marknadsplatsen";
    helps_paused: "Wait: the service goes on by itself after the pause.", "Vänta: tjänsten fortsätter av sig själv efter pausen.";
    failure_given_up: "Stopped by the operator", "Stoppad av den driftansvarige";
    helps_given_up: "Retry, or ask the operator for the reason.", "Försök igen, eller fråga den driftansvarige om orsaken.";
    marketplaces: "Marketplaces", "Marknadsplatser";
    working: "Working", "Fungerar";
    retrying: "Ads are being retried", "Nya försök pågår";
    breaker_open: "Calls are paused", "Anrop pausade";
    breaker_open_means: "The marketplace kept failing. The service calls it again in a moment; ads wait and lose no attempt.",
        "Marknadsplatsen har svarat fel flera gånger. Tjänsten anropar den snart igen; annonserna väntar och förlorar inga försök.";
    under_way: "Under way", "Pågår";
    nothing_under_way: "Nothing is under way.", "Inget pågår.";
    published_by_hour: "Published by hour", "Publicerade per timme";
    in_24_hours: "publications in the last 24 hours", "publiceringar de senaste 24 timmarna";
    as_table: "As a table", "Som tabell";
    hour: "Hour", "Timme";
    published: "Published", "Publicerade";
    events: "Latest events", "Senaste händelser";
    no_events: "No events yet.", "Inga händelser än.";

    // Stock.
    ad: "Ad", "Annons";
    ad_one: "ad", "annons";
    ads: "ads", "annonser";
    photo: "Photo", "Foto";
    photos: "Photos", "Foton";
    photo_one: "photo", "foto";
    photos_many: "photos", "foton";
    do_wait: "Wait: the service tries again by itself.", "Vänta: tjänsten försöker igen av sig själv.";
    do_publish: "Publish the ad with Retry.", "Publicera annonsen med Försök igen.";
    photo_failed: "Failed: photo", "Misslyckades: foto";
    photos_failed: "Failed: photos", "Misslyckades: foton";
    no_photo: "No photo", "Inget foto";
    plate: "Plate", "Reg.nr";
    price: "Price", "Pris";
    no_price: "No price", "Inget pris";
    call_for_price: "Call for the price", "Ring för pris";
    per_month: "/month", "/månad";
    price_history: "Prices over time", "Priser över tid";
    price_now: "now", "nu";
    lowest_30_days: "Lowest price of the last 30 days", "Lägsta pris de senaste 30 dagarna";
    reference_price: "Lowest price of the 30 days before the reduction", "Lägsta pris de 30 dagarna före nedsättningen";
    quality: "Quality", "Kvalitet";
    findings: "Findings", "Anmärkningar";
    sek: "SEK", "kr";
    age: "In stock", "I lager";
    minutes: "min", "min";
    hours: "h", "tim";
    days: "days", "dagar";
    view: "View", "Vy";
    table: "Table", "Tabell";
    cards: "Cards", "Kort";
    search: "Search", "Sök";
    search_hint: "Plate, title, your number", "Reg.nr, rubrik, ert nummer";
    all: "All", "Alla";
    vehicle_type: "Vehicle type", "Fordonstyp";
    below_good: "Below 50", "Under 50";
    below_excellent: "Below 80", "Under 80";
    order: "Order", "Ordning";
    newest_first: "Newest first", "Nyast först";
    oldest_first: "Oldest first", "Äldst först";
    changed_first: "Last changed first", "Senast ändrad först";
    changed_last: "Last changed last", "Senast ändrad sist";
    by_source_id: "Your number, A to Z", "Ert nummer, A till Ö";
    by_source_id_reversed: "Your number, Z to A", "Ert nummer, Ö till A";
    reset: "Reset", "Återställ";
    currency: "Currency", "Valuta";
    days_in_stock: "Days in stock", "Dagar i lager";
    longer_than: "more than", "mer än";
    export_csv: "Download as CSV", "Ladda ner som CSV";
    export_xlsx: "Download for Excel", "Ladda ner till Excel";
    in_stock_since: "In stock since", "I lager sedan";
    leasing_price: "Leasing price", "Leasingpris";
    monthly_price: "Monthly price", "Månadspris";
    reduced_price: "Reduced price", "Nedsatt pris";
    menu: "Menu", "Meny";
    more_filters: "More filters", "Fler filter";
    no_ads_found: "No ads match.", "Inga annonser matchar.";
    with_selected: "With selected ads", "Med valda annonser";
    selected: "selected", "valda";
    select: "Select", "Välj";
    more_to_do: "More", "Mer";
    select_all: "Select all", "Välj alla";

    // One change of many ads.
    change_price: "Change price", "Ändra pris";
    change_price_does: "The next page shows the old and the new price of each ad. Nothing changes before you confirm it there.",
        "Nästa sida visar gammalt och nytt pris för varje annons. Inget ändras innan du bekräftar där.";
    change_by: "Change by", "Ändra med";
    change_by_help: "-5 makes prices lower, 5 makes them higher. Leasing and monthly prices stay as they are.",
        "-5 sänker priserna, 5 höjer dem. Leasing- och månadspriser ändras inte.";
    unit_of_change: "Unit", "Enhet";
    amount_in_currency: "kronor (or the currency of the price)", "kronor (eller prisets valuta)";
    round_to: "Round to", "Avrunda till";
    no_rounding: "No rounding", "Ingen avrundning";
    preview_changes: "Show what changes", "Visa vad som ändras";
    write_a_number: "Write a number, such as -5 or 2,5.", "Skriv ett tal, till exempel -5 eller 2,5.";
    percent_out_of_range: "Write a percentage that is more than -100 and at most 1000, and not 0.",
        "Skriv en procentsats som är mer än -100 och högst 1000, och inte 0.";
    amount_out_of_range: "Write an amount of at most 1 000 000 000 000 with at most two decimals, and not 0.",
        "Skriv ett belopp på högst 1 000 000 000 000 med högst två decimaler, och inte 0.";
    one_dealer_at_a_time: "Choose ads of one dealer at a time.", "Välj annonser från en handlare i taget.";
    all_matching: "All that match", "Alla som matchar";
    bulk_changes: "Changes of many ads", "Ändringar av många annonser";
    no_bulk_changes: "There are none. Tick ads in the stock, and choose what to change.", "Det finns inga. Kryssa i annonser i lagret och välj vad som ska ändras.";
    preview_of_changes: "What changes", "Vad som ändras";
    other_kind_of_price: "Another kind of price than before", "Ett annat slags pris än förut";
    much_higher: "higher. Is that right?", "högre. Stämmer det?";
    much_lower: "lower. Is that right?", "lägre. Stämmer det?";
    plan_close: "Close", "Stäng";
    take_back: "Take back", "Ta tillbaka";
    take_back_does: "The next page shows what each ad had before.", "Nästa sida visar vad varje annons hade förut.";
    nothing_to_take_back: "All of these ads have been changed since, so that nothing is taken back.",
        "Alla de här annonserna har ändrats sedan dess, så inget tas tillbaka.";
    was_hidden: "hidden", "dold";
    was_shown: "shown to buyers", "visas för köpare";
    left_changed: "Not taken back, because they have been changed since", "Tas inte tillbaka, för de har ändrats sedan dess";
    left_new: "New ads of the change, which stay as they are", "Nya annonser från ändringen, som blir kvar";
    taken_back: "Taken back", "Tillbakatagen ändring";
    plan_partly: "Partly done", "Delvis klart";
    nothing_was_changed: "Nothing was changed", "Inget ändrades";
    changes_made: "What was changed", "Vad som ändrades";
    apply_changes: "Make the changes", "Gör ändringarna";
    cancel: "Cancel", "Avbryt";
    stop: "Stop", "Stoppa";
    progress: "Progress", "Förlopp";
    many_are_hidden: "Many ads leave the marketplaces. Yes, hide them all:", "Många annonser försvinner från marknadsplatserna. Ja, dölj alla:";
    plan_computing: "Being compared", "Jämförs";
    plan_ready: "Not made yet", "Inte gjort än";
    plan_applying: "Being made", "Görs";
    plan_cancelled: "Cancelled", "Avbrutet";
    plan_create: "are new", "är nya";
    plan_update: "change", "ändras";
    plan_hide: "are hidden", "döljs";
    plan_unchanged: "stay as they are", "blir som de är";
    plan_unchanged_why: "Ads that stay as they are have this already, or lack what would change, such as a price. They are not listed.",
        "Annonser som blir som de är har det redan, eller saknar det som skulle ändras, till exempel ett pris. De visas inte i listan.";
    plan_of_stock: "Stock from a file or a system", "Lager från en fil eller ett system";
    plan_invalid: "not possible", "kan inte användas";
    plan_done: "done", "klara";
    plan_failed: "failed", "misslyckade";
    plan_conflict: "changed meanwhile by others, and left", "ändrade av andra under tiden, och orörda";
    plan_conflict_one: "Changed by others, left", "Ändrad av andra, orörd";

    plan_delete: "are deleted", "raderas";
    plan_revive: "come back", "kommer tillbaka";
    plan_new_ad: "New ad", "Ny annons";
    plan_of_all: "All", "Alla";
    plan_row: "Row", "Rad";
    plan_same_plate: "Another ad has the same plate:", "En annan annons har samma registreringsnummer:";
    plan_nothing: "Nothing changes: your stock is as the file says.", "Inget ändras: lagret är redan så som filen säger.";
    plan_invalid_stay: "Rows that cannot be used are left out. Correct them in your file and send it again, or correct the columns.",
        "Rader som inte går att använda utelämnas. Rätta dem i filen och skicka den igen, eller rätta kolumnerna.";
    plan_publishes: "New ads are shown on the marketplaces at once.", "Nya annonser visas på marknadsplatserna på en gång.";
    plan_columns: "Correct the columns", "Rätta kolumnerna";
    cannot_be_read: "cannot be read. Correct the cell, or empty it.", "går inte att läsa. Rätta cellen, eller töm den.";
    in_another_row: "is in another row too.", "finns på en annan rad också.";

    // A stock file.
    import: "Import", "Importera";
    import_lead: "Your stock as a file from Excel, or from the system that you use. You see what it changes before anything changes.",
        "Ert lager som en fil från Excel eller från systemet som ni använder. Du ser vad den ändrar innan något ändras.";
    stock_file: "File with your stock", "Fil med ert lager";
    stock_file_help: "Excel (.xlsx), OpenDocument (.ods) or CSV, at most 4 MB. The first row has the names of the columns, and each further row a vehicle.",
        "Excel (.xlsx), OpenDocument (.ods) eller CSV, högst 4 MB. Första raden har kolumnernas namn, och varje rad därunder ett fordon.";
    read_file: "Read the file", "Läs filen";
    import_steps: "Next you say what the columns mean, once: the next file with the same columns needs no answers. The file is removed after a day.",
        "Sedan säger du vad kolumnerna betyder, en gång: nästa fil med samma kolumner behöver inga svar. Filen tas bort efter ett dygn.";
    import_own: "Download your stock for Excel to start from", "Ladda ner ert lager till Excel att utgå från";
    import_for_whom: "Whose stock is it?", "Vems lager är det?";
    no_file_chosen: "Choose a file first.", "Välj en fil först.";
    file_too_large: "The file is too large: at most 4 MB. Leave out sheets and pictures, or send the rows in two files.",
        "Filen är för stor: högst 4 MB. Ta bort blad och bilder, eller skicka raderna i två filer.";
    file_is_empty: "The file has no rows. Is it the right one, and the right sheet first?", "Filen har inga rader. Är det rätt fil, och rätt blad först?";
    file_is_no_table: "The file is no table: it has no columns. Save it as Excel or CSV, with a row for each vehicle.",
        "Filen är ingen tabell: den har inga kolumner. Spara den som Excel eller CSV, med en rad för varje fordon.";
    file_has_too_many_columns: "The file has too many columns: at most", "Filen har för många kolumner: högst";
    file_not_readable: "The file cannot be read as a table. Open it in Excel, save it as .xlsx, and send that.",
        "Filen går inte att läsa som en tabell. Öppna den i Excel, spara den som .xlsx och skicka den.";
    file_is_pdf: "A PDF is not a table and cannot be imported. Ask for the list as Excel (.xlsx) or CSV.",
        "En PDF är ingen tabell och kan inte importeras. Be om listan som Excel (.xlsx) eller CSV.";
    file_is_gone: "The file is no longer here: it is removed after a day, or when you send several others. Send it again.",
        "Filen finns inte kvar: den tas bort efter ett dygn, eller när du skickar flera andra. Skicka den igen.";
    too_many_plans: "Three comparisons wait already. Make their changes, or cancel them, and try again.",
        "Tre jämförelser väntar redan. Gör deras ändringar eller avbryt dem, och försök igen.";
    too_large_to_send: "That is too large to be sent. At most, in MB:", "Det är för stort att skicka. Högst, i MB:";
    what_columns_mean: "What do the columns mean?", "Vad betyder kolumnerna?";
    columns_lead: "Look through the columns, correct what is wrong, and compare.", "Titta igenom kolumnerna, rätta det som är fel och jämför.";
    columns: "Columns", "Kolumner";
    columns_not_possible: "These choices do not fit together. Choose something else for the column that you changed last.",
        "De valen går inte ihop. Välj något annat för kolumnen som du ändrade sist.";
    column_is_empty: "Empty", "Tom";
    column_not_used: "Not used", "Används inte";
    column_perhaps: "Perhaps", "Kanske";
    row_one: "row", "rad";
    rows: "rows", "rader";
    vehicle_type_of_rows: "All rows are", "Alla rader är";
    show_its_fields: "Show its columns", "Visa dess kolumner";
    unknown_values: "Words that are not known", "Ord som inte är kända";
    unknown_values_lead: "What do they mean? What you leave open makes its rows unusable.", "Vad betyder de? Det du lämnar öppet gör att raderna inte går att använda.";
    value_unknown: "I do not know", "Vet inte";
    values_to_answer: "Some words in the file are not known. Say what they mean, and compare again.",
        "Några ord i filen är inte kända. Säg vad de betyder, och jämför igen.";
    skip_sold: "Leave out rows where", "Utelämna rader där";
    is_value: "is", "är";
    is_not: "is not", "inte är";
    missing_ads: "Ads that are not in the file", "Annonser som inte finns i filen";
    missing_keep: "Leave them as they are", "Låt dem vara som de är";
    missing_hide: "Hide them: the file has all that we sell", "Dölj dem: filen har allt som vi säljer";
    compare: "Compare with the stock", "Jämför med lagret";
    compare_does: "Nothing changes yet. Empty cells, and what the file has no column for, stay as they are in your ads.",
        "Inget ändras än. Tomma celler, och det som filen saknar kolumn för, blir kvar som det är i era annonser.";
    other_file: "Another file", "En annan fil";

    // What is done with ads.
    retry: "Retry", "Försök igen";
    retry_does: "Runs the steps that failed again: photos, publishing, deletion. If nothing has failed, publishes again.",
        "Gör om de steg som misslyckades: foton, publicering, borttagning. Om inget har misslyckats publiceras annonsen igen.";
    bump: "Bump", "Förnya";
    bump_does: "Each ad appears as new on its marketplaces, as far as the dealer has the permission. You see what it costs before it is ordered.",
        "Varje annons visas som ny på sina marknadsplatser, i den mån handlaren har behörighet. Du ser vad det kostar innan det beställs.";
    may_bump_on: "may bump on:", "får förnya på:";
    nowhere: "no marketplace", "ingen marknadsplats";
    for_each_marketplace: "for each ad and marketplace", "för varje annons och marknadsplats";
    for_each_ad: "for each ad", "för varje annons";
    at_most: "at most", "högst";
    left_this_month: "are left this month", "är kvar den här månaden";
    pole_position: "Pole position", "Toppläge";
    pole_position_does: "Each ad appears first on the primary marketplace for 3 days. You see what it costs before it is ordered.",
        "Varje annons visas först på den primära marknadsplatsen i 3 dagar. Du ser vad det kostar innan det beställs.";
    show_ad: "Publish", "Publicera";
    show_ad_does: "Shows the ad on the marketplaces.", "Visar annonsen på marknadsplatserna.";
    hide_ad: "Hide", "Dölj";
    hide_ad_does: "Takes the ad off the marketplaces and keeps it.", "Tar bort annonsen från marknadsplatserna och behåller den.";
    sold: "Sold", "Såld";
    sold_does: "Takes each ad off the marketplaces at once. You can undo that with “Not sold after all” on its page.",
        "Varje annons försvinner från marknadsplatserna på en gång. Det går att ångra med ”Inte såld ändå” på dess sida.";
    sold_deleted_in: "It will be deleted after", "Den tas bort helt efter";
    sold_deleted_on: "that is, on", "alltså den";
    sold_stays: "It stays hidden until you delete it.", "Den förblir dold tills du tar bort den.";
    only_hide: "Only hide it for now", "Dölj den bara så länge";
    unsold: "Not sold after all", "Inte såld ändå";
    unsold_does: "Shows the ad on the marketplaces again.", "Visar annonsen på marknadsplatserna igen.";
    is_sold: "Sold.", "Såld.";
    is_deleted_at: "The ad will be deleted on", "Annonsen kommer att tas bort den";
    copy_ad: "Copy as new ad", "Kopiera till ny annons";
    copy_of: "A copy, without plate, VIN and your number, of", "En kopia, utan registreringsnummer, chassinummer och ert nummer, av";
    delete_ad: "Delete for good", "Ta bort för gott";
    delete_ad_does: "Takes each ad off the marketplaces for good. Your number for it cannot be used again.",
        "Tar bort varje annons från marknadsplatserna för gott. Ert nummer för den kan inte användas igen.";
    nothing_selected: "No ad is selected.", "Ingen annons är vald.";
    accepted: "Accepted", "Mottaget";
    on_its_way: "The page shows when it is done.", "Sidan visar när det är klart.";
    done_bump: "The ad is bumped.", "Annonsen är förnyad.";
    soon_bump: "The bump is ordered.", "Förnyelsen är beställd.";
    done_pole_position: "The ad has pole position.", "Annonsen har toppläge.";
    soon_pole_position: "Pole position is ordered.", "Toppläget är beställt.";
    done_show: "The ad is published.", "Annonsen är publicerad.";
    soon_show: "The ad is being published.", "Annonsen publiceras.";
    done_hide: "The ad is hidden from buyers.", "Annonsen är dold för köpare.";
    soon_hide: "The ad is being taken off the marketplaces.", "Annonsen tas bort från marknadsplatserna.";
    done_sold: "Marked as sold, and taken off the marketplaces.", "Markerad som såld och borttagen från marknadsplatserna.";
    soon_sold: "Marked as sold. It is being taken off the marketplaces.", "Markerad som såld. Den tas bort från marknadsplatserna.";
    done_unsold: "Not sold after all: the ad is published again.", "Inte såld ändå: annonsen är publicerad igen.";
    soon_unsold: "Not sold after all: the ad is being published again.", "Inte såld ändå: annonsen publiceras igen.";
    done_delete: "The ad is deleted.", "Annonsen är borttagen.";
    soon_delete: "The ad is being deleted.", "Annonsen tas bort.";
    done_retry: "Tried again: it succeeded.", "Nytt försök: det lyckades.";
    soon_retry: "Trying again.", "Försöker igen.";
    failed_retry: "Tried again: it failed again, for the reason below.", "Nytt försök: det misslyckades igen, av orsaken nedan.";
    restored_version: "The version of", "Versionen från";
    is_restored: "is restored:", "är återställd:";
    is_being_restored: "is being restored:", "återställs:";
    restore_failed: "It is saved, but could not be published: see below.", "Det är sparat, men kunde inte publiceras: se nedan.";
    saved_but_failing: "Saved, but the ad is not published yet: see below.", "Sparat, men annonsen är inte publicerad än: se nedan.";
    saved: "Saved.", "Sparat.";
    saved_as_draft: "Saved as a draft. Buyers do not see it before you publish it.", "Sparat som utkast. Köpare ser det inte innan du publicerar det.";
    more: "More", "Fler";
    refused: "Refused", "Avvisat";

    // An ad.
    since: "Since", "Sedan";
    attempts: "Failed attempts", "Misslyckade försök";
    next_attempt: "next attempt", "nästa försök";
    listing: "Listing", "Annons-id";
    bumped: "Bumped", "Förnyad";
    next_bump: "Next bump by schedule", "Nästa förnyelse enligt schema";
    perhaps_bump: "Perhaps bumped by schedule", "Förnyas kanske enligt schema";
    schedule_takes: "it takes at most", "det tar högst";
    pole_position_until: "Pole position until", "Toppläge till";
    pole_position_ended: "Pole position ended", "Toppläget slutade";
    perhaps_pole_position: "Perhaps a pole position by schedule", "Kanske toppläge enligt schema";
    next_pole_position: "Next pole position by schedule", "Nästa toppläge enligt schema";
    source_id: "Your number", "Ert nummer";
    visible: "Visible", "Synlig";
    created: "Created", "Skapad";
    updated: "Changed", "Ändrad";
    photo_undecodable: "Not readable", "Går inte att läsa";
    photo_repeated: "Shown twice", "Visas två gånger";
    photo_small: "Too small", "För litet";
    photo_upright: "Upright: lists crop it", "På höjden: listor beskär det";
    photo_dark: "Dark", "Mörkt";
    photo_blurred: "Blurred", "Oskarpt";
    photo_in_other_ad: "In another ad too", "Finns även i en annan annons";
    former_photo: "A photo that the ad no longer has", "Ett foto som annonsen inte längre har";
    no_photos: "The ad has no photos.", "Annonsen har inga foton.";
    first_photo: "First photo", "Första fotot";
    warning: "Warning", "Varning";
    hint: "Hint", "Tips";
    all_goals_met: "All goals are met.", "Alla mål är uppfyllda.";
    would_raise_score: "What would raise the score", "Vad som höjer poängen";
    goals_met: "Goals met", "Uppfyllda mål";
    timeline: "Timeline", "Tidslinje";
    changed: "Changed", "Ändrat";
    field: "Field", "Fält";
    before: "Before", "Före";
    after: "After", "Efter";
    changes_left_out: "Further fields, which are not kept", "Ytterligare fält, som inte sparas";
    older_left_out: "Older entries are in the ad's log.", "Äldre rader finns i annonsens logg.";
    waits_for: "for", "på";
    by: "by", "av";
    via_api: "through the API", "via API:et";
    via_console: "in the console", "i konsolen";
    via_command_line: "on the command line", "på kommandoraden";
    restore_version: "Restore this version", "Återställ den här versionen";
    restore_question: "Restore the version of", "Återställ versionen från";
    restore_does: "This is what changes in the ad:", "Det här ändras i annonsen:";
    restore_nothing: "The ad is like this version already. Nothing would change.",
        "Annonsen är redan som den här versionen. Inget skulle ändras.";
    restore_hides: "The ad would be taken off the marketplaces, because it was hidden then.",
        "Annonsen skulle tas bort från marknadsplatserna, eftersom den var dold då.";
    restore_shows: "The ad would be published on the marketplaces, because it was visible then.",
        "Annonsen skulle publiceras på marknadsplatserna, eftersom den var synlig då.";
    as_it_was: "As it was then", "Som den var då";
    version_of: "The ad as of", "Annonsen från";
    start_of_ad: "the beginning", "början";
    payload: "Data of the ad (JSON)", "Annonsens data (JSON)";
    requests_of_ad: "Requests and revisions", "Begäranden och revisioner";
    revision: "revision", "revision";
    payload_is: "As the API answers to", "Så som API:et svarar på";
    preview: "Preview", "Förhandsvisning";
    phone: "Phone", "Telefon";

    // New ads and changes of ads.
    new_ad: "New ad", "Ny annons";
    choose_type: "What do you sell?", "Vad säljer du?";
    edit: "Edit", "Ändra";
    save: "Save", "Spara";
    edit_ad: "Edit the ad", "Ändra annonsen";
    replace_photo: "Replace the photo", "Byt ut fotot";
    groups_of_form: "Groups of this form", "Formulärets delar";
    check: "Check", "Kontrollera";
    required: "required", "obligatoriskt";
    unit: "unit", "enhet";
    one_per_line: "One per line", "En per rad";
    assessment: "Check", "Kontroll";
    not_checked: "What is missing is said here as you type.", "Här står vad som saknas medan du skriver.";
    save_draft: "Save as draft", "Spara som utkast";
    draft_is_hidden: "A draft is not shown to buyers. You publish it on the next page.", "Ett utkast visas inte för köpare. Du publicerar det på nästa sida.";
    did_you_mean: "Did you mean:", "Menade du:";
    one_more: "One more", "En till";
    read_as: "Read as", "Läst som";
    from_register: "from the vehicle register", "från fordonsregistret";
    filled_from_register: "Filled in from the vehicle register", "Ifyllt från fordonsregistret";
    not_in_register: "The vehicle register has nothing more about this plate.", "Fordonsregistret har inget mer om det här registreringsnumret.";
    look_up: "Fill in", "Fyll i";
    no_date: "There is no such date.", "Det datumet finns inte.";
    changed_by_two: "Somebody else has changed this too. Which one is right?", "Någon annan har också ändrat det här. Vilket är rätt?";
    your_value: "Yours", "Ditt";
    other_value: "Theirs, saved now", "Det andra, sparat nu";
    choose_values: "You and somebody else have changed the same. Choose at", "Du och någon annan har ändrat samma sak. Välj vid";
    changed_by_others: "Changed by somebody else meanwhile, and kept", "Ändrat av någon annan under tiden, och behållet";
    changed_meanwhile: "The ad was changed at this moment. Press the button again.", "Annonsen ändrades just nu. Tryck på knappen igen.";
    is_there_already: "is there already:", "finns redan:";
    number_is_used: "Your number is used by another ad. Write another one.", "Ert nummer används av en annan annons. Skriv ett annat.";
    restored: "What you had written is here again.", "Det du hade skrivit finns kvar här.";
    discard: "Remove it", "Ta bort det";
    cannot_check: "Cannot be checked now: the server does not answer.", "Kan inte kontrolleras nu: servern svarar inte.";
    sent_again: "The server does not answer. What you have written stays here and is sent again.",
        "Servern svarar inte. Det du har skrivit finns kvar här och skickas igen.";
    signed_out: "You are signed out. What you have written stays here: sign in in a new tab, and press the button again.",
        "Du är utloggad. Det du har skrivit finns kvar här: logga in i en ny flik och tryck på knappen igen.";

    // Photos.
    add_photos: "Add photos", "Lägg till foton";
    choose_photos: "Choose photos", "Välj foton";
    take_photo: "Take a photo", "Ta ett foto";
    drop_photos: "Or drop them here: JPEG or PNG, at most 15 MB each, 20 in all.", "Eller släpp dem här: JPEG eller PNG, högst 15 MB var, 20 sammanlagt.";
    photo_addresses: "Addresses of photos on the web, one per line", "Adresser till foton på webben, en per rad";
    earlier: "move earlier", "flytta framåt";
    later: "move later", "flytta bakåt";
    make_first: "make it the first", "gör till första";
    remove: "remove", "ta bort";
    removed: "removed", "borttaget";
    now_number: "is now number", "är nu nummer";
    photo_not_sent: "Not sent: the connection broke. Remove it and choose it again.", "Inte skickat: anslutningen bröts. Ta bort det och välj det igen.";
    not_a_photo: "not a photo in JPEG or PNG", "inget foto i JPEG eller PNG";
    photo_too_large: "larger than 15 MB", "större än 15 MB";
    no_photo_chosen: "No photo was chosen.", "Inget foto valdes.";
    photos_need_https: "Photos cannot be sent to this service, because its public address does not begin with https. Ask the operator.",
        "Foton kan inte skickas till tjänsten, eftersom dess publika adress inte börjar med https. Fråga den driftansvarige.";
    photo_quota: "The space for your photos is used up. Delete ads that are sold, or ask the operator.",
        "Utrymmet för era foton är förbrukat. Ta bort sålda annonser, eller fråga den driftansvarige.";
    too_many_photos: "There are too many photos that no ad uses. They are removed after a day.",
        "Det finns för många foton som ingen annons använder. De tas bort efter ett dygn.";
    try_again_soon: "The photo could not be stored. Try again in a moment.", "Fotot kunde inte sparas. Försök igen om en stund.";

    // Publication.
    publish: "Publish", "Publicera";
    publish_does: "The ad is shown on the marketplaces as soon as the service has sent it to them.",
        "Annonsen visas på marknadsplatserna så snart tjänsten har skickat den dit.";
    not_yet: "Not yet", "Inte än";
    missing: "What is missing", "Det här saknas";
    nothing_missing: "Nothing important is missing", "Inget viktigt saknas";
    publish_anyway: "You can publish it nevertheless, and add it later.", "Du kan publicera ändå, och lägga till det senare.";
    missing_photos: "Photos. Hardly anybody looks at an ad without.", "Foton. Nästan ingen tittar på en annons utan.";
    missing_price: "A price.", "Ett pris.";
    missing_brand: "The brand.", "Märket.";
    missing_text: "A description.", "En beskrivning.";
    can_be_saved: "Can be saved", "Kan sparas";
    not_saved: "Not saved", "Inte sparat";
    still_missing: "Still missing", "Saknas ännu";
    to_correct: "To correct", "Att rätta";
    warnings: "Warnings", "Varningar";
    section_vehicle: "Vehicle", "Fordon";
    section_more: "More about the vehicle", "Mer om fordonet";
    section_powertrain: "Engine and drive", "Motor och drivning";
    section_environment: "Consumption and emissions", "Förbrukning och utsläpp";
    section_condition: "Condition, wheels and history", "Skick, hjul och historik";
    section_price: "Price", "Pris";
    section_leasing: "Leasing", "Leasing";
    section_photos: "Photos", "Foton";
    section_texts: "Description", "Beskrivning";
    section_terms: "Terms and links", "Villkor och länkar";
    section_dimensions: "Dimensions and weights", "Mått och vikter";
    section_contact: "Contact", "Kontakt";
    section_publication: "Place, seller, publication", "Plats, säljare, publicering";

    // Pasted ads.
    paste: "Paste JSON", "Klistra in JSON";
    paste_lead: "Paste ads as JSON or NDJSON, or drop a file. They are checked line by line; then you create those that are valid.",
        "Klistra in annonser som JSON eller NDJSON, eller släpp en fil. De kontrolleras rad för rad; sedan skapar du de giltiga.";
    paste_tables: "A spreadsheet goes in by", "Ett kalkylblad tas in med";
    paste_many: "For files with many ads, run", "För filer med många annonser, kör";
    paste_too_many: "The maximum number of ads is", "Högsta antal annonser är";
    json_of_ads: "Ads as JSON or NDJSON", "Annonser som JSON eller NDJSON";
    file: "File", "Fil";
    create_valid: "Create the valid ads", "Skapa de giltiga annonserna";
    created_so_far: "Created so far", "Skapade hittills";
    report: "Report", "Rapport";
    line: "Line", "Rad";
    valid: "Valid", "Giltig";

    // Webhooks.
    webhook: "Webhook", "Webhook";
    webhooks: "Webhooks", "Webhookar";
    webhooks_lead: "Events are sent to these addresses, signed with a secret for each.", "Händelser skickas till dessa adresser, signerade med var sin hemlighet.";
    no_webhooks: "There are no webhooks.", "Det finns inga webhookar.";
    new_webhook: "New webhook", "Ny webhook";
    to_webhook: "To the webhook", "Till webhooken";
    address: "Address", "Adress";
    event_types: "Event types", "Händelsetyper";
    event_types_help: "Separated by spaces, such as ad.publish.*; empty means everything that is done or has failed.",
        "Åtskilda av blanksteg, som ad.publish.*; tomt betyder allt som är klart eller har misslyckats.";
    description: "Description", "Beskrivning";
    secret: "Secret", "Hemlighet";
    secret_once: "Copy the secret now: it is not shown again.", "Kopiera hemligheten nu: den visas inte igen.";
    rotate_secret: "Replace the secret", "Byt hemlighet";
    enabled: "Enabled", "Aktiv";
    disabled: "Disabled", "Inaktiv";
    enable: "Enable", "Aktivera";
    enable_now: "Enable and skip what was missed", "Aktivera och hoppa över det som missats";
    disable: "Disable", "Inaktivera";
    send_test: "Send a test event", "Skicka en testhändelse";
    delete_webhook: "Delete the webhook", "Ta bort webhooken";
    delete_webhook_does: "Its deliveries are deleted too, and nothing more is sent.", "Dess leveranser tas också bort, och inget mer skickas.";
    change: "Change", "Ändra";
    done: "Done", "Klart";
    pending: "Pending", "Väntande";
    delivered: "Delivered", "Levererad";
    disabled_requested: "by request", "på begäran";
    disabled_gone: "the receiver answered 410", "mottagaren svarade 410";
    disabled_failing: "no delivery has succeeded for long", "ingen leverans har lyckats på länge";
    webhook_unreadable: "cannot be sent: key", "kan inte skickas: nyckel";
    webhook_unreadable_does:
        "Nothing is sent to this webhook: no process of the service has the key that encrypted its secret. Ask the operator to give it the webhook_key with which the webhook was created. If that key is lost, create the webhook again.",
        "Inget skickas till denna webhook: ingen process i tjänsten har nyckeln som krypterade dess hemlighet. Be driften att ge den samma webhook_key som när webhooken skapades. Är nyckeln borta, skapa webhooken på nytt.";
    last_success: "Last success", "Senast lyckad";
    last_failure: "Last failure", "Senast misslyckad";
    deliveries: "Deliveries", "Leveranser";
    no_deliveries: "There are no deliveries.", "Det finns inga leveranser.";
    event: "Event", "Händelse";
    attempts_made: "Attempts", "Försök";
    answer: "Answer", "Svar";
    resend: "Resend", "Skicka igen";

    // Requests.
    request: "Request", "Begäran";
    requests: "Requests", "Begäranden";
    requests_lead: "Every answer of the API has an id in X-Request-Id. Look up what became of a request.",
        "Varje svar från API:et har ett id i X-Request-Id. Slå upp vad som blev av en begäran.";
    finished: "Finished", "Avslutad";
    what_happened: "What happened", "Vad som hände";

    // Developers.
    developers: "Developers", "Utvecklare";
    documents: "Documents", "Dokument";
    error_codes: "Error codes", "Felkoder";
    changelog: "Changelog", "Ändringslogg";
    first_request: "First request", "Första anropet";
    first_request_lead: "Put the token in the environment, and create an ad.", "Lägg token i miljön och skapa en annons.";
    sandbox: "Sandbox", "Sandlåda";
    sandbox_lead: "Your numbers of ads, and image names, that begin so make requests fail on purpose.",
        "Annonsernas egna nummer och bildnamn som börjar så får begäranden att misslyckas med flit.";
    trigger: "Trigger", "Utlösare";
    effect: "Effect", "Verkan";
    what_to_do: "What to do", "Vad du gör";
    label: "Label", "Etikett";
    name: "Name", "Namn";
    products: "Products", "Produkter";
    dealers: "Dealers", "Handlare";
    permissions: "Permissions", "Behörigheter";
    rate_limit: "Rate limit", "Anropsgräns";
    issued: "Issued", "Utfärdad";
    expires: "Expires", "Upphör";

    // Operators.
    operator: "Operator", "Driftansvarig";
    operators: "Operators", "Drift";
    queue: "Queue", "Kö";
    unfinished: "Unfinished requests", "Oavslutade begäranden";
    due_now: "Due now", "Kan göras nu";
    due: "Due", "På tur";
    blocked: "Blocked", "Blockerade";
    oldest: "Oldest", "Äldst";
    oldest_due: "Oldest due", "Äldst på tur";
    unread_events: "Events that nobody can read yet, since", "Händelser som ingen kan läsa än, sedan";
    open_transaction: "Open transaction that holds them up", "Öppen transaktion som hindrar dem";
    waiting_commits: "Writes that wait for the standby", "Skrivningar som väntar på standbydatabasen";
    reason: "Reason", "Orsak";
    code: "Code", "Kod";
    marketplaces_lead: "Ads of all dealers by their status on each marketplace. Paused: its circuit breaker is open, and calls wait.",
        "Alla handlares annonser efter status på varje marknadsplats. Pausad: kretsbrytaren är öppen och anrop väntar.";
    circuits: "Circuit breakers of this process", "Den här processens kretsbrytare";
    circuits_lead: "Other processes have their own.", "Andra processer har sina egna.";
    no_circuits: "This process calls no marketplace over HTTP.", "Den här processen anropar ingen marknadsplats över HTTP.";
    circuit_closed: "Closed: calls go through", "Sluten: anrop går fram";
    limits: "Limits met", "Nådda gränser";
    limits_lead: "Requests that a limit has refused since this process started: rates, quotas, and how much runs at once. Other processes have their own.",
        "Anrop som en gräns har avvisat sedan den här processen startade: anropsgränser, kvoter och hur mycket som körs samtidigt. Andra processer har sina egna.";
    no_limits: "No limit has refused a request.", "Ingen gräns har avvisat något anrop.";
    refusals: "Refused", "Avvisade";
    last_refusal: "Latest", "Senast";
    failed_ads: "Failed ads", "Misslyckade annonser";
    tokens: "Tokens", "Tokens";
    token_id: "Token id", "Token-id";
    scope: "Scope", "Omfång";
    revoked: "Revoked", "Återkallad";
    expired: "Expired", "Utgången";

    pause: "Pause", "Pausa";
    pause_does: "No server calls the marketplace any more, from within a second. Requests for it wait, and none is given up meanwhile.",
        "Ingen server anropar marknadsplatsen längre, inom en sekund. Begäranden för den väntar, och ingen ges upp under tiden.";
    resume: "Resume", "Återuppta";
    resume_does: "Servers call the marketplace again. Requests that have waited continue within a second.",
        "Servrarna anropar marknadsplatsen igen. Begäranden som har väntat fortsätter inom en sekund.";
    market_paused: "Paused by an operator", "Pausad av en driftansvarig";
    wait_for_pause: "Requests that wait for the end of a pause", "Begäranden som väntar på att en paus ska ta slut";
    reason_for_dealers: "Reason, which dealers see", "Orsak, som handlare ser";
    reason_missing: "Enter a reason.", "Ange en orsak.";
    operated: "Done. Servers follow within a second.", "Klart. Servrarna följer inom en sekund.";
    not_live_on: "Not live on", "Inte publicerad på";
    retry_matching: "Retry the ads that match", "Försök igen med annonserna som matchar";
    most_retries: "At most at once:", "Högst på en gång:";
    retried: "Will be retried", "Görs om";
    retried_already: "Retried already", "Görs redan om";
    not_retried: "Not retried, because deleted or with too many unfinished requests", "Görs inte om, eftersom borttagna eller med för många oavslutade begäranden";
    retry_more: "More ads may match: repeat it when these are done, or run `ad-server ads retry`.",
        "Fler annonser kan matcha: upprepa när dessa är klara, eller kör `ad-server ads retry`.";
    first_rows: "Shown are the first", "Här visas de första";
    narrow_filter: "Narrow the filter to see others.", "Begränsa filtret för att se andra.";
    no_rows: "Nothing to show.", "Inget att visa.";
    ads_heading: "Ads", "Annonser";
    suspend: "Suspend", "Stäng av";
    suspend_does: "Writes of the dealer are refused, except DELETE, from within a second. Its ads stay as they are, and accepted requests continue.",
        "Handlarens ändringar avvisas, utom DELETE, inom en sekund. Dess annonser blir kvar som de är, och mottagna begäranden fortsätter.";
    end_suspension: "End the suspension", "Häv avstängningen";
    end_suspension_does: "The dealer can change its ads again within a second.", "Handlaren kan ändra sina annonser igen inom en sekund.";
    suspended: "Suspended", "Avstängd";
    active: "Active", "Aktiv";
    not_imported: "Not imported", "Inte importerad";
    limits_of_dealer: "Limits", "Gränser";
    uses: "Uses", "Använder";
    number: "Number", "Antal";
    limit: "Limit", "Gräns";
    no_limit: "no limit", "ingen gräns";
    setting: "Setting", "Inställning";
    ads_not_deleted: "Ads that are not deleted", "Annonser som inte är borttagna";
    image_bytes: "Bytes of images", "Byte bilder";
    idempotency_keys: "Idempotency keys", "Idempotensnycklar";
    idempotency_bytes: "Bytes of their answers", "Byte svar till dem";
    last_used: "Last used", "Senast använd";
    revoke: "Revoke", "Återkalla";
    revoke_does: "Servers refuse the token within a second, and its sessions of the console end. This cannot be undone.",
        "Servrarna avvisar denna token inom en sekund, och dess sessioner i konsolen tar slut. Det går inte att ångra.";
    revoke_own: "It is the token that you have signed in with.", "Det är den token som du har loggat in med.";
    audit: "Audit log", "Granskningslogg";
    audit_lead: "What operators have done by commands and here: the latest 100 entries. All of them:",
        "Vad driftansvariga har gjort med kommandon och här: de senaste 100 raderna. Alla:";
    time: "Time", "Tid";
    act: "Act", "Åtgärd";
    subject: "Subject", "Gäller";
    erase: "Erase", "Radera";
    erase_lead: "Erases what a dealer wrote: contents of ads, images that no other ad shows, local listings, messages of logs. Count first.",
        "Raderar det som en handlare har skrivit: annonsers innehåll, bilder som ingen annan annons visar, lokala annonser, loggars meddelanden. Räkna först.";
    deleted_photos: "Photos of deleted ads", "Bilder i borttagna annonser";
    deleted_photos_stay: "They stay until the ads are erased.", "De finns kvar tills annonserna raderas.";
    deleted_photos_kept: "They are removed after days:", "De tas bort efter antal dagar:";
    deleted_photos_none: "No deleted ad has photos.", "Ingen borttagen annons har bilder.";
    deleted_photos_next: "The next ones are removed", "Nästa tas bort";
    deleted_photos_soon: "Removed within 30 days", "Tas bort inom 30 dagar";
    erase_source_id: "Your number, for one ad only", "Ert nummer, för bara en annons";
    would_be_erased: "Would be erased", "Skulle raderas";
    erase_does: "Ads that are not deleted are deleted first, and marketplaces take them down. Their numbers, times and the fact of the erasure stay. This cannot be undone.",
        "Annonser som inte är borttagna tas först bort, även från marknadsplatserna. Deras nummer, tider och att de har raderats finns kvar. Det går inte att ångra.";
    erase_confirm: "To confirm, type the dealer code", "Skriv handlarens kod för att bekräfta:";
    erase_mistyped: "Nothing was erased: the text is not the dealer code.", "Inget har raderats: texten är inte handlarens kod.";
    erase_continue: "Continue", "Fortsätt";
    erase_goes_on: "They are being deleted, or there are many. Continue until none is left.",
        "De håller på att tas bort, eller så är de många. Fortsätt tills inga är kvar.";
    erased: "Ads erased", "Raderade annonser";
    erased_before: "Erased before", "Raderade tidigare";
    erased_all: "Nothing is left to erase.", "Det finns inget kvar att radera.";
    erase_space: "Erased bytes stay in free space of the database file until it is rewritten, which this command does on SQLite:",
        "Raderade byte finns kvar i databasfilens lediga utrymme tills den skrivs om, vilket detta kommando gör på SQLite:";
    nothing_to_erase: "There is nothing to erase.", "Det finns inget att radera.";
    images_removed: "Images removed", "Borttagna bilder";
    not_deleted: "Not deleted yet", "Inte borttagna än";
    log_entries: "Log entries", "Loggrader";
    local_listings: "Local listings", "Lokala annonser";

    // Getting in.
    trusted_device: "This is my own device", "Det här är min egen enhet";
    trusted_device_help: "You stay signed in for 30 days. Elsewhere for 8 hours.", "Du är inloggad i 30 dagar. Annars i 8 timmar.";
    you_signed_out: "You are signed out.", "Du är utloggad.";
    access_is_over: "You are no longer signed in: the time is up, or your access was ended. Ask whoever invited you for a new link.",
        "Du är inte längre inloggad: tiden har gått ut, eller så har din åtkomst avslutats. Be den som bjöd in dig om en ny länk.";
    technical: "Technical", "Teknik";
    access: "Access", "Åtkomst";
    access_lead: "Invite others with a link, see who is signed in, and end it.",
        "Bjud in andra med en länk, se vilka som är inloggade och logga ut dem.";
    new_link: "New sign-in link", "Ny inloggningslänk";
    link_for: "For", "För";
    link_label: "Who is it for?", "Vem är den till?";
    link_label_help: "A name by which you recognize the person or the computer, such as Anna or Reception.",
        "Ett namn som du känner igen personen eller datorn på, till exempel Anna eller Receptionen.";
    link_label_missing: "Enter for whom the link is, in at most 100 characters.", "Ange vem länken är till, med högst 100 tecken.";
    link_permission_missing: "Choose at least one thing that the link permits.", "Välj minst en sak som länken tillåter.";
    link_dealer_unknown: "Enter the code of one dealer or of one dealer group that exists.",
        "Ange koden för en handlare eller en handlargrupp som finns.";
    too_many_links: "There are 100 links that have not been used. Withdraw one first.", "Det finns 100 oanvända länkar. Dra tillbaka en först.";
    may_do: "Rights", "Rättigheter";
    may_read: "see ads, their figures and the account", "se annonser, siffror och konto";
    may_write: "create, change and delete ads", "skapa, ändra och ta bort annonser";
    may_promote: "bump ads, which costs money", "förnya annonser, vilket kostar pengar";
    may_webhooks: "let other systems follow the ads", "låta andra system följa annonserna";
    may_access: "invite others and sign them out", "bjuda in andra och logga ut dem";
    all_of_group: "All dealers of the group", "Alla handlare i gruppen";
    make_link: "Make the link", "Skapa länken";
    link_shown_once: "Copy the link and send it to the person, or open a mail with it. It is shown this once.",
        "Kopiera länken och skicka den till personen, eller öppna ett mejl med den. Den visas bara nu.";
    copy: "Copy the link", "Kopiera länken";
    copied: "Copied", "Kopierad";
    link_once: "The link works once, within 24 hours.", "Länken fungerar en gång, inom 24 timmar.";
    link_mail: "With this link you sign in to the console for your ads:", "Med den här länken loggar du in i konsolen för era annonser:";
    send_by_mail: "Open a mail", "Öppna ett mejl";
    who_has_access: "Who has access", "Vilka som har åtkomst";
    nobody_has_access: "Nobody.", "Ingen.";
    given_by: "Invited by", "Inbjuden av";
    signed_in: "Signed in", "Inloggad";
    with_token: "with a token", "med en token";
    this_session: "(you, here)", "(du, här)";
    access_ended: "That access has ended.", "Den åtkomsten är avslutad.";
    link_not_used: "Link not used yet", "Länken är inte använd än";
    end_session: "Sign out", "Logga ut";
    withdraw_link: "Withdraw", "Dra tillbaka";

    // Money.
    account: "Account", "Konto";
    account_lead: "What promotions have cost this month, and what is left.", "Vad förnyelser och topplägen har kostat den här månaden, och vad som är kvar.";
    month: "Month", "Månad";
    day: "Day", "Dag";
    amount: "Amount", "Belopp";
    what: "What", "Vad";
    free: "free", "gratis";
    budget: "Budget", "Budget";
    spent: "Spent", "Förbrukat";
    reserved: "Under way", "Pågår";
    reserved_means: "Promotions under way are charged when the marketplace has confirmed them.", "Det som pågår debiteras när marknadsplatsen har bekräftat det.";
    left: "Left", "Kvar";
    limit_of_operator: "Most in a month, by agreement", "Högst per månad, enligt avtal";
    own_limit: "Your own limit", "Er egen gräns";
    own_limit_help: "Most that may be spent in each month. Empty: no limit of your own.", "Högst så mycket får förbrukas varje månad. Tomt: ingen egen gräns.";
    limit_saved: "Your own limit is saved.", "Er egen gräns är sparad.";
    not_an_amount: "Enter an amount, such as 1500, or nothing.", "Ange ett belopp, till exempel 1500, eller inget.";
    prices_now: "Prices", "Priser";
    slots: "Live ads", "Publicerade annonser";
    slots_used: "at the same time", "samtidigt";
    bumps_done: "Charged bumps", "Debiterade förnyelser";
    pole_positions_done: "Charged pole positions", "Debiterade topplägen";
    cost_by_day: "Cost by day", "Kostnad per dag";
    in_month: "in", "i";
    only_newest_charges: "There are many charges. By day and in the list are the newest", "Det finns många debiteringar. Per dag och i listan finns de senaste";
    charges: "Charges", "Debiteringar";
    no_charges: "There are no charges.", "Det finns inga debiteringar.";
    plate_or_id: "Plate or your number", "Reg.nr eller ert nummer";
    erased_ad: "Erased ad", "Raderad annons";
    charge_reserved: "Under way", "Pågår";
    charge_charged: "Charged", "Debiterad";
    charge_released: "Failed: costs nothing", "Misslyckades: kostar inget";

    // Money is shown before it is spent.
    sum: "Sum", "Summa";
    ago: "ago", "sedan";
    bumped_recently: "Last bump", "Senast förnyad";
    charged_again: "another one is charged again.", "en till debiteras igen.";
    more_than_left: "That is more than is left: what exceeds it is refused.", "Det är mer än vad som är kvar: det som överstiger avvisas.";
    not_sent: "Not included", "Tas inte med";
    nothing_to_promote: "None of these ads can be promoted now.", "Ingen av annonserna kan lyftas nu.";
    skip_hidden: "hidden", "dold";
    skip_deleted: "deleted", "borttagen";
    skip_not_published: "not published", "inte publicerad";
    skip_not_found: "does not exist", "finns inte";
    skip_not_permitted: "you may not promote it on its marketplaces", "du får inte lyfta den på dess marknadsplatser";
    skip_not_allowed: "not possible for this type of vehicle", "inte möjligt för den här fordonstypen";
    skip_suspended: "the dealer is suspended", "handlaren är avstängd";
    skip_pole_position: "has pole position already", "har redan toppläge";
    skip_already: "is being promoted already", "lyfts redan";
    skip_budget: "the budget is used up", "budgeten är slut";
    skip_quota: "too much is under way", "för mycket pågår";

    // Schedules.
    schedules: "Schedules", "Scheman";
    schedules_lead: "Have ads bumped at fixed times, without doing it yourself.", "Låt annonser förnyas på bestämda tider, utan att göra det själv.";
    no_schedules: "There are no schedules.", "Det finns inga scheman.";
    new_schedule: "New schedule", "Nytt schema";
    change_schedule: "Change the schedule", "Ändra schemat";
    delete_schedule: "Delete the schedule", "Ta bort schemat";
    delete_schedule_does: "It does not run any more, and the list of its runs is removed. What it has ordered stays ordered.",
        "Det körs inte mer, och listan över dess körningar tas bort. Det som redan är beställt ligger kvar.";
    resume_schedule: "Resume", "Återuppta";
    schedule_paused: "Paused", "Pausat";
    schedule_runs: "Active", "Aktivt";
    schedule_over: "Over", "Avslutat";
    schedule_over_means: "It does not run: it is paused, or its last day is over.", "Det körs inte: det är pausat, eller så har dess sista dag passerat.";
    too_many_schedules: "The dealer has as many schedules as it may have. Delete one of them first.",
        "Handlaren har så många scheman som är tillåtet. Ta bort ett av dem först.";
    schedule_saved: "The schedule is saved.", "Schemat är sparat.";
    schedule_changed: "The schedule is paused.", "Schemat är pausat.";
    schedule_resumed: "The schedule runs again.", "Schemat körs igen.";
    schedule_deleted: "The schedule is deleted.", "Schemat är borttaget.";
    bumps_ordered: "The bumps are ordered.", "Förnyelserna är beställda.";
    start_schedule: "Start the schedule", "Starta schemat";
    show_cost: "Show what it does and costs", "Visa vad det gör och kostar";
    next_two_weeks: "The next two weeks", "De närmaste två veckorna";
    if_nothing_changes: "If ads and budget stay as they are now.", "Om annonser och budget är som nu.";
    next_run: "Next run", "Nästa körning";
    for_ads: "for", "för";
    runs: "What its runs did", "Vad körningarna gjorde";
    no_runs: "It has not run yet.", "Det har inte körts än.";
    promoted: "Ordered", "Beställt";
    skipped: "Left out", "Hoppades över";
    and_more: "and further:", "och ytterligare:";
    which_ads: "Which ads", "Vilka annonser";
    all_ads: "all ads", "alla annonser";
    one_ad: "the ad", "annonsen";
    one_ad_help: "Plate or your number; empty for all that match.", "Reg.nr eller ert nummer; tomt för alla som passar.";
    own_selection: "ads by conditions of your system", "annonser enligt villkor i ert system";
    own_selection_help: "They stay as they are.", "De förblir som de är.";
    older_than: "older than", "äldre än";
    most_per_run: "Ads each time, at most", "Annonser varje gång, högst";
    longest_unchanged_first: "Unchanged for longest first", "De som inte ändrats på längst först";
    weekdays: "Weekdays", "Veckodagar";
    no_weekday_is_every_day: "None chosen: every day.", "Ingen vald: varje dag.";
    every_day: "every day", "varje dag";
    time_of_day: "Time", "Klockslag";
    clock_of: "the clock of", "klockan i";
    until_day: "until", "till och med";
    last_day: "Last day", "Sista dag";
    until_help: "Empty: no end.", "Tomt: inget slut.";
    each_time: "each time", "varje gång";
    min_age: "Older than, in days", "Äldre än, i dagar";
    only_one_ad: "Only one ad", "Bara en annons";
    budget_of_month: "Most in a month", "Högst per månad";
    schedule_budget_help: "What this schedule may cost in a month; empty: as much as your budget has.", "Vad schemat får kosta per månad; tomt: så mycket som er budget räcker till.";
    monday: "Mon", "mån";
    tuesday: "Tue", "tis";
    wednesday: "Wed", "ons";
    thursday: "Thu", "tors";
    friday: "Fri", "fre";
    saturday: "Sat", "lör";
    sunday: "Sun", "sön";

    // Words of the API.
    status: "Status", "Status";
    status_live: "Live", "Publicerad";
    status_partly_live: "Partly live", "Delvis publicerad";
    status_hidden: "Hidden", "Dold";
    status_draft: "Draft", "Utkast";
    status_sold: "Sold", "Såld";
    status_processing: "Processing", "Behandlas";
    status_waiting: "Waiting", "Väntar";
    status_failed: "Failed", "Misslyckad";
    status_deleted: "Deleted", "Borttagen";
    channel_outdated: "Outdated", "Inaktuell";
    channel_not_listed: "Not listed", "Inte publicerad";
    channel_paused: "Paused", "Pausad";
    image_stored: "Stored", "Sparad";
    market_primary: "Primary marketplace", "Primär marknadsplats";
    market_secondary: "Secondary marketplace", "Sekundär marknadsplats";
    who_nobody: "Nobody has to do anything", "Ingen behöver göra något";
    who_dealer: "You", "Du";
    who_may_change: "Somebody who may change ads", "Någon som får ändra annonser";
    who_image_host: "The host of the photos", "Fotonas värd";
    who_marketplace: "The marketplace", "Marknadsplatsen";
    who_operator: "The operator of the service", "Tjänstens driftansvarige";
    action_create: "Create", "Skapande";
    action_update: "Update", "Ändring";
    action_bump: "Bump", "Förnyelse";
    action_boost: "Pole position", "Toppläge";
    action_handle_media: "Photos", "Foton";
    action_publish: "Publish", "Publicering";
    action_delete: "Delete", "Borttagning";
    action_unpublish: "Unpublish", "Avpublicering";
    state_processing: "Started", "Påbörjad";
    state_done: "Done", "Klar";
    state_error: "Failed", "Misslyckad";
    request_queued: "Queued", "I kö";
    for_request: "an earlier request of the ad", "en tidigare begäran för annonsen";
    for_images: "the host of the photos", "fotonas värd";
    for_image_store: "the image store", "bildlagret";
    level_basic: "Basic", "Enkel";
    level_good: "Good", "Bra";
    level_excellent: "Excellent", "Utmärkt";

    // Photos of versions, and messages of requests.
    photo_was_added: "Added", "Tillagt";
    photo_was_removed: "Removed", "Borttaget";
    photo_is_gone: "The picture is not kept", "Bilden finns inte kvar";
    message_as_json: "Message as JSON", "Meddelandet som JSON";
    photos_not_fetched: "Photos that could not be fetched or stored", "Foton som inte kunde hämtas eller sparas";
    photos_kept: "Earlier copies that are shown in their place", "Tidigare kopior som visas i deras ställe";
    linked_to_listing: "linked by its plate to the listing", "kopplad genom registreringsnumret till publiceringen";
    other_has_listing: "another ad has the listing with this plate:", "en annan annons har publiceringen med samma registreringsnummer:";

    // Filters of the stock, and saved views.
    brand: "Brand", "Märke";
    price_from: "Price from", "Pris från";
    price_to: "Price below", "Pris under";
    without_photos: "None", "Inga";
    fewer_than: "Fewer than", "Färre än";
    some_failed: "Some failed", "Några misslyckades";
    by_quality: "Quality, lowest first", "Kvalitet, lägst först";
    by_quality_reversed: "Quality, highest first", "Kvalitet, högst först";
    by_price: "Price, lowest first", "Pris, lägst först";
    by_price_reversed: "Price, highest first", "Pris, högst först";
    saved_views: "Saved views", "Sparade vyer";
    save_view: "Save this view", "Spara vyn";
    name_of_view: "Name", "Namn";
    delete_view: "Delete the view", "Ta bort vyn";
    views_are_kept: "With the filters and the order that you see. Kept in this browser.", "Med filtren och ordningen som gäller nu. Sparas i den här webbläsaren.";
    too_many_views: "There is no room for another view. Delete one first.", "Det finns inte plats för en vy till. Ta bort en först.";
    filter_unknown: "The address of this page has a filter that is not known, and that was left out:",
        "Sidans adress har ett filter som inte är känt, och som utelämnades:";
    write_a_price: "Write a number, such as 200 000.", "Skriv ett tal, till exempel 200 000.";

    // Bump and sold for all ads that match.
    bump_all: "Bump all that match", "Förnya alla som matchar";
    bump_all_does: "Each ad costs what stands here. The bumps are ordered one after the other, also when you leave the page, and never cost more than this sum.",
        "Varje annons kostar det som står här. Förnyelserna beställs en efter en, även om du lämnar sidan, och kostar aldrig mer än den här summan.";
    bump_all_most: "ads at once, those first that were not changed or bumped for longest. Bump the rest afterwards.",
        "annonser på en gång, de först som inte har ändrats eller förnyats på längst. Förnya resten efteråt.";
    once: "once", "en gång";
    bump_all_now: "Bump them", "Förnya dem";
    sold_all_does: "These ads are sold: they leave the marketplaces and will be deleted some days later. Until then, choose “Not sold after all” on the page of an ad to undo it. Ads that are hidden already stay as they are.",
        "De här annonserna är sålda: de försvinner från marknadsplatserna och tas bort helt några dagar senare. Till dess går det att ångra med ”Inte såld ändå” på annonsens sida. Annonser som redan är dolda blir kvar som de är.";
    mark_as_sold: "Mark as sold", "Markera som sålda";
}

impl Texts {
    /// What the script says about a form, by the names that it uses.
    pub(super) fn form_words(&self) -> String {
        let Self { restored, discard, cannot_check, sent_again, signed_out, sign_in, no_date, .. } = self;
        json!({
            "restored": restored, "discard": discard, "not_checked": cannot_check, "sent_again": sent_again,
            "signed_out": signed_out, "sign_in": sign_in, "no_date": no_date,
        })
        .to_string()
    }

    /// What the script says about photos.
    pub(super) fn photo_words(&self) -> String {
        json!({
            "choose": self.choose_photos, "camera": self.take_photo, "drop": self.drop_photos, "addresses": self.photo_addresses,
            "photo": self.photo, "first_photo": self.first_photo, "earlier": self.earlier, "later": self.later,
            "make_first": self.make_first, "remove": self.remove, "removed": self.removed, "now_number": self.now_number,
            "not_sent": self.photo_not_sent, "not_a_photo": self.not_a_photo, "too_large": self.photo_too_large,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_that_the_browser_prefers() {
        for (accepted, expected) in [
            ("", Language::English),
            ("sv", Language::Swedish),
            ("sv-SE,sv;q=0.9,en;q=0.8", Language::Swedish),
            ("de, en;q=0.5, sv;q=0.9", Language::Swedish),
            ("en-GB,en;q=0.9,sv;q=0.9", Language::English),
            ("sv;q=0", Language::English),
            ("fr, *;q=x", Language::English),
        ] {
            assert_eq!(Language::preferred(accepted), expected, "{accepted}");
        }
    }
}
