//! Bodies in another format than JSON. Each is recognised by its beginning.

/// The first bytes of bodies that are not text.
const BYTES: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "The body is compressed with gzip; declare it with Content-Encoding: gzip, or send it uncompressed."),
    (b"PK\x03\x04", "The body is a zip archive; send a JSON object."),
    (b"\xff\xd8\xff", "The body is a JPEG image; send a JSON object with the addresses of images in image_urls."),
    (b"\x89PNG", "The body is a PNG image; send a JSON object with the addresses of images in image_urls."),
    (b"%PDF", "The body is a PDF document; send a JSON object."),
    (b"\x80\x04\x95", "The body is a Python pickle; send a JSON object, for example by json.dumps."),
    (b"\xac\xed\x00\x05", "The body is a serialized Java object; send a JSON object."),
];

/// Recognises a text that begins so.
type Recognise = fn(&str) -> bool;

/// A format of texts: how it is recognised, what stands there, and what to send.
const TEXTS: &[(Recognise, &str, &str)] = &[
    (
        is_python_object,
        "the text of a Python object",
        "encode its members as a JSON object, for example json.dumps(vars(ad))",
    ),
    (
        is_ruby_object,
        "the text of a Ruby object",
        "encode its members as a JSON object, for example by to_json of a Hash",
    ),
    (is_html, "HTML", "this API takes JSON: send a JSON object"),
    (is_xml, "XML", "this API takes JSON: send a JSON object"),
    (is_multipart, "form data (multipart/form-data)", "send a JSON object with Content-Type: application/json"),
    (
        is_percent_encoded,
        "JSON in percent encoding (%7B is {), as for a URL",
        "send the JSON itself, without encoding it for a URL",
    ),
    (is_base64, "JSON in Base64", "send the JSON itself, without encoding it"),
    (is_php_serialized, "the result of PHP's serialize", "send that of json_encode"),
    (is_php_array, "a PHP array as var_export or print_r shows it", "send the result of json_encode"),
    (is_jsonp, "JSON within a call of a function (JSONP)", "send the object alone"),
    (
        is_stringified,
        "the name of an object of the sending program, not its contents",
        "encode the object as JSON before it is sent",
    ),
    (is_go_map, "a map as Go prints it", "encode it with json.Marshal"),
    (is_perl_dump, "a dump of Perl's Data::Dumper", "encode the reference with encode_json"),
    (is_elixir_map, "a map as Elixir prints it", "encode it as JSON, for example with Jason.encode!"),
    (is_http, "a whole HTTP message with its headers", "send the JSON object alone as the body"),
    (is_sql, "an SQL statement", "send a JSON object"),
    (is_form, "form data (name=value)", "send a JSON object with Content-Type: application/json"),
    (is_yaml, "YAML", "this API takes JSON: send a JSON object"),
    (is_toml, "TOML or an INI file", "this API takes JSON: send a JSON object"),
    (is_csv, "CSV", "this API takes JSON: send each row as a JSON object in a request of its own"),
];

/// The explanation of bytes that begin a known format.
pub(super) fn of_bytes(bytes: &[u8]) -> Option<&'static str> {
    BYTES.iter().find(|(beginning, _)| bytes.starts_with(beginning)).map(|(_, explanation)| *explanation)
}

/// The explanation of a text, without white space at its beginning, that is in a known format.
pub(super) fn of_text(text: &str) -> Option<String> {
    let (_, stands, send) = TEXTS.iter().find(|(recognise, ..)| recognise(text))?;
    // A name of an object is shown, because it says where to look.
    let name = if *stands == TEXTS_NAME { format!(" ({})", first_line(text)) } else { String::new() };
    Some(format!("The body is {stands}{name}; {send}."))
}

/// The text of the row that shows what came.
const TEXTS_NAME: &str = "the name of an object of the sending program, not its contents";

fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default().trim();
    let end = line.char_indices().nth(60).map_or(line.len(), |(end, _)| end);
    &line[..end]
}

fn begins(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

fn is_python_object(text: &str) -> bool {
    text.starts_with('<') && first_line(text).contains(" object at 0x")
}

fn is_ruby_object(text: &str) -> bool {
    text.starts_with("#<")
}

fn is_html(text: &str) -> bool {
    ["<!doctype html", "<html", "<br", "<b>", "<p", "<div", "<table", "<tr", "<td"]
        .iter()
        .any(|beginning| begins(text, beginning))
}

fn is_xml(text: &str) -> bool {
    text.starts_with('<')
}

fn is_multipart(text: &str) -> bool {
    text.starts_with("--") && text.contains("Content-Disposition")
}

fn is_percent_encoded(text: &str) -> bool {
    ["%7B", "%5B", "%22", "%257B"].iter().any(|beginning| begins(text, beginning))
}

/// `{"` is `eyJ` in Base64, with white space before or behind the bracket `ewo`, `ewog` or `eyA`.
fn is_base64(text: &str) -> bool {
    let is_of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&byte);
    ["eyJ", "ewo", "ew0K", "eyA"].iter().any(|beginning| text.starts_with(beginning))
        && text.bytes().take(200).all(is_of_base64)
}

fn is_php_serialized(text: &str) -> bool {
    let digits = text.strip_prefix("a:").or_else(|| text.strip_prefix("O:")).unwrap_or_default();
    digits.starts_with(|letter: char| letter.is_ascii_digit())
}

fn is_php_array(text: &str) -> bool {
    begins(text, "array (") || begins(text, "array(") || text.starts_with("Array\n(")
}

fn is_jsonp(text: &str) -> bool {
    let name = text.trim_start_matches(is_of_a_name);
    name.len() < text.len() && name.starts_with("({")
}

/// What programs make of an object that is used as a text.
fn is_stringified(text: &str) -> bool {
    const NAMES: [&str; 11] = [
        "HASH(0x",
        "ARRAY(0x",
        "SCALAR(0x",
        "CODE(0x",
        "=HASH(0x",
        "[object ",
        "table: 0x",
        "Object id #",
        "System.Collections.",
        "System.Data.",
        "Resource id #",
    ];
    let line = first_line(text);
    let is_java = line.split_once('@').is_some_and(|(class, hash)| {
        !class.is_empty()
            && class.chars().all(|letter| is_of_a_name(letter) || ".;[$".contains(letter))
            && !hash.is_empty()
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_java || line == "Array" || line == "Object" || line.starts_with("dict_") || {
        NAMES.iter().any(|name| line.starts_with(name) || (name.starts_with('=') && line.contains(name)))
    }
}

fn is_go_map(text: &str) -> bool {
    text.starts_with("map[") || text.starts_with("&{") || text.starts_with("&map[")
}

fn is_perl_dump(text: &str) -> bool {
    text.starts_with("$VAR1")
}

fn is_elixir_map(text: &str) -> bool {
    text.starts_with("%{")
}

fn is_http(text: &str) -> bool {
    let line = first_line(text);
    line.starts_with("HTTP/1") || line.ends_with("HTTP/1.1") || begins(line, "content-type:") || begins(line, "host:")
}

fn is_sql(text: &str) -> bool {
    ["insert into ", "select ", "update ", "replace into "].iter().any(|beginning| begins(text, beginning))
}

/// Whether a text begins with the name of a form's field and an equals sign.
fn is_form(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    let is_in_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+%[]".contains(&byte);
    name.len() < text.len() && !name.is_empty() && !name.starts_with('[') && name.bytes().all(is_in_a_name)
}

/// Whether a text begins with `---`, or with a name and a colon at the beginning of a line.
fn is_yaml(text: &str) -> bool {
    let line = first_line(text);
    let name = line.trim_start_matches("- ").trim_start_matches(is_of_a_name);
    line == "---" || (name.len() < line.len() && (name == ":" || name.starts_with(": ")))
}

fn is_toml(text: &str) -> bool {
    let line = first_line(text);
    let section = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_section = section.is_some_and(|name| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && name.chars().all(is_of_a_name)
            && text.contains('=')
    });
    let name = line.trim_start_matches(is_of_a_name);
    let is_commented = line.starts_with('#') && text.lines().nth(1).is_some_and(|line| line.contains('='));
    is_section || is_commented || (name.len() < line.len() && name.starts_with(" = "))
}

/// Whether a text begins with a line of several names or values.
fn is_csv(text: &str) -> bool {
    let line = first_line(text);
    let is_plain = !line.starts_with(['{', '[']) && !line.contains(['{', '}']);
    is_plain && [';', ',', '\t', '|'].iter().any(|mark| line.matches(*mark).count() >= 2)
}

fn is_of_a_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}
