//! Addresses of images that are accepted and can never lead to one.

use url::{Host, Url};

use crate::{
    fields::plain_host,
    network::{AddressClass, classify},
};

/// Names of hosts that exist in private networks only, or in examples (RFC 2606, RFC 6761, RFC 6762).
const PRIVATE_NAMES: [&str; 8] = ["localhost", "local", "internal", "localdomain", "lan", "intranet", "home", "test"];

/// Why no image can be fetched from an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreachable {
    PrivateHost(String),
    Credentials,
    Fragment(String),
    Entity(String),
    Several(Vec<String>),
}

impl Unreachable {
    /// The cause and what to send, in English and Swedish.
    pub(super) fn texts(&self) -> (String, String) {
        match self {
            Self::PrivateHost(host) => (
                format!("The service cannot fetch this image: {host} is this machine or in a private network. Send an address on the public internet."),
                format!("Tjänsten kan inte hämta bilden: {host} är den egna datorn eller ligger i ett privat nät. Ange en publik adress."),
            ),
            Self::Credentials => (
                "The service cannot fetch this image: the address has a user name or password, which is not sent. Make the image public.".to_owned(),
                "Tjänsten kan inte hämta bilden: adressen har användarnamn eller lösenord, som inte skickas. Gör bilden publik.".to_owned(),
            ),
            Self::Fragment(meant) => (
                format!("# and what follows are not part of the address of a file: send \"{meant}\", or %23 if the name has a #."),
                format!("# och det som följer hör inte till en fils adress: ange \"{meant}\", eller %23 om namnet har ett #."),
            ),
            Self::Entity(meant) => (
                format!("The address was encoded for HTML: send \"{meant}\", with & instead of &amp;."),
                format!("Adressen är kodad för HTML: ange \"{meant}\", med & i stället för &amp;."),
            ),
            Self::Several(addresses) => {
                let addresses = crate::violation::nearest::quoted(addresses.iter().map(String::as_str));
                (
                    format!("These are several addresses in one text: send [{addresses}]."),
                    format!("Detta är flera adresser i en text: ange [{addresses}]."),
                )
            }
        }
    }

    /// The address that was meant, if it is one.
    pub(super) fn meant(&self) -> Option<String> {
        match self {
            Self::Fragment(meant) | Self::Entity(meant) => Some(meant.clone()),
            _ => None,
        }
    }
}

/// Signs of an address that is looked at more closely.
const SIGNS: [bool; 256] = {
    let signs = b"#;@, |\n\r\t";
    let (mut known, mut next) = ([false; 256], 0);
    while next < signs.len() {
        known[signs[next] as usize] = true;
        next += 1;
    }
    known
};

/// Why no image can be fetched from an address, if that is so.
pub(super) fn unreachable(address: &str) -> Option<Unreachable> {
    // Nearly every address has a public name and none of the signs.
    match plain_host(&["https", "http"], address) {
        Some(host)
            if !is_private(host) && !address.bytes().fold(false, |found, byte| found | SIGNS[usize::from(byte)]) =>
        {
            None
        }
        _ => examined(address),
    }
}

/// Whether a host has no domain, or one that is not on the internet.
fn is_private(host: &str) -> bool {
    host.rsplit_once('.').is_none_or(|(_, domain)| PRIVATE_NAMES.contains(&domain))
}

fn examined(address: &str) -> Option<Unreachable> {
    if let Some(several) = several(address) {
        return Some(Unreachable::Several(several));
    }
    let url = Url::parse(address).ok()?;
    let private = match url.host()? {
        Host::Domain(name) => is_private(name.trim_end_matches('.')),
        Host::Ipv4(ip) => classify(ip.into()) != AddressClass::Public,
        Host::Ipv6(ip) => classify(ip.into()) != AddressClass::Public,
    };
    if private {
        return Some(Unreachable::PrivateHost(url.host_str().unwrap_or_default().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some(Unreachable::Credentials);
    }
    if address.contains("&amp;") {
        return Some(Unreachable::Entity(address.replace("&amp;", "&")));
    }
    let (before, _) = address.split_once('#')?;
    Some(Unreachable::Fragment(before.to_owned()))
}

/// The addresses of a text with several.
fn several(address: &str) -> Option<Vec<String>> {
    let is_divider = |letter: char| matches!(letter, ',' | ';' | '|') || letter.is_whitespace();
    let mut addresses: Vec<String> = Vec::new();
    let mut rest = address;
    loop {
        let further = ["https://", "http://"].iter().filter_map(|scheme| rest.get(1..)?.find(scheme)).min();
        // An address within another one is part of its query or path.
        let next = further.map(|at| at + 1).filter(|at| rest[..*at].ends_with(is_divider));
        let (one, behind) = rest.split_at(next.unwrap_or(rest.len()));
        addresses.push(one.trim_end_matches(is_divider).to_owned());
        if next.is_none() {
            break;
        }
        rest = behind;
    }
    (addresses.len() > 1).then_some(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_lead_to_no_image_are_known_with_their_cause() {
        for (address, cause) in [
            ("https://localhost/1.jpg", Unreachable::PrivateHost("localhost".into())),
            ("https://nas/1.jpg", Unreachable::PrivateHost("nas".into())),
            ("https://bilder.local/1.jpg", Unreachable::PrivateHost("bilder.local".into())),
            ("https://192.168.0.7/1.jpg", Unreachable::PrivateHost("192.168.0.7".into())),
            ("https://[::1]/1.jpg", Unreachable::PrivateHost("[::1]".into())),
            ("https://anna:hemlig@cdn.example/1.jpg", Unreachable::Credentials),
            ("https://cdn.example/1.jpg#2", Unreachable::Fragment("https://cdn.example/1.jpg".into())),
            ("https://cdn.example/i?a=1&amp;b=2", Unreachable::Entity("https://cdn.example/i?a=1&b=2".into())),
            (
                "https://x.example/c.jpg,https://x.example/d.jpg; https://x.example/e.jpg",
                Unreachable::Several(["c", "d", "e"].map(|name| format!("https://x.example/{name}.jpg")).into()),
            ),
        ] {
            assert_eq!(unreachable(address), Some(cause), "{address}");
        }
        for address in [
            "https://cdn.example/1.jpg",
            "https://cdn.example/a,b;c.jpg",
            "https://cdn.example/1.jpg?from=https://y.example/2.jpg",
            "https://cdn.example/@2x/1.jpg",
            "https://93.184.216.34/1.jpg",
            "https://åäö.example/1.jpg",
        ] {
            assert_eq!(unreachable(address), None, "{address}");
        }
    }
}
