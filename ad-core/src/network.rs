//! Classifies IP addresses by the network that they lead to, from the IANA registries of special addresses (RFC 6890). It does not look up
//! names and does not connect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network that an IP address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressClass {
    /// To a host on the public internet.
    Public,
    /// To this machine or a network behind it: loopback, private, shared and unique local addresses. An operator may
    /// permit these for development.
    Local,
    /// To nothing that serves images: link-local (where clouds keep their metadata), multicast, documentation, reserved.
    /// Never permitted.
    Never,
}

/// Prefixes of IPv4 that are not public.
#[rustfmt::skip]
const V4: &[(Ipv4Addr, u32, AddressClass)] = &[
    (Ipv4Addr::UNSPECIFIED, 8, AddressClass::Never),           // "this network", the unspecified address in it
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressClass::Local),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressClass::Local),   // shared by carrier-grade NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressClass::Local),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressClass::Never),  // link-local
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressClass::Local),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressClass::Never),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressClass::Never),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressClass::Never),  // relays of 6to4, deprecated
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressClass::Local),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressClass::Never),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressClass::Never), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressClass::Never),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressClass::Never),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressClass::Never),     // reserved, broadcast
];

/// Prefixes of IPv6, the first match counts; what matches none is not global unicast.
#[rustfmt::skip]
const V6: &[(Ipv6Addr, u32, AddressClass)] = &[
    (Ipv6Addr::LOCALHOST, 128, AddressClass::Local),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, AddressClass::Local),      // unique local
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, AddressClass::Never),     // protocol assignments, Teredo among them
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, AddressClass::Never), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, AddressClass::Never),     // documentation
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, AddressClass::Public),     // global unicast
];

/// Prefixes of IPv6 with an IPv4 address inside, and how many bits stand behind that.
#[rustfmt::skip]
const EMBEDDING: &[(Ipv6Addr, u32, u32)] = &[
    (Ipv6Addr::UNSPECIFIED, 96, 0),                         // IPv4-compatible, deprecated
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, 0),    // IPv4-mapped
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, 0),    // IPv4-translated
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, 0), // NAT64
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, 80),   // 6to4
];

/// Where an address leads; an IPv6 address that stands for an IPv4 address leads where that leads.
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    let found = V4.iter().find(|(prefix, bits, _)| (address.to_bits() ^ prefix.to_bits()) >> (32 - bits) == 0);
    found.map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    let within = |prefix: &Ipv6Addr, bits: u32| (address.to_bits() ^ prefix.to_bits()) >> (128 - bits) == 0;
    if address != Ipv6Addr::LOCALHOST
        && let Some((_, _, behind)) = EMBEDDING.iter().find(|(prefix, bits, _)| within(prefix, *bits))
    {
        #[expect(clippy::cast_possible_truncation, reason = "the 32 bits of the IPv4 address are meant")]
        return classify_v4(Ipv4Addr::from_bits((address.to_bits() >> behind) as u32));
    }
    V6.iter().find(|(prefix, bits, _)| within(prefix, *bits)).map_or(AddressClass::Never, |(_, _, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_network_and_its_disguises_are_told_apart() {
        use AddressClass::{Local, Never, Public};
        for (address, expected) in [
            ("1.1.1.1", Public),
            ("9.255.255.255", Public),
            ("11.0.0.0", Public),
            ("100.63.255.255", Public),
            ("100.128.0.0", Public),
            ("172.15.255.255", Public),
            ("172.32.0.0", Public),
            ("192.0.1.0", Public),
            ("223.255.255.255", Public),
            ("10.1.2.3", Local),
            ("100.64.0.1", Local),
            ("100.127.255.255", Local),
            ("127.0.0.1", Local),
            ("127.255.255.254", Local),
            ("172.16.0.1", Local),
            ("172.31.255.255", Local),
            ("192.168.1.1", Local),
            ("0.0.0.0", Never),
            ("0.1.2.3", Never),
            ("169.254.169.254", Never),
            ("192.0.0.1", Never),
            ("192.0.2.1", Never),
            ("192.88.99.1", Never),
            ("198.18.0.1", Never),
            ("198.19.255.255", Never),
            ("198.51.100.1", Never),
            ("203.0.113.1", Never),
            ("224.0.0.1", Never),
            ("239.255.255.255", Never),
            ("240.0.0.1", Never),
            ("255.255.255.255", Never),
            ("2606:4700:4700::1111", Public),
            ("2a00:1450:400f:80a::2004", Public),
            ("2001:200::1", Public),
            ("::1", Local),
            ("fc00::1", Local),
            ("fdff::1", Local),
            ("::", Never),
            ("100::1", Never),
            ("2001::1", Never),
            ("2001:db8::1", Never),
            ("3fff::1", Never),
            ("5f00::1", Never),
            ("fe80::1", Never),
            ("febf::1", Never),
            ("fec0::1", Never),
            ("ff02::1", Never),
            ("64:ff9b:1::1", Never),
            // The same networks mapped into IPv6.
            ("::ffff:8.8.8.8", Public),
            ("::ffff:127.0.0.1", Local),
            ("::ffff:169.254.169.254", Never),
            ("::127.0.0.1", Local),
            ("::169.254.169.254", Never),
            ("::ffff:0:10.0.0.1", Local),
            ("64:ff9b::8.8.8.8", Public),
            ("64:ff9b::192.168.0.1", Local),
            ("64:ff9b::169.254.169.254", Never),
            ("2002:808:808::1", Public),
            ("2002:7f00:1::1", Local),
            ("2002:a9fe:a9fe::1", Never),
        ] {
            assert_eq!(classify(address.parse().unwrap()), expected, "{address}");
        }
    }
}
