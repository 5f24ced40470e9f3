use serde_json::json;

use super::*;

fn offer(name: &str) -> Offer {
    Offer::of(TOOLS.iter().find(|tool| tool.name == name).unwrap())
}

fn words(name: &str, call: &Value) -> Result<Vec<String>, String> {
    offer(name).arguments.line(call.as_object().unwrap()).map(|line| line.words)
}

#[test]
fn every_named_argument_is_one_of_its_command() {
    for tool in TOOLS {
        let offer = Offer::of(tool);
        let properties = offer.shown.input_schema["properties"].as_object().unwrap();
        if let tools::Offered::Only(names) = tool.offered {
            let missing: Vec<_> = names.iter().filter(|name| !properties.contains_key(**name)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", tool.name);
        }
        for (name, schema) in properties {
            assert!(!schema["description"].as_str().unwrap().is_empty(), "{}: {name}", tool.name);
        }
    }
}

#[test]
fn no_tool_takes_a_path_or_an_option_that_skips_a_check() {
    for tool in TOOLS {
        let offer = Offer::of(tool);
        let properties = offer.shown.input_schema["properties"].as_object().unwrap();
        for name in ["file", "files", "journal", "report", "rejects", "mapping", "yes", "no_check", "output", "url"] {
            assert!(!properties.contains_key(name), "{}: {name}", tool.name);
        }
    }
}

#[test]
fn values_never_become_options() {
    assert_eq!(words("get", &json!({"source_id": "--url=http://evil"})).unwrap(), ["--", "--url=http://evil"]);
    assert_eq!(
        words("delete", &json!({"source_ids": ["--yes", "-"], "dry_run": true})).unwrap(),
        ["--dry-run", "--", "--yes", "-"]
    );
    assert_eq!(
        words("list", &json!({"search": "--output=csv", "status": ["failed", "live"], "limit": 5})).unwrap(),
        ["--status=failed,live", "--search=--output=csv", "--limit=5"]
    );
    assert_eq!(
        words("update", &json!({"source_id": "car-1", "payload": {"visible": false}})).unwrap(),
        ["--", "car-1", "-"]
    );
    let line = offer("validate").arguments.line(json!({"payload": [{"a": 1}, {"b": 2}]}).as_object().unwrap());
    let expected = Line { words: vec!["--".into(), "-".into()], stdin: Some("{\"a\":1}\n{\"b\":2}\n".into()) };
    assert_eq!(line, Ok(expected));
}

#[test]
fn payloads_have_one_name_in_every_tool_and_their_former_names_are_accepted() {
    let payloads = |offer: &Offer| {
        let properties = offer.shown.input_schema["properties"].as_object().unwrap();
        properties
            .keys()
            .filter(|name| ["payload", "payloads", "changes"].contains(&name.as_str()))
            .cloned()
            .collect::<Vec<_>>()
    };
    for offer in TOOLS.iter().map(Offer::of) {
        assert!(offer.tool.payload.is_none_or(|_| payloads(&offer) == ["payload"]), "{}", offer.tool.name);
    }
    let stdin = |tool: &str, call: Value| offer(tool).arguments.line(call.as_object().unwrap()).unwrap().stdin.unwrap();
    for name in ["payload", "payloads", "changes"] {
        assert_eq!(stdin("create", json!({name: {"a": 1}})), r#"{"a":1}"#, "{name}");
        assert_eq!(stdin("import", json!({name: [{"a": 1}]})), "{\"a\":1}\n", "{name}");
        assert_eq!(stdin("import", json!({name: {"a": 1}})), r#"{"a":1}"#, "{name}");
        assert_eq!(stdin("update", json!({"source_id": "car-1", name: {"a": 1}})), r#"{"a":1}"#, "{name}");
    }
}

/// Files, options and what a terminal shows are nothing that a tool has.
#[test]
fn descriptions_speak_of_tools_and_arguments() {
    const OF_TERMINALS: &[&str] = &[
        "--",
        "-o ",
        "ad-cli",
        " file",
        "FILE",
        "stdin",
        "terminal",
        "Print",
        "print ",
        "separated by commas",
        "Ctrl",
    ];
    for offer in TOOLS.iter().map(Offer::of) {
        let name = offer.tool.name;
        let properties = offer.shown.input_schema["properties"].as_object().unwrap();
        let of_arguments =
            properties.iter().map(|(argument, schema)| (argument.as_str(), schema["description"].as_str().unwrap()));
        for (argument, text) in of_arguments.chain([("", offer.shown.description.as_deref().unwrap())]) {
            assert!(!text.is_empty(), "{name} {argument} has no description");
            let found: Vec<_> = OF_TERMINALS.iter().filter(|words| text.contains(**words)).collect();
            assert!(found.is_empty(), "{name} {argument}: {text:?} speaks of {found:?}");
            assert!(!text.replace("\n\n", "").contains('\n'), "{name} {argument}: {text:?} has lines");
        }
        let described = offer.tool.described.iter().map(|(argument, _)| *argument).chain(offer.tool.required);
        for argument in described {
            assert!(properties.contains_key(argument), "{name} has no argument {argument}");
        }
    }
}

#[test]
fn wrong_arguments_are_explained() {
    for (tool, call, reason) in [
        ("price", json!({"source_id": "car-1"}), "missing argument \"amount\""),
        ("price", json!({"amount": 1}), "missing argument \"source_id\""),
        ("price", json!({"source_id": "car-1", "amount": "1"}), "amount: expected a number"),
        ("price", json!({"source_id": 7, "amount": 1}), "source_id: expected a string"),
        ("price", json!({"source_id": "car-1", "amuont": 1}), "Did you mean \"amount\"?"),
        ("delete", json!({"source_ids": "car-1"}), "source_ids: expected an array"),
        ("delete", json!({"source_ids": []}), "missing argument \"source_ids\""),
        ("get", json!({"source_id": "a\0b"}), "without NUL"),
        ("values", json!({"type": "car", "search": "vol"}), "search requires attribute"),
        ("photos_check", json!({"ad": []}), "missing argument \"ad\": Source ids of the ads"),
        ("list", json!({"limit": 1.5}), "limit: expected an integer"),
        ("list", json!({"source_id_in": ["a,b"]}), "contains a comma"),
        ("create", json!({"payload": [1]}), "payload: expected an object"),
        ("import", json!({"payloads": [{}, 1]}), "item 1 is not an object"),
        ("import", json!({"payload": [{}, 1]}), "payload: item 1 is not an object"),
        ("import", json!({"payload": []}), "payload: expected an array of objects"),
        ("import", json!({}), "missing argument \"payload\""),
        ("update", json!({"source_id": "car-1", "changes": [{}]}), "changes: expected an object"),
        (
            "update",
            json!({"source_id": "car-1", "payload": {}, "changes": {}}),
            "payload and changes are the same argument",
        ),
        ("get", json!({"source_id": "car-1", "payload": {}}), "unknown argument \"payload\""),
        ("get", json!({"source_id": "car-1", "changes": {}}), "unknown argument \"changes\""),
    ] {
        let refused = words(tool, &call).unwrap_err();
        assert!(refused.contains(reason), "{tool} {call}: {refused}");
    }
}

#[test]
fn tools_need_the_access_of_what_they_do() {
    let listed = |write, promotions| {
        let access = Access { write, promotions, budget: None };
        TOOLS.iter().filter(|tool| tool.missing_option(access).is_none()).map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert!(listed(false, None).iter().all(|name| offer(name).tool.effect == Effect::Reads));
    assert!(listed(true, None).contains(&"sold") && !listed(true, None).contains(&"bump"));
    assert!(listed(false, Some(1)).contains(&"bump") && !listed(false, Some(1)).contains(&"sold"));
    assert_eq!(listed(true, Some(1)).len(), TOOLS.len());
    let hints = offer("sold").shown.annotations.unwrap();
    assert_eq!((hints.read_only_hint, hints.destructive_hint), (Some(false), Some(true)));
}
