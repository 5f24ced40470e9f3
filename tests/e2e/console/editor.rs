//! New ads and changes by the form, without scripts.

use ad_core::{categories, model::ApiVersion, rulebook::Rulebook};
use ad_tests::Server;
use serde_json::{Value, json};

use super::{Visitor, ad_query, encoded, html};
use crate::payloads::plain_car;

/// Markup that runs if it is not escaped.
const MARKUP: &str = "\"></textarea><script>alert(1)</script><img src=x onerror=alert(1)>'";

/// The value of an attribute of a tag, as a browser reads it.
pub(super) fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(rest.split('"').next()?))
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// What a browser sends of the form of an ad on a page, without a button.
pub(super) fn form_of(page: &str) -> Vec<(String, String)> {
    let form = page.split("class=\"ad-form\"").nth(1).expect("the page has the form").split("</form>").next().unwrap();
    let (mut pairs, mut select): (Vec<(String, String)>, _) = (Vec::new(), String::new());
    let mut is_first = false;
    for part in form.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap();
        let tag = format!(" {tag}");
        let name = attribute(&tag, "name").unwrap_or_default();
        let value = attribute(&tag, "value").unwrap_or_default();
        if tag.starts_with(" input") && (!tag.contains("type=\"checkbox\"") || tag.contains(" checked")) {
            pairs.push((name, value));
        } else if tag.starts_with(" textarea") {
            pairs.push((name, unescaped(text).strip_prefix('\n').unwrap().replace('\n', "\r\n")));
        } else if tag.starts_with(" select") {
            select = name;
            pairs.push((select.clone(), String::new()));
            is_first = true;
        } else if tag.starts_with(" option") && !select.is_empty() {
            let (_, chosen) = pairs.last_mut().unwrap();
            // Without a selected option, the first is.
            if is_first || tag.contains(" selected") {
                *chosen = value;
            }
            is_first = false;
        } else if tag.starts_with(" /select") {
            select.clear();
        }
    }
    pairs
}

/// The form with other values in some inputs.
fn with<'a>(form: &'a [(String, String)], changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let is_changed = |name: &str| changes.iter().any(|(changed, _)| *changed == name);
    let kept = form.iter().filter(|(name, _)| !is_changed(name)).map(|(name, value)| (name.as_str(), value.as_str()));
    kept.chain(changes.iter().copied()).collect()
}

/// The texts of the errors at a field.
fn errors_at<'a>(page: &'a str, path: &str) -> &'a str {
    let errors =
        page.split(&format!("id=\"error-{path}\"")).nth(1).unwrap_or_else(|| panic!("{path} has a place for errors"));
    errors.split("</div>").next().unwrap()
}

const CAR: &[(&str, &str)] = &[
    ("do", "save"),
    ("source_id", "form 1/å"),
    ("category_fields.registration_number", "frm 001"),
    ("category_fields.model_year", "2021"),
    ("category_fields.brand", "volvo"),
    ("category_fields.model", "v60"),
    ("category_fields.condition.mileage.value", "8 500"),
    ("category_fields.condition.mileage.unit", "mil"),
    ("category_fields.condition.number_of_owners", "2"),
    ("category_fields.powertrain.fuels", ""),
    ("category_fields.powertrain.fuels", "diesel"),
    ("category_fields.powertrain.fuels", "electric"),
    ("category_fields.has_damages", "false"),
    ("category_fields.equipments", "Towbar\r\n\r\nHeated seats"),
    ("price.0.type", ""),
    ("price.0.amount", ""),
    ("price.1.type", "list"),
    ("price.1.amount", "199 900,50"),
    ("body", "First line\r\nSecond line"),
];

#[tokio::test]
async fn an_ad_is_created_by_the_form_and_errors_stand_at_their_fields() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    assert!(visitor.page("/console/new").await.contains("new?type=car"));
    let fresh = form_of(&visitor.page("/console/new?type=car").await);
    assert!(fresh.iter().any(|(name, _)| name == "category_fields.powertrain.environmental.co2_emission.value"));
    let path = "/console/new?type=car";

    // Nothing of an empty form is sent but the category: the rules say what is missing.
    let form = with(&fresh, &[("do", "save")]);
    let refused = visitor.post(path, &form).await;
    let page = html(&refused);
    assert_eq!(refused.status, 400, "{page}");
    for field in ["category_fields.model_year", "category_fields.registration_number"] {
        assert!(errors_at(&page, field).contains("Fill"), "{field}: {page}");
    }
    // The plate or the VIN gives the number, and both are one line of the list.
    assert!(!errors_at(&page, "source_id").contains("Fill"), "{page}");
    let list = |page: &str| page[page.find("id=\"assessment\"").unwrap()..].to_owned();
    assert!(list(&page).contains("Not saved") && list(&page).matches("Fill in the plate or the VIN.").count() == 1);
    // Before anybody has asked to save, what is missing is no error.
    let calm = html(&visitor.post(path, &with(&fresh, &[("do", "check")])).await);
    assert!(list(&calm).contains("Still missing") && !list(&calm).contains("Not saved"), "{calm}");
    assert!(!list(&calm).contains("notice error"), "{calm}");
    assert!(errors_at(&page, "price").is_empty() || !errors_at(&page, "price").contains("field-error"), "{page}");

    // What is wrong stays as it was typed, each error where it belongs.
    let wrong = [
        ("do", "save"),
        ("source_id", "w"),
        ("category_fields.model_year", "twenty"),
        ("category_fields.registration_number", "FRM002"),
        ("category_fields.brand", "wolwo"),
        ("category_fields.condition.mileage.value", "-1"),
        ("category_fields.condition.mileage.unit", "miles"),
        ("category_fields.colour", "red"),
        ("price.2.type", "list"),
        ("price.2.amount", "free"),
        ("image_urls", "https://images.example/1.jpg\r\nnot an address"),
        ("location.zipcode", "1"),
    ];
    let refused = visitor.post(path, &with(&fresh, &wrong)).await;
    let page = html(&refused);
    assert_eq!(refused.status, 400, "{page}");
    for (field, text) in [
        ("category_fields.model_year", "Write a number, such as 2021."),
        ("category_fields.brand", "data-cure=\"volvo\""),
        ("category_fields.condition.mileage", "miles"),
        ("price.0.amount", "Write a number, such as 12 500."),
        ("image_urls", "2: Write a web address that begins with https://."),
        ("location.zipcode", "Write 5 digits."),
    ] {
        assert!(errors_at(&page, field).contains(text), "{field}: {}", errors_at(&page, field));
    }
    assert!(page.contains("colour: The form cannot have this."), "{page}");
    let kept = form_of(&page);
    for (name, value) in [
        ("category_fields.model_year", "twenty"),
        ("category_fields.brand", "wolwo"),
        ("category_fields.condition.mileage.unit", "miles"),
        ("price.0.amount", "free"),
        ("image_urls", "https://images.example/1.jpg\r\nnot an address"),
    ] {
        assert!(kept.contains(&(name.to_owned(), value.to_owned())), "{name}: {kept:?}");
    }
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 0);

    // A check creates nothing, and shows the score.
    let check: Vec<_> = CAR.iter().map(|pair| if pair.0 == "do" { ("do", "check") } else { *pair }).collect();
    let page = html(&visitor.post(path, &check).await);
    assert!(page.contains("Can be saved") && page.contains("class=\"score\""), "{page}");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 0);

    let created = visitor.post(path, CAR).await;
    assert_eq!(created.status, 303, "{}", html(&created));
    assert_eq!(created.header("location").unwrap(), format!("/console/ad?{}&done=saved", ad_query("form 1/å")));
    let ad = server.client.ad("form%201%2F%C3%A5").await;
    assert_eq!(ad["visible"], false, "a draft");
    let fields = json!({
        "registration_number": "FRM001",
        "model_year": 2021,
        "brand": "volvo",
        "model": "v60",
        "condition": {"mileage": {"value": 8500, "unit": "mil"}, "number_of_owners": 2, "is_new_vehicle": false},
        "powertrain": {"fuels": ["diesel", "electric"]},
        "has_damages": false,
        "equipments": ["Towbar", "Heated seats"],
    });
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&ad["category_fields"][name], value, "{name}");
    }
    assert_eq!(ad["price"], json!([{"type": "list", "amount": 199_900.5, "currency": "SEK"}]));
    assert_eq!(ad["body"], "First line\nSecond line");

    let again = visitor.post(path, CAR).await;
    assert_eq!(again.status, 409);
    let used = errors_at(&html(&again), "source_id").to_owned();
    assert!(used.contains("used by another ad") && used.contains("/console/ad?"), "{used}");
    assert!(!errors_at(&html(&again), "category_fields.registration_number").contains("field-error"));
}

#[tokio::test]
async fn the_form_of_every_type_sent_back_changes_nothing_but_what_was_edited() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let rulebook = Rulebook::default();
    for (vehicle_type, category) in categories::typed().filter(|(_, category)| category.id != categories::TRAILER) {
        let mut payload = category.example(ApiVersion::V4, &rulebook);
        payload.remove("image_urls");
        server.client.post(&format!("/v4/{vehicle_type}"), &Value::from(payload)).await.expect(201);
        let source_id = format!("{vehicle_type}-1001");
        server.client.published(&source_id).await;
        let before = server.client.ad(&source_id).await;

        let path = format!("/console/ad/edit?{}", ad_query(&source_id));
        let form = form_of(&visitor.page(&path).await);
        let unchanged = visitor.post(&path, &with(&form, &[("do", "save")])).await;
        assert_eq!(unchanged.status, 303, "{vehicle_type}: {}", html(&unchanged));
        let requests = |ad: &Value| ad["log"].as_array().unwrap().len();
        assert_eq!(requests(&server.client.ad(&source_id).await), requests(&before), "{vehicle_type}: nothing to do");

        let edited = visitor.post(&path, &with(&form, &[("do", "save"), ("body", "Edited"), ("url", "")])).await;
        assert_eq!(edited.status, 303, "{vehicle_type}: {}", html(&edited));
        server.client.ended(&source_id, "update", None).await;
        let mut expected = before.clone();
        expected["body"] = json!("Edited");
        expected.as_object_mut().unwrap().remove("url");
        let after = server.client.ad(&source_id).await;
        for name in ["body", "url", "price", "location", "contact", "title", "video_url", "visible", "category_fields"]
        {
            assert_eq!(after[name], expected[name], "{vehicle_type} {name}");
        }
    }
}

#[tokio::test]
async fn what_others_change_stays_and_where_both_change_a_field_one_value_is_chosen() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("lost", "LST001")).await.expect(201);
    let visitor = Visitor::signed_in(&server.client).await;
    let path = format!("/console/ad/edit?{}", ad_query("lost"));
    let form = form_of(&visitor.page(&path).await);
    server.client.patch("/v4/car/lost", &json!({"category_fields": {"color": "red"}})).await.expect(200);

    // Different fields: both changes hold.
    let saved = visitor.post(&path, &with(&form, &[("do", "save"), ("body", "Mine")])).await;
    assert_eq!(saved.status, 303, "{}", html(&saved));
    let ad = server.client.ad("lost").await;
    assert_eq!((&ad["body"], &ad["category_fields"]["color"]), (&json!("Mine"), &json!("red")));

    // The same field, and others.
    let form = form_of(&visitor.page(&path).await);
    let theirs = json!({"body": "Theirs", "category_fields": {"color": "blue", "interior_color": "grey"}});
    server.client.patch("/v4/car/lost", &theirs).await.expect(200);
    let mine = [("do", "save"), ("body", "My own"), ("category_fields.color", "blue"), ("url", "https://a.example/1")];
    let refused = visitor.post(&path, &with(&form, &mine)).await;
    let page = html(&refused);
    assert_eq!(refused.status, 409, "{page}");
    let choice = errors_at(&page, "body");
    assert!(
        choice.contains("Theirs") && choice.contains("My own") && choice.contains("name=\"choose.body\""),
        "{page}"
    );
    assert_eq!(page.matches("<fieldset class=\"conflict\"").count(), 1, "the same value twice is no conflict: {page}");
    assert!(page.contains("Changed by somebody else meanwhile, and kept: Interior colour."), "{page}");
    assert_eq!(server.client.ad("lost").await["body"], "Theirs");

    // Nothing is saved until a value is chosen.
    let open: Vec<_> = form_of(&page).into_iter().filter(|(name, _)| name != "choose.body").collect();
    assert!(open.contains(&("body".to_owned(), "My own".to_owned())), "{open:?}");
    let refused = visitor.post(&path, &with(&open, &[("do", "save")])).await;
    assert_eq!(refused.status, 409, "{}", html(&refused));
    let saved = visitor.post(&path, &with(&open, &[("do", "save"), ("choose.body", "stored")])).await;
    assert_eq!(saved.status, 303, "{}", html(&saved));
    let ad = server.client.ad("lost").await;
    assert_eq!((&ad["body"], &ad["url"]), (&json!("Theirs"), &json!("https://a.example/1")));
    assert_eq!(ad["category_fields"]["interior_color"], "grey");

    // The other choice.
    let form = form_of(&visitor.page(&path).await);
    server.client.patch("/v4/car/lost", &json!({"body": "Theirs again"})).await.expect(200);
    let page = html(&visitor.post(&path, &with(&form, &[("do", "save"), ("body", "Mine again")])).await);
    let open: Vec<_> = form_of(&page).into_iter().filter(|(name, _)| name != "choose.body").collect();
    let saved = visitor.post(&path, &with(&open, &[("do", "save"), ("choose.body", "own")])).await;
    assert_eq!(saved.status, 303, "{}", html(&saved));
    assert_eq!(server.client.ad("lost").await["body"], "Mine again");

    // A check stores nothing.
    let form = form_of(&visitor.page(&path).await);
    let check = with(&form, &[("do", "check"), ("body", "Checked"), ("category_fields.color", "")]);
    let page = html(&visitor.post(&path, &check).await);
    assert!(page.contains("Can be saved") && page.contains("class=\"score\""), "{page}");
    let check = with(&form, &[("do", "check"), ("category_fields.model_year", "")]);
    let page = html(&visitor.post(&path, &check).await);
    assert!(errors_at(&page, "category_fields.model_year").contains("Fill this in"), "{page}");
    assert_eq!(server.client.ad("lost").await["body"], "Mine again");

    let form: Vec<_> = form_of(&visitor.page(&path).await).into_iter().filter(|(name, _)| name != "revision").collect();
    assert_eq!(visitor.post(&path, &with(&form, &[("do", "save")])).await.status, 400, "a form without revision");
}

#[tokio::test]
async fn the_form_understands_what_sellers_write_and_proposes_a_number() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let path = "/console/new?type=car";
    let fresh = form_of(&visitor.page(path).await);
    let written = [
        ("category_fields.registration_number", "frm 00a"),
        ("category_fields.model_year", "2021"),
        ("category_fields.brand", "volvo"),
        ("category_fields.model", "XC 60 D4 Momentum"),
        ("category_fields.condition.mileage.value", "12 500 km"),
        ("category_fields.powertrain.displacement.value", "2,0 l"),
        ("price.0.amount", "189 900 kr"),
    ];
    let checked = html(&visitor.post(path, &with(&fresh, &written)).await);
    assert!(checked.contains("Can be saved"), "{checked}");
    for (field, read) in [
        ("category_fields.model", "XC60"),
        ("category_fields.model_type", "D4 Momentum"),
        ("category_fields.condition.mileage", "12\u{202f}500 km"),
        ("category_fields.powertrain.displacement", "2 l"),
        ("price.0.amount", "189\u{202f}900"),
    ] {
        assert!(errors_at(&checked, field).contains(read), "{field}: {}", errors_at(&checked, field));
    }
    // What has two readings is asked in words; thousands have a short form, and a price that is too small is a warning.
    let mut swedish = visitor.clone();
    swedish.cookies.push(("console_language".to_owned(), "sv".to_owned()));
    let sent = |changes: &[(&'static str, &'static str)]| {
        let others = written.into_iter().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        with(&fresh, &others.chain(changes.iter().copied()).collect::<Vec<_>>())
    };
    let asked = [("category_fields.condition.mileage.value", "12.500 km"), ("price.0.amount", "189.900")];
    for (visitor, mileage, price) in [
        (&visitor, "12\u{202f}500 km or 12.5 km.", "189\u{202f}900 or 189.9."),
        (&swedish, "12\u{202f}500 km eller 12,5 km.", "189\u{202f}900 eller 189,9."),
    ] {
        let page = html(&visitor.post(path, &sent(&asked)).await);
        assert!(errors_at(&page, "category_fields.condition.mileage").contains(mileage), "{page}");
        assert!(errors_at(&page, "price.0.amount").contains(price), "{page}");
    }
    for (amount, read) in [("189t", "189\u{202f}000"), ("189 tkr", "189\u{202f}000"), ("18,9 tkr", "18\u{202f}900")] {
        let page = html(&visitor.post(path, &sent(&[("price.0.amount", amount)])).await);
        assert!(errors_at(&page, "price.0.amount").contains(read), "{amount}: {page}");
    }
    let page = html(&visitor.post(path, &sent(&[("price.0.amount", "189")])).await);
    assert!(page.contains("Can be saved") && page.contains("A price of 189 SEK is outside of what is usual"), "{page}");
    // The Enter key presses the first button of the form.
    let buttons = checked.split("class=\"ad-form\"").nth(1).unwrap();
    let first = buttons.split("<button ").skip(1).find(|button| !button.starts_with("type=\"button\"")).unwrap();
    assert!(first.contains("value=\"check\""), "{first}");

    let written: Vec<_> = written.into_iter().chain([("do", "publish")]).collect();
    let created = visitor.post(path, &with(&fresh, &written)).await;
    assert_eq!(created.header("location").unwrap(), format!("/console/ad/publish?{}", ad_query("FRM00A")));
    let ad = server.client.ad("FRM00A").await;
    assert_eq!(ad["visible"], false);
    assert_eq!(ad["category_fields"]["model"], "xc60");
    assert_eq!(ad["category_fields"]["condition"]["mileage"], json!({"value": 12_500, "unit": "km"}));
    assert_eq!(ad["price"], json!([{"type": "list", "amount": 189_900, "currency": "SEK"}]));

    // What buyers will see, what is missing, and the button.
    let page = visitor.page(&format!("/console/ad/publish?{}", ad_query("FRM00A"))).await;
    for expected in ["189\u{202f}900 SEK", "Photos. Hardly anybody", "A description.", "value=\"show\""] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("The brand."), "{page}");
    let ad = encoded(&[("source_id", "FRM00A"), ("dealer_code", "north-cars")]);
    visitor.post("/console/act", &[("action", "show"), ("ad", &ad), ("next", "/stock")]).await;
    server.client.published("FRM00A").await;

    // The same car again, after it was sold. Before that, the plate is what is wrong, for nobody has written a number.
    let taken = visitor.post(path, &with(&fresh, &written)).await;
    assert_eq!(taken.status, 409, "{}", html(&taken));
    let (plate, link) =
        (errors_at(&html(&taken), "category_fields.registration_number").to_owned(), ad_query("FRM00A"));
    assert!(plate.contains("frm 00a is there already:") || plate.contains("FRM00A is there already:"), "{plate}");
    assert!(plate.contains(&format!("/console/ad?{}", link.replace('&', "&amp;"))), "{plate}");
    assert!(!errors_at(&html(&taken), "source_id").contains("field-error"), "{}", html(&taken));
    server.client.delete("/v4/car/FRM00A").await.expect(200);
    let created = visitor.post(path, &with(&fresh, &written)).await;
    assert_eq!(created.header("location").unwrap(), format!("/console/ad/publish?{}", ad_query("FRM00A-2")));
}

#[tokio::test]
async fn markup_in_every_input_is_text() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    for vehicle_type in ["car", "boat"] {
        let path = format!("/console/new?type={vehicle_type}");
        let form: Vec<_> = form_of(&visitor.page(&path).await).into_iter().map(|(name, _)| (name, MARKUP)).collect();
        let mut form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        form.extend([(MARKUP, MARKUP), ("category_fields.<script>", "x"), ("price.0.<script>", "x"), ("do", "save")]);
        let page = html(&visitor.post(&path, &form).await);
        let own = "<script type=\"module\"";
        assert_eq!(page.matches("<script").count(), page.matches(own).count(), "{page}");
        assert!(!page.contains("<img"), "{page}");
        let kept = form_of(&page);
        assert!(kept.contains(&("body".to_owned(), MARKUP.to_owned())), "{kept:?}");
    }
    let mut stored = plain_car("mark", "MRK001");
    stored["body"] = json!(MARKUP.replace(['<', '>'], ""));
    stored["category_fields"]["color"] = json!(MARKUP);
    stored["category_fields"]["equipments"] = json!([MARKUP]);
    server.client.post("/v4/car", &stored).await.expect(201);
    let page = visitor.page(&format!("/console/ad/edit?{}", ad_query("mark"))).await;
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(form_of(&page).contains(&("category_fields.color".to_owned(), MARKUP.to_owned())), "{page}");
}

#[tokio::test]
async fn bad_forms_are_refused() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let path = "/console/new?type=car";
    let huge = "x".repeat(3 * 1024 * 1024);
    assert_eq!(visitor.post(path, &[("body", &huge)]).await.status, 413);
    for unknown in ["/console/new?type=spaceship", "/console/ad/edit?source_id=none", "/console/ad/edit"] {
        assert_eq!(visitor.get(unknown).await.status, 404, "{unknown}");
    }
    assert_eq!(visitor.get("/console/new?type=trailer").await.status, 400);
    // Of a name that stands twice, the last value counts.
    let twice = [
        ("do", "save"),
        ("source_id", "a"),
        ("source_id", "b"),
        ("category_fields.model_year", "1"),
        ("category_fields.model_year", "2020"),
        ("category_fields.registration_number", "BAD001"),
    ];
    assert_eq!(visitor.post(path, &twice).await.status, 303);
    assert_eq!(server.client.ad("b").await["category_fields"]["model_year"], 2020);
    let deep = format!("category_fields.{}", "a.".repeat(20_000));
    let many: Vec<_> = (0..5000).map(|index| format!("price.{index}.amount")).collect();
    let mut form = vec![("do", "save"), (deep.as_str(), "x")];
    form.extend(many.iter().map(|name| (name.as_str(), "1")));
    assert_eq!(visitor.post(path, &form).await.status, 400);
    server.client.get("/v4/ad").await.expect(200);
}

#[tokio::test]
async fn the_form_speaks_swedish() {
    let server = Server::start().await;
    let mut visitor = Visitor::signed_in(&server.client).await;
    visitor.cookies.push(("console_language".to_owned(), "sv".to_owned()));
    let page = visitor.page("/console/new?type=car").await;
    for expected in ["Varudeklaration som PDF", "Sida med varudeklaration", "En av de två behövs"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    for expected in
        ["Registreringsnummer", "Motor och drivning", "Ny annons", "Framhjulsdrift", "Ordinarie pris", "lang=\"sv\""]
    {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[tokio::test]
async fn a_groups_form_asks_for_the_dealer() {
    let server = Server::start().await;
    let visitor = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    let page = visitor.page("/console/new?type=car").await;
    assert!(
        page.contains("name=\"dealer_code\"") && page.contains("coast-boats") && !page.contains("south-cars"),
        "{page}"
    );
    let form = [
        ("do", "save"),
        ("source_id", "g"),
        ("category_fields.model_year", "2020"),
        ("category_fields.registration_number", "GRP009"),
    ];
    let refused = html(&visitor.post("/console/new?type=car", &form).await);
    assert!(errors_at(&refused, "dealer_code").contains("Fill this in"), "{refused}");
    let form = [&form[..], &[("dealer_code", "north-cars")]].concat();
    assert_eq!(visitor.post("/console/new?type=car", &form).await.status, 303);
    assert_eq!(server.client.ad("g").await["dealer_code"], "north-cars");
}
