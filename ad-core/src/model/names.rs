//! Names of closed lists of the contract.

/// The names of a closed list of the contract, for parsing and for messages.
macro_rules! names {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
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
    };
}
pub(super) use names;
