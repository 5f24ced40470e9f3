//! Categories that V3 alone has. Their `category_fields` have no published list: they are open and kept as sent
//! (decision 20).

use super::category::{Category, Compiled, FromV3, Heading, compiled};

pub(super) static ALL: [Category; 14] = [
    open(1061, "Boats (1061)", Heading::Required),
    open(1062, "Boats (1062)", Heading::Required),
    open(1063, "Inflatable boat, RIB", Heading::Required),
    open(1064, "Dinghy, rowboat", Heading::Required),
    open(1065, "Kayak, canoe", Heading::Required),
    open(1066, "Jet ski", Heading::Required),
    open(1067, "Other boats", Heading::Required),
    open(1122, "A-tractors", Heading::Optional),
    open(1221, "Truck & bus", Heading::Required),
    open(1222, "Agricultural machinery", Heading::Required),
    open(1223, "Construction machinery", Heading::Required),
    open(1224, "Truck & material handling", Heading::Required),
    open(1225, "Forestry machinery", Heading::Required),
    open(1226, "Ground care machinery", Heading::Required),
];

const fn open(id: u16, name: &'static str, heading: Heading) -> Category {
    Category {
        id,
        name,
        vehicle_type: None,
        from_v3: FromV3::Migrates(&[]),
        registered: false,
        heading,
        tables: &[],
        rules: &[],
        compiled: compiled(|| Compiled::of(&[])),
    }
}
