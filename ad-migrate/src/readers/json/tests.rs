use crate::readers::{
    Settings,
    testing::{file, read, read_with},
};

#[test]
fn paths_are_dotted_and_repeat_and_numbers_stay_as_they_were_written() {
    let seen = read(
        r#"{"dealer": {"code": "x"}, "vehicles": [
            {"id": "1", "technical": {"odometer": {"value": 1.10, "unit": "mil"}}, "new": true, "vin": null, "photos": [{"href": "a"}, {"href": "b"}], "equipment": ["x", "y \"z\""]},
            {"id": 2, "equipment": []}
        ], "total": 2}"#,
    );
    assert_eq!(
        seen.rows,
        [
            "1@2 id=1; technical.odometer.value=1.10; technical.odometer.unit=mil; new=true; photos.href=a; photos.href=b; equipment=x; equipment=y \"z\"",
            "2@3 id=2",
        ]
    );
    assert_eq!(seen.reader.detected().rows.as_deref(), Some("vehicles"));
    assert!(seen.error.is_none());
}

#[test]
fn an_array_and_lines_and_objects_side_by_side_are_read_alike() {
    for text in [
        "[{\"a\": 1}\n,{\"a\": 2}]",
        "{\"a\": 1}\n{\"a\": 2}\n",
        "{\"a\": 1}\n\n {\"a\": 2}",
        "{\n\"a\": 1}{\"a\":\n2}",
    ] {
        let rows: Vec<_> = read(text).rows.iter().map(|row| row.split_once(' ').unwrap().1.to_owned()).collect();
        assert_eq!(rows, ["a=1", "a=2"], "{text}");
    }
}

#[test]
fn one_object_with_pictures_is_a_record() {
    let seen = read(r#"{"id": 1, "brand": "volvo", "model": "v60", "photos": [{"href": "a"}, {"href": "b"}]}"#);
    assert_eq!(seen.rows, ["1@1 id=1; brand=volvo; model=v60; photos.href=a; photos.href=b"]);
}

#[test]
fn rows_says_where_the_records_are() {
    let settings = Settings { rows: Some("export.cars".to_owned()), ..Settings::default() };
    let text = r#"{"meta": [{"cars": [1, "]"]}], "export": {"bikes": [{"id": 9}], "cars": [{"id": 1}]}}"#;
    assert_eq!(read_with(text, &settings).rows, ["1@1 id=1"]);
    let settings = Settings { rows: Some("export.boats".to_owned()), ..Settings::default() };
    let error = crate::readers::Reader::open(file(text.as_bytes()).path(), &settings).unwrap_err();
    assert_eq!(error.to_string(), "There is no \"export.boats\" in the file, where the records should be.");
}

#[test]
fn a_bad_record_is_told_and_the_next_one_is_read() {
    let seen = read("{\"a\": 1}\n{\"a\": }\n{\"a\": 3}\n");
    assert_eq!(seen.rows, ["1@1 a=1", "2@2 !the record is no JSON object", "3@3 a=3"]);
    let seen = read("[{\"a\": 1},\n{\"a\" 2},\n7,\n{\"a\": 3}]");
    assert_eq!(
        seen.rows,
        ["1@1 a=1", "2@2 !the record is no JSON object", "3@3 !the record is no JSON object", "4@4 a=3"]
    );
}

#[test]
fn half_written_json_ends_with_an_error_behind_its_rows() {
    let seen = read("{\"cars\": [{\"a\": 1, \"b\": 2},\n{\"a\": 3, \"b\": 4},\n{\"a\": 5, \"b\"");
    assert_eq!(seen.rows, ["1@1 a=1; b=2", "2@2 a=3; b=4"]);
    assert_eq!(seen.error.unwrap().to_string(), "Truncated JSON: the file ends in line 3, column 13, within a record.");
}

#[test]
fn records_in_another_encoding_are_told() {
    let seen = read(b"{\"a\": \"bl\xc3\xa5\"}\n{\"a\": \"r\xf6d\"}\n{\"a\": \"gr\xc3\xb6n\"}\n");
    assert_eq!(seen.rows, ["1@1 a=blå", "2@2 a=r\u{fffd}d; !not in the file's encoding", "3@3 a=grön"]);
}

#[test]
fn a_number_has_one_reading_and_no_exponent() {
    let seen = read(br#"{"a": 1.5E3, "b": 1.234, "c": 149900.0, "d": 2E-3, "e": 1.23, "f": "1.234"}"#);
    assert_eq!(seen.rows, ["1@1 a=1500; b=1.2340; c=149900.0; d=0.002; e=1.23; f=1.234"]);
}

#[test]
fn what_is_nested_too_deeply_costs_one_record_and_no_stack() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let seen = read(format!("{{\"a\": 0}}\n{deep}\n{{\"a\": 2}}\n"));
    assert_eq!(seen.rows, ["1@1 a=0", "2@2 !the record is no JSON object", "3@3 a=2"]);
}

#[test]
fn the_members_of_an_object_are_records_with_their_names() {
    let settings = Settings { rows: Some("stock.*".to_owned()), ..Settings::default() };
    let seen = read_with(r#"{"a": 1, "stock": {"L1": {"x": 1}, "L\u0032": {"x": 2}}, "b": [2]}"#, &settings);
    assert_eq!(seen.rows, ["1@1 @key=L1; x=1", "2@1 @key=L2; x=2"]);
    assert_eq!(seen.error, None);
    let root = Settings { rows: Some("*".to_owned()), ..Settings::default() };
    assert_eq!(
        read_with(r#"{"L1": {"x": 1}, "L2": 5}"#, &root).rows,
        ["1@1 @key=L1; x=1", "2@1 @key=L2; !the record is no JSON object"]
    );
    assert_eq!(read_with(r#"{"stock": {}}"#, &settings).rows, Vec::<String>::new());
    let cut = read_with(r#"{"stock": {"L1": {"x": 1}, "L2": {"x""#, &settings);
    assert_eq!((cut.rows.len(), cut.error.is_some()), (1, true));
    // A list of records may have the same path.
    assert_eq!(read_with(r#"{"stock": [{"x": 1}]}"#, &settings).rows, ["1@1 x=1"]);
}

#[test]
fn any_name_may_stand_anywhere_in_the_path() {
    let of = |rows: &str| Settings { rows: Some(rows.to_owned()), ..Settings::default() };
    let dealers = r#"{"count": 3, "dealers": {
        "north": {"open": true, "cars": [{"id": 1}, {"id": 2}], "bikes": [{"id": 8}]},
        "closed": {"open": false}, "unknown": null,
        "south": {"cars": [{"id": 3}]}
    }, "end": {"cars": [{"id": 9}]}}"#;
    let seen = read_with(dealers, &of("dealers.*.cars"));
    assert_eq!(seen.rows, ["1@2 @key=north; id=1", "2@2 @key=north; id=2", "3@4 @key=south; id=3"]);
    assert_eq!(seen.error, None);
    // Lists within lists, objects within objects, and the names of each.
    let seen = read_with(r#"[{"cars": [{"id": 1}]}, {"cars": []}, 7, {"cars": {"id": 2}}]"#, &of("*.cars"));
    assert_eq!((seen.rows, seen.error), (vec!["1@1 id=1".to_owned(), "2@1 id=2".to_owned()], None));
    let by_brand = r#"{"n": {"volvo": {"L1": {"x": 1}}, "saab": {}}, "s": {"kia": {"L2": {"x": 2}, "L3": 5}}}"#;
    let seen = read_with(by_brand, &of("*.*.*"));
    let rows = ["1@1 @key=n; @key2=volvo; @key3=L1; x=1", "2@1 @key=s; @key2=kia; @key3=L2; x=2"];
    assert_eq!(seen.rows[..2], rows);
    assert_eq!(seen.rows[2], "3@1 @key=s; @key2=kia; @key3=L3; !the record is no JSON object");
    assert_eq!(seen.error, None);
    let seen = read_with(r#"{"a": {"cars": [{"x": 1}]}, "b": {"cars": [{"x""#, &of("*.cars"));
    assert_eq!((seen.rows.len(), seen.error.is_some()), (1, true));
    let seen = read_with(r#"{"a": {"cars": [{"x": 1}]} "b": 1}"#, &of("*.cars"));
    assert!(seen.error.unwrap().to_string().contains("expected ,, found"));
}

#[test]
fn numbers_of_more_digits_than_programs_compute_with_are_rounded() {
    let seen = read(
        "[{\"a\": 129900.49999999999999, \"b\": 0.1, \"c\": 12345678901234567890, \"d\": 1.1e3, \"e\": 129900.50}]",
    );
    assert_eq!(seen.rows, ["1@1 a=129900.5; b=0.1; c=12345678901234567890; d=1100; e=129900.50"]);
}
