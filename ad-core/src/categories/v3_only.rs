//! Categories that V3 alone has. Their `category_fields` have no published list: they are open and kept as sent
//! (decision 20).

use super::category::{Category, Heading, v3_only};

pub(super) static ALL: [Category; 14] = [
    v3_only(1061, "Boats (1061)", Heading::Required),
    v3_only(1062, "Boats (1062)", Heading::Required),
    v3_only(1063, "Inflatable boat, RIB", Heading::Required),
    v3_only(1064, "Dinghy, rowboat", Heading::Required),
    v3_only(1065, "Kayak, canoe", Heading::Required),
    v3_only(1066, "Jet ski", Heading::Required),
    v3_only(1067, "Other boats", Heading::Required),
    v3_only(1122, "A-tractors", Heading::Optional),
    v3_only(1221, "Truck & bus", Heading::Required),
    v3_only(1222, "Agricultural machinery", Heading::Required),
    v3_only(1223, "Construction machinery", Heading::Required),
    v3_only(1224, "Truck & material handling", Heading::Required),
    v3_only(1225, "Forestry machinery", Heading::Required),
    v3_only(1226, "Ground care machinery", Heading::Required),
];
