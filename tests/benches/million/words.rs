//! What the ads of the benchmark say: the words of dealers, in Swedish and English.

/// Numbers that look random and are the same in every run (splitmix64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below a limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let mixed = usize::try_from((mixed ^ (mixed >> 31)) >> 1).expect("a benchmark runs on 64 bits");
        mixed % limit
    }

    pub(super) fn of<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[self.below(values.len())]
    }
}

pub(super) const CARS: &[(&str, &str)] = &[
    ("volvo", "Volvo V60 D4 Momentum"),
    ("volvo", "Volvo XC60 T6 AWD"),
    ("saab", "Saab 9-5 Aero"),
    ("volkswagen", "Volkswagen Passat Sportscombi GTE"),
    ("skoda", "Škoda Octavia 1.5 TSI"),
    ("toyota", "Toyota RAV4 Hybrid"),
    ("bmw", "BMW 320d xDrive Touring"),
    ("kia", "Kia e-Niro 64 kWh"),
    ("citroen", "Citroën C3 PureTech"),
];

pub(super) const BOATS: &[(&str, &str)] = &[
    ("nimbus", "Nimbus 305 Coupé"),
    ("yamarin", "Yamarin 63 DC"),
    ("buster", "Buster Magnum Pro"),
    ("hallberg_rassy", "Hallberg-Rassy 340"),
];

/// In about half of all bodies.
pub(super) const COMMON: &str = "Servicebok finns, inbyte möjligt.";
/// In five of a thousand.
pub(super) const RARE: &str = "Ett äkta samlarobjekt!";

const SENTENCES: &[&str] = &[
    "Välskött med full servicehistorik",
    "Nybesiktigad utan anmärkning",
    "En ägare från ny, rökfri och djurfri",
    "Two keys and all manuals included",
    "Vinterdäck på fälg ingår",
    "Heated seats, navigation and a reversing camera",
    "Dragkrok och motorvärmare monterad",
    "Kamremmen är bytt vid 12 000 mil",
    "Very well kept, always in a garage",
    "Svensksåld, leverans till hela landet",
    "Finance from our own bank, ring för offert",
    "Kapell, plotter och ekolod följer med",
    "Ny bottenmålning våren 2024",
    "Garanti 12 månader eller 2 000 mil",
    "Recently serviced, new brakes and battery",
    "Liten repa på höger bakskärm",
];

/// The text of an ad.
pub(super) fn body(dice: &mut Dice, is_rare: bool) -> String {
    let mut text = Vec::new();
    for _ in 0..3 + dice.below(4) {
        text.push(format!("{}.", dice.of(SENTENCES)));
    }
    if dice.below(2) == 0 {
        text.push(COMMON.to_owned());
    }
    if is_rare {
        text.push(RARE.to_owned());
    }
    text.push(format!("Ref {}.", dice.below(1_000_000)));
    text.join(" ")
}
