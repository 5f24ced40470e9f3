//! Response headers for caches and browsers (extensions E3.3, E3.10, E3.12).

use base64::{Engine, engine::general_purpose::STANDARD};
use poem::{
    Response,
    http::{HeaderName, HeaderValue, header},
};
use sha2::{Digest, Sha256};

/// Of an answer to a token: caches ask each time whether it still holds.
pub(super) const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Of lookups, which change with a new version of the service only.
pub(super) const LOOKUP: HeaderValue = HeaderValue::from_static("private, max-age=300");

/// Of a GET that does something.
pub(super) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const TOKEN: HeaderValue = HeaderValue::from_static("X-Auth-Token");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");

/// An answer that depends on the token, and what caches may do with it.
pub(super) fn to_token(mut response: Response, cache: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, cache);
    headers.append(header::VARY, TOKEN);
    response
}

/// An answer whose type is what it says.
pub(super) fn safe(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    response
}

/// The headers of a page: it runs its own scripts, speaks to this service, and is not shown within another page.
pub(super) fn of_page(html: &str, public_url: Option<&str>) -> Vec<(HeaderName, HeaderValue)> {
    let hash = |script: &String| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)));
    let scripts: Vec<_> = scripts(html).iter().map(hash).collect();
    let service = public_url.and_then(|url| url::Url::parse(url).ok()).map(|url| url.origin().ascii_serialization());
    let policy = format!(
        // Swagger UI and Redoc set styles as they run. Redoc searches in a worker that it makes of its own text.
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; \
         connect-src 'self' {}; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        if scripts.is_empty() { "'none'".to_owned() } else { scripts.join(" ") },
        service.unwrap_or_default(),
    );
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    vec![
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, NO_REFERRER),
        (header::X_CONTENT_TYPE_OPTIONS, NOSNIFF),
    ]
}

/// The texts of the scripts in a page, none of which is loaded from elsewhere, as a browser reads them: line breaks are line
/// feeds, and `<script` within a script is text.
fn scripts(html: &str) -> Vec<String> {
    let (mut scripts, mut rest) = (Vec::new(), html);
    while let Some((text, behind)) = next_script(rest) {
        scripts.push(text.replace("\r\n", "\n").replace('\r', "\n"));
        rest = behind;
    }
    scripts
}

/// The text of the first script, and the rest of the page.
fn next_script(html: &str) -> Option<(&str, &str)> {
    let (_, tag) = html.split_once("<script")?;
    tag.split_once('>')?.1.split_once("</script>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_run_its_own_scripts_and_no_others() {
        let html =
            "<html><script charset=\"UTF-8\">one(\r\n'<script>')</script><body><script>two()</script></body></html>";
        let headers = of_page(html, Some("https://ads.example.com/import"));
        let policy = headers[0].1.to_str().unwrap();
        assert!(policy.contains("connect-src 'self' https://ads.example.com;"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        let script = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        assert!(
            policy.contains(&format!("script-src {} {};", script("one(\n'<script>')"), script("two()"))),
            "{policy}"
        );
    }
}
