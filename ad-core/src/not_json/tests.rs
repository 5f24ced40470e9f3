use serde_json::{Value, json};

use super::*;

fn explained(bytes: &[u8]) -> String {
    explanation(bytes, &serde_json::from_slice::<Value>(bytes).unwrap_err())
}

/// Slips in a value of an otherwise right object, which stands at line 1, column 7.
#[test]
fn what_stands_there_and_what_to_write_is_said_of_every_kind() {
    for (value, says) in [
        ("12900,5", "12900,5 at line 1, column 7 has a decimal comma; JSON has a decimal point: write 12900.5."),
        ("-6,40", "-6,40 at line 1, column 7 has a decimal comma; JSON has a decimal point: write -6.4."),
        (
            "0005400",
            "0005400 at line 1, column 7 has leading zeros, which JSON does not allow: write 5400, or \"0005400\" if it is a text.",
        ),
        (
            "-007.50",
            "-007.50 at line 1, column 7 has leading zeros, which JSON does not allow: write -7.50, or \"-007.50\" if it is a text.",
        ),
        (".5", ".5 at line 1, column 7 has no digit before the decimal point: write 0.5."),
        ("5.", "5. at line 1, column 7 has no digit behind the decimal point: write 5."),
        ("+5", "+5 at line 1, column 7 has a plus sign, which JSON does not allow: write 5."),
        ("0x1F", "0x1F at line 1, column 7 is in hexadecimal; JSON has decimal numbers: write 31."),
        ("12 900", "12 900 at line 1, column 7 is not a number of JSON: write 12900."),
        ("110kW", "110kW at line 1, column 7 is neither a number nor in quotes; write \"110kW\", or the number alone."),
        (
            "2019-05-03",
            "2019-05-03 at line 1, column 7 is neither a number nor in quotes; write \"2019-05-03\", or the number alone.",
        ),
        ("12:30", "12:30 at line 1, column 7 is neither a number nor in quotes; write \"12:30\", or the number alone."),
        ("NULL", "NULL at line 1, column 7 is not a JSON value; send null, in lower case."),
        ("None", "None at line 1, column 7 is not a JSON value; send null."),
        ("nil", "nil at line 1, column 7 is not a JSON value; send null."),
        ("TRUE", "TRUE at line 1, column 7 is not a JSON value; write it in lower case."),
        ("False", "False at line 1, column 7 is not a JSON value; write it in lower case."),
        ("nan", "nan at line 1, column 7 is not a JSON value; send null, or leave the field out."),
        ("-inf", "-inf at line 1, column 7 is not a JSON value; send null, or leave the field out."),
        ("#N/A", "#N/A at line 1, column 7 is not a JSON value; send null, or leave the field out."),
        ("ja", "ja at line 1, column 7 is not a JSON value; send true."),
        ("nullx", "nullx at line 1, column 7 is not in quotes; write \"nullx\"."),
        ("ABC123", "ABC123 at line 1, column 7 is not in quotes; write \"ABC123\"."),
        ("V60 D4, 2019", "V60 D4 at line 1, column 7 is not in quotes; write \"V60 D4\"."),
        ("", "A value is missing at line 1, column 7, behind the colon; write null, or leave the field out."),
        (
            "\\u0001",
            "Escape \\u0001 at line 1, column 7, outside of a text; escapes are allowed within texts only. Remove it.",
        ),
        ("\u{1}", "Control character U+0001 at line 1, column 7, outside of a text; remove it."),
        ("\u{a0}1", "No-break space (U+00A0) at line 1, column 7, outside of a text; write an ordinary space."),
        (
            "\"Ny \\ud83d\"",
            "\\ud83d at line 1, column 11 is half of a surrogate pair: a character such as an emoji was cut in two. Write both halves, the character itself, or neither.",
        ),
        ("\"Mats\\' bil\"", "\\' at line 1, column 12 is not an escape of JSON; write ' without the backslash."),
        ("\"C:\\Bilder\"", "\\B at line 1, column 10 is not an escape of JSON; write \\\\ for a backslash."),
        ("\"\\xe4\"", "\\x at line 1, column 8 is not an escape of JSON; write \\u00 with the two digits."),
        (
            "\"\\u00g1\"",
            "\\u at line 1, column 8 is not followed by four hexadecimal digits; write such as \\u00e4, or \\\\ for a backslash.",
        ),
        (
            "\"x\u{1f}\"",
            "Control character U+001F within a text at line 1, column 9; remove it, or write it as \\u001f.",
        ),
        ("\"x\ty\"", "Line break or tab within a text at line 1, column 9; write it as \\n or \\t."),
        (
            "\"Mats \"fina\" bil\"",
            "The quote at line 1, column 13 ends the text early; write a quote within a text as \\\".",
        ),
        (
            "HASH(0x55d0c8a1b2c8)",
            "HASH(0x55d0c8a1b2c8) at line 1, column 7 is the text of an object of the sending program, not its contents; encode the object as JSON.",
        ),
        (
            "[object Object]",
            "[object Object] at line 1, column 8 is the text of an object of the sending program, not its contents; encode the object as JSON.",
        ),
        (
            "datetime.date(2019, 5, 3)",
            "datetime.date(2019 at line 1, column 7 is the text of an object of the sending program, not its contents; encode the object as JSON.",
        ),
        ("{{price}}", "Placeholder of a template at line 1, column 7: it was not replaced by its value."),
        ("%s", "Placeholder of a format at line 1, column 7: it was not replaced by its value."),
        ("“Bra bil”", "Typographic quote “ at line 1, column 7; JSON uses straight double quotes, \"."),
        ("'Bra bil'", "Single quote at line 1, column 7; JSON uses double quotes."),
        ("1 // mil", "Comment at line 1, column 9; JSON has no comments, remove it."),
        ("[1, 2, ]", "Trailing comma at line 1, column 12; remove it."),
        ("[1,, 2]", "Two commas at line 1, column 10 with nothing between; remove one."),
        ("[1 2]", "1 2 at line 1, column 8 is neither a number nor in quotes; write \"1 2\", or the number alone."),
        ("1 \"b\": 2", "A comma is missing at line 1, column 9, before the next item."),
        ("[1}", "} at line 1, column 9 closes what [ opened; write ] first."),
        ("1; ", "Semicolon at line 1, column 8; JSON separates values by commas."),
        ("@", "@ at line 1, column 7 is not in quotes; write \"@\"."),
    ] {
        let body = format!("{{\"a\": {value}}}");
        assert_eq!(explained(body.as_bytes()), says, "{body}");
    }
}

#[test]
fn so_is_what_is_wrong_around_values() {
    for (body, says) in [
        ("", "The body is empty; send a JSON object."),
        (" \n", "The body is empty; send a JSON object."),
        ("{'a': 1}", "Single quote at line 1, column 2; JSON uses double quotes."),
        ("{\"a\": 1,\n  \"b\": 2,\n}", "Trailing comma at line 2, column 9; remove it."),
        ("{a: 1}", "a at line 1, column 2 is not in quotes; write \"a\"."),
        ("{\"a\": 1, b: 2}", "b at line 1, column 10 is not in quotes; write \"b\"."),
        (
            "{source_id=1, body=x}",
            "source_id at line 1, column 2 is followed by =; this is how Java, Ruby and other languages show a map. Encode it as JSON: names in quotes, and a colon between name and value.",
        ),
        (
            "{\"a\"=>1}",
            "An arrow, =>, stands at line 1, column 5; this is how Ruby and PHP show a map. Encode it as JSON: a colon stands between name and value.",
        ),
        ("{\"a\" 1}", "expected `:` at line 1, column 6, and 1 stands there."),
        (
            "{\\\"a\\\": 1}",
            "Backslash before a quote at line 1, column 2, outside of a text: the JSON was escaped as if it stood within a text. Send it without these backslashes.",
        ),
        (
            "{\\n}",
            "Backslash at line 1, column 2, outside of a text; remove it. A line break is sent as it is there, not as \\n.",
        ),
        ("{\"a\": 1} // done", "Comment at line 1, column 10; JSON has no comments, remove it."),
        ("{} {}", "A second JSON value begins at line 1, column 4; send one ad in each request."),
        ("{}\n{}", "A second JSON value begins at line 2, column 1; send one ad in each request."),
        (
            "{\"a\": 1}\0",
            "NUL (U+0000) at line 1, column 9, behind the JSON object; send the object without the NUL at its end.",
        ),
        ("{\"a\": 1}}", "A bracket at line 1, column 9 closes nothing; remove it."),
        (
            "{\"a\": 1",
            "The body ends at line 1, column 8 before the JSON object does; it was cut off, or a bracket or quote is missing.",
        ),
        (
            "{\"a\": \"Bra",
            "The body ends at line 1, column 11 before the JSON object does; it was cut off, or a bracket or quote is missing.",
        ),
    ] {
        assert_eq!(explained(body.as_bytes()), says, "{body}");
    }
}

#[test]
fn other_formats_are_named() {
    for (body, format) in [
        (&b"source_id=1&brand=volvo"[..], "form data (name=value)"),
        (b"--x\r\nContent-Disposition: form-data; name=\"a\"", "form data (multipart/form-data)"),
        (b"<?xml version=\"1.0\"?><ad/>", "XML"),
        (b"<!DOCTYPE html>", "HTML"),
        (b"<br />\n<b>Warning</b>: Undefined", "HTML"),
        (b"<__main__.Ad object at 0x7f2a>", "the text of a Python object"),
        (b"%7B%22source_id%22%3A%22x%22%7D", "JSON in percent encoding"),
        (b"eyJzb3VyY2VfaWQiOiJ4In0=", "JSON in Base64"),
        (b"a:1:{s:4:\"body\";s:1:\"x\";}", "the result of PHP's serialize"),
        (b"callback({\"a\": 1})", "JSON within a call of a function"),
        (
            b"HASH(0x55d0c8a1b2c8)",
            "the name of an object of the sending program, not its contents (HASH(0x55d0c8a1b2c8))",
        ),
        (b"[object Object]", "([object Object])"),
        (b"Ad=HASH(0x55d0c8a1b2c8)", "(Ad=HASH(0x55d0c8a1b2c8))"),
        (b"Array", "(Array)"),
        (b"array (\n  'source_id' => 'x',\n)", "a PHP array as var_export or print_r shows it"),
        (b"#ad\nsource_id=x\n", "TOML or an INI file"),
        (b"java.util.HashMap@1b2c3d", "(java.util.HashMap@1b2c3d)"),
        (b"map[body:x source_id:1]", "a map as Go prints it"),
        (b"$VAR1 = {};", "a dump of Perl's Data::Dumper"),
        (b"POST /v4/car HTTP/1.1\r\nHost: x\r\n\r\n{}", "a whole HTTP message"),
        (b"INSERT INTO ads VALUES (1)", "an SQL statement"),
        (b"---\nsource_id: x\n", "YAML"),
        (b"source_id: x\nbody: y\n", "YAML"),
        (b"source_id = \"x\"\n", "TOML or an INI file"),
        (b"[ad]\nsource_id=x\n", "TOML or an INI file"),
        (b"source_id;brand;model\n1;volvo;v60\n", "CSV"),
        (b"car-1,volvo,v60\n", "CSV"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"\xac\xed\x00\x05sr", "a serialized Java object"),
        (b"\x80\x04\x95\x0b", "a Python pickle"),
        (b"\xff\xfe{\0}\0", "in UTF-16"),
        (b"\0\x01", "in UTF-16 or UTF-32"),
        (b"{\"body\": \"\xe5\"}", "not in UTF-8: byte 0xE5 at line 1, column 11 looks like Latin-1"),
    ] {
        let explained = explained(body);
        assert!(explained.starts_with("The body is ") && explained.contains(format), "{body:?}: {explained}");
    }
}

#[test]
fn json_that_is_no_object_has_advice() {
    for (value, says) in [
        (
            json!([{"op": "replace", "path": "/body", "value": "x"}]),
            "It is a JSON Patch (RFC 6902), which is not supported: send an object of the fields that change",
        ),
        (json!([{"body": "x"}]), "It is a list of one object; send the object without the list."),
        (json!([{"body": "x"}, {"body": "y"}]), "Send each ad in a request of its own."),
        (json!([]), "send {} for an object without members"),
        (json!("{\"body\": 1}"), "it was encoded twice. Send the object itself."),
        (json!(null), "null came"),
    ] {
        let text = not_an_object(&value);
        assert!(text.starts_with("The body must be a JSON object. ") && text.contains(says), "{value}: {text}");
    }
    assert_eq!(not_an_object(&json!(1)), "The body must be a JSON object.");
}

#[test]
fn hostile_bodies_are_explained_at_once() {
    for body in [
        vec![b'['; 1 << 20],
        vec![b'a'; 1 << 20],
        [&b"{\""[..], &vec![b'\n'; 1 << 20]].concat(),
        [&b"{\"a\": "[..], &vec![b'9'; 1 << 20], b",5}"].concat(),
        [&b"{"[..], &vec![b' '; 1 << 20], b"x"].concat(),
    ] {
        let begun = std::hint::black_box(&body);
        assert!(explained(begun).len() < 1000, "{}", explained(begun).len());
    }
}
