//! Closed lists of the contract.

/// Defines a closed list of the contract: its values, each with its name on the wire.
macro_rules! names {
    ($($(#[$about:meta])* pub enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }

        impl $type {
            /// Every name on the wire.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// By its name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    )+};
}
pub(crate) use names;
