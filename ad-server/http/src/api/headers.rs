//! Response headers for caches and browsers (extensions E3.3, E3.10, E3.12).

use base64::{Engine, engine::general_purpose::STANDARD};
use poem::{
    Response,
    http::{HeaderName, HeaderValue, header},
};
use sha2::{Digest, Sha256};

/// For answers to a token: caches revalidate each time.
pub(super) const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// For lookups, which change only with a new version of the service.
pub(super) const LOOKUP: HeaderValue = HeaderValue::from_static("private, max-age=300");

/// For a GET that does something.
pub(super) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const TOKEN: HeaderValue = HeaderValue::from_static("X-Auth-Token");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");

/// An answer that depends on the token, and what caches may do with it unless it says so itself.
pub(super) fn to_token(mut response: Response, cache: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(cache);
    headers.append(header::VARY, TOKEN);
    response
}

/// Browsers must not guess the type of the answer.
pub(super) fn safe(mut response: Response) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    response
}

/// Browsers that have seen it use https alone for a year, on this host and no other (RFC 6797).
pub(super) const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The headers of a page: it runs its own scripts, speaks to this service, and is not shown within another page.
pub(super) fn of_page(html: &str, public_url: Option<&str>) -> Vec<(HeaderName, HeaderValue)> {
    let scripts: Vec<_> = scripts(html).iter().map(|hash| format!("'{hash}'")).collect();
    let service = public_url.and_then(|url| url::Url::parse(url).ok()).map(|url| url.origin().ascii_serialization());
    let policy = format!(
        // Swagger UI and Redoc set styles from scripts. Redoc creates its search worker from a blob.
        "default-src 'none'; script-src {}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; \
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

/// The hashes of the scripts in a page: as the page itself demands of a script that it loads, and otherwise of the text as a
/// browser reads it, where line breaks are line feeds and `<script` within a script is text.
fn scripts(html: &str) -> Vec<String> {
    let (mut scripts, mut rest) = (Vec::new(), html);
    while let Some((tag, text, behind)) = next_script(rest) {
        let demanded = tag.split_once("integrity=\"").and_then(|(_, hash)| hash.split('"').next());
        scripts.push(demanded.map_or_else(|| hash(&text.replace("\r\n", "\n").replace('\r', "\n")), str::to_owned));
        rest = behind;
    }
    scripts
}

/// The hash of a script, as `integrity` and a policy have it.
pub(super) fn hash(script: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(script)))
}

/// The tag and the text of the first script, and the rest of the page.
fn next_script(html: &str) -> Option<(&str, &str, &str)> {
    let (_, script) = html.split_once("<script")?;
    let (tag, text) = script.split_once('>')?;
    let (text, behind) = text.split_once("</script>")?;
    Some((tag, text, behind))
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
