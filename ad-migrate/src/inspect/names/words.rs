//! Words of names of columns, as they are compared.

/// Last parts of paths that say nothing of their own: `price.amount`, `bild/@url`.
pub(super) const GENERIC: &[&str] = &[
    "value", "values", "amount", "text", "url", "href", "src", "uri", "name", "belopp", "varde", "namn", "betrag",
    "wert", "item", "rad", "code", "kod", "number", "nummer", "gross", "brutto", "adress", "address", "large",
    "original",
];

/// Parts that name the unit or the currency of what is around them.
pub(super) const UNITS: &[&str] = &["unit", "enhet", "einheit", "uom", "units"];

pub(super) const CURRENCIES: &[&str] = &["currency", "valuta", "wahrung", "waehrung", "currencycode", "valutakod"];

/// Words beside a term that do not change what it means.
pub(super) const HARMLESS: &[&[&str]] = &[
    // Taxes that a price includes.
    &["inkl", "incl", "including", "moms", "mva", "mwst", "vat", "tva", "ttc", "btw", "alv", "brutto", "gross"],
    // Which of several it is.
    &["total", "totalt", "aktuell", "current", "kontant", "advertised", "main", "first"],
    // The vehicle and its ad.
    &["fordon", "fordonets", "bilens", "bil", "vehicle", "car", "fahrzeug", "annons"],
    // What any value may be called.
    &["no", "nr", "number", "nummer", "code", "kod", "text", "name", "namn", "value", "type", "typ", "date", "datum"],
    &["url", "urls", "link", "links", "list", "lista", "stand", "of", "the", "de"],
];

/// Words that make a price another one than the one that buyers pay.
pub(super) const OTHER_PRICES: &[&[&str]] = &[
    // What the dealer paid, or other dealers pay.
    &["in", "inkop", "inkops", "inkopspris", "inpris", "innkjop", "innkjopspris", "indkob", "indkobspris"],
    &["ek", "einkauf", "einkaufspreis", "inkoop", "inkoopprijs", "osto", "ostohinta", "achat"],
    &["purchase", "purchased", "cost", "trade", "dealer", "handlerpreis"],
    // Without taxes.
    &["net", "netto", "exkl", "excl", "ex"],
    // Before a reduction, or of a new vehicle.
    &["ord", "ordinarie", "old", "previous", "was", "original", "new", "nypris", "neupreis", "rrp", "msrp"],
    // At the end of a leasing, or the least that is accepted.
    &["rest", "residual", "reserve", "minimum"],
    // In other units than whole kronor or euros.
    &["ore", "cent", "cents", "minor", "pence", "tkr", "tsek", "tusen", "thousand"],
    // For other buyers, or in parts.
    &["export", "finance", "from", "fran", "ab", "deposit"],
];

/// Words of what is around a value of something else than the vehicle: another vehicle, a person, a loan.
pub(super) const ELSEWHERE: &[&str] = &[
    "tradein",
    "trade",
    "inbyte",
    "inbytes",
    "inbytesbil",
    "previous",
    "former",
    "replacement",
    "similar",
    "related",
    "recommended",
    "alternative",
    "customer",
    "kund",
    "kunde",
    "buyer",
    "kopare",
    "seller",
    "saljare",
    "owner",
    "dealer",
    "handlare",
    "handler",
    "contact",
    "finance",
    "financing",
    "leasing",
    "lease",
    "insurance",
    "accessories",
    "parts",
];

/// Words of pictures of something else than the vehicle.
pub(super) const OTHER_PICTURES: &[&str] = &[
    "logo",
    "logotyp",
    "logotype",
    "qr",
    "dealer",
    "handlare",
    "handlarens",
    "seller",
    "saljare",
    "saljarens",
    "salesperson",
    "carfax",
    "plan",
    "brochure",
    "broschyr",
    "document",
    "damage",
    "damages",
    "skada",
    "skador",
    "banner",
    "certificate",
    "video",
    "avatar",
    "flag",
    "map",
    "badge",
    "report",
    "contact",
];

/// Words of small and of large versions of pictures.
pub(super) const SMALLER: &[&str] = &[
    "thumb",
    "thumbs",
    "thumbnail",
    "thumbnails",
    "miniatyr",
    "miniatyrer",
    "miniature",
    "mini",
    "small",
    "klein",
    "kleine",
    "liten",
    "sma",
    "icon",
    "preview",
    "vorschau",
    "tumnagel",
    "vignette",
    "s",
    "xs",
    "tn",
    "medium",
    "mittel",
    "mellan",
    "m",
];

pub(super) const LARGER: &[&str] = &[
    "large", "full", "fullsize", "original", "orig", "big", "gross", "grosse", "stor", "stora", "hd", "xl", "xxl",
    "hires", "zoom", "l",
];
