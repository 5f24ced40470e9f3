//! Makes a database of any number of ads as the service and a worker would have left it: ads, their logs, their
//! listings and the texts to be searched. The same number gives the same database. It is written past the service, with
//! the schema that the service has made, because a million requests would take an hour.

use std::path::Path;

use ad_server::store::{Database, SqliteStore};
use serde_json::{Map, Value, json};
use sqlx::{
    Connection, QueryBuilder, Sqlite, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use uuid::Uuid;

use super::words::{self, Dice};
use crate::support::{CAR, database_url};

const BOAT: &str = include_str!("../../data/payloads/boat-v4.json");

/// Ads of the dealer whose lists are compared, in every stock.
pub(super) const COMPARED: usize = 1000;
/// 1 January 2024.
const START: i64 = 1_704_067_200_000;
/// The ads were created over two years.
const SPAN: i64 = 2 * 365 * 86_400_000;
/// Rows of one statement.
const ROWS: usize = 500;

/// A dealer with its number of ads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dealer {
    number: usize,
    ads: usize,
}

impl Dealer {
    pub(super) fn code(self) -> String {
        format!("dealer-{}", self.number)
    }

    pub(super) fn ads(self) -> usize {
        self.ads
    }
}

/// Dealers with their ads.
pub(super) struct Stock {
    /// The first is compared; it is the same in every stock.
    pub(super) dealers: Vec<Dealer>,
}

impl Stock {
    /// One dealer for each thousand ads, all of the same size.
    pub(super) fn even(ads: usize) -> Self {
        Self { dealers: (0..ads / COMPARED).map(|number| Dealer { number, ads: COMPARED }).collect() }
    }

    /// As many dealers, of whom the second has 5 % of all ads. The others share what is left.
    pub(super) fn with_a_giant(ads: usize) -> Self {
        let mut dealers = Self::even(ads).dealers;
        let mut left = ads - COMPARED;
        dealers[1].ads = ads / 20;
        left -= ads / 20;
        for place in 2..dealers.len() {
            dealers[place].ads = left / (dealers.len() - place);
            left -= dealers[place].ads;
        }
        Self { dealers }
    }

    /// Writes it into a new database in a folder.
    pub(super) async fn write(&self, folder: &Path) -> sqlx::Result<()> {
        let url = database_url(folder);
        // Makes the schema.
        Database::open(&url).await.expect("a new database can be made").close().await;
        let options = SqliteConnectOptions::new()
            .filename(folder.join("ads.db"))
            .journal_mode(SqliteJournalMode::Off)
            .synchronous(SqliteSynchronous::Off)
            .pragma("locking_mode", "EXCLUSIVE")
            .pragma("cache_size", "-500000");
        let mut connection = SqliteConnection::connect_with(&options).await?;
        self.fill(&mut connection).await?;
        connection.close().await?;

        let database = Database::open(&url).await.expect("what was filled can be opened");
        // The store fills the index for searching by itself.
        let store = SqliteStore::new(database.clone());
        while database.unindexed().await.expect("the store can be read") > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        drop(store);
        database.close().await;
        Ok(())
    }

    async fn fill(&self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        let indexes: Vec<(String, String)> =
            sqlx::query_as("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
                .fetch_all(&mut *connection)
                .await?;
        for (name, _) in &indexes {
            execute(connection, &format!("DROP INDEX {name}")).await?;
        }
        execute(connection, "BEGIN").await?;
        for dealer in &self.dealers {
            sqlx::query("INSERT INTO dealer_numbers (number, dealer_code) VALUES ($1, $2)")
                .bind(number(dealer.number))
                .bind(dealer.code())
                .execute(&mut *connection)
                .await?;
        }
        let samples = Samples::new();
        let mut order: Vec<(i64, Dealer, usize)> = Vec::new();
        for dealer in &self.dealers {
            order.extend((0..dealer.ads).map(|place| (Ad::created(*dealer, place), *dealer, place)));
        }
        order.sort_unstable();
        for (batch, ads) in order.chunks(ROWS).enumerate() {
            let ads = ads.iter().enumerate();
            let ads: Vec<_> =
                ads.map(|(row, (_, dealer, place))| (1 + batch * ROWS + row, samples.ad(*dealer, *place))).collect();
            insert(connection, &ads).await?;
        }
        for sql in FOLLOWING {
            execute(connection, sql).await?;
        }
        for (_, sql) in &indexes {
            execute(connection, sql).await?;
        }
        execute(connection, "COMMIT").await
    }
}

/// What follows from the ads: eight log entries each, and the listings that they hold.
const FOLLOWING: &[&str] = &[
    "INSERT INTO log (ad, n, request_id, created, action, state, message) \
     SELECT ads.seq, entry.key + 1, CASE WHEN entry.key < 6 THEN ads.id ELSE replace(ads.id, '-7', '-6') END, \
         ads.created + entry.key * 40 + CASE WHEN entry.key < 6 THEN 0 ELSE 3600000 END, \
         entry.value ->> 0, entry.value ->> 1, entry.value -> 2 \
     FROM ads CROSS JOIN json_each('[[\"create\",\"processing\",\"Processing\"],[\"create\",\"done\",\"Done\"],\
         [\"handle_media\",\"processing\",\"Processing\"],[\"handle_media\",\"done\",\"Done\"],\
         [\"publish\",\"processing\",\"Publishing\"],[\"publish\",\"done\",\"Published\"],\
         [\"bump\",\"processing\",\"Processing\"],[\"bump\",\"done\",\"Done\"]]') AS entry \
     ORDER BY ads.seq, entry.key",
    "INSERT INTO ties (market, listing, ad) SELECT 'primary', marketplace_ad_id, seq FROM ads",
    "INSERT INTO ties (market, listing, ad) SELECT 'secondary', offer_id, seq FROM ads WHERE offer_id IS NOT NULL",
];

async fn execute(connection: &mut SqliteConnection, sql: &str) -> sqlx::Result<()> {
    sqlx::query(sqlx::AssertSqlSafe(sql)).execute(connection).await.map(drop)
}

async fn insert(connection: &mut SqliteConnection, ads: &[(usize, Ad)]) -> sqlx::Result<()> {
    let mut sql = QueryBuilder::<Sqlite>::new(
        "INSERT INTO ads (seq, id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, \
         updated, registration_number, marketplace_ad_id, offer_id, image_refs, content) ",
    );
    sql.push_values(ads, |mut row, (seq, ad)| {
        row.push_bind(number(*seq)).push_bind(ad.id.to_string()).push_bind(&ad.source_id).push_bind(ad.dealer.code());
        row.push_bind(ad.category).push_bind(ad.state).push_bind("v4").push_bind(0).push_bind(ad.state);
        row.push_bind(ad.created).push_bind(ad.updated).push_bind(&ad.plate).push_bind(&ad.listing);
        row.push_bind(ad.plate.is_some().then(|| format!("S{}", ad.listing)));
        row.push_bind(ad.image_refs.to_string()).push_bind(Value::from(ad.content.clone()).to_string());
    });
    sql.build().execute(&mut *connection).await?;
    let mut sql = QueryBuilder::<Sqlite>::new("INSERT INTO texts (place, search, source_id) ");
    sql.push_values(ads, |mut row, (seq, ad)| {
        let text = |name: &str| ad.content[name].as_str().unwrap_or_default();
        row.push_bind((number(ad.dealer.number) << 40) + number(*seq));
        row.push_bind(format!("{}\n{}", text("title"), text("body")).to_lowercase());
        row.push_bind(ad.source_id.to_lowercase());
    });
    sql.build().execute(connection).await.map(drop)
}

fn number(count: usize) -> i64 {
    i64::try_from(count).expect("counts fit")
}

/// An ad of the stock.
pub(super) struct Ad {
    pub(super) id: Uuid,
    pub(super) source_id: String,
    dealer: Dealer,
    category: u16,
    state: &'static str,
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) plate: Option<String>,
    pub(super) listing: String,
    image_refs: Value,
    content: Map<String, Value>,
}

impl Ad {
    /// The ads of a dealer are spread evenly over the time.
    fn created(dealer: Dealer, place: usize) -> i64 {
        START + (SPAN * number(place) + SPAN / 2) / number(dealer.ads)
    }
}

/// The sample payloads, of which every ad is a variation.
pub(super) struct Samples {
    car: Map<String, Value>,
    boat: Map<String, Value>,
}

impl Samples {
    pub(super) fn new() -> Self {
        let sample = |text: &str| {
            let mut sample: Map<String, Value> = serde_json::from_str(text).expect("the sample is a JSON object");
            sample.retain(|name, _| name != "source_id" && name != "category_id");
            sample
        };
        Self { car: sample(CAR), boat: sample(BOAT) }
    }

    /// The `nth` ad of a dealer: every fifth is a boat, every thousandth deleted.
    pub(super) fn ad(&self, dealer: Dealer, nth: usize) -> Ad {
        let tag = (dealer.number << 20) + nth;
        let mut dice = Dice::new(number(tag).cast_unsigned());
        let created = Ad::created(dealer, nth);
        let is_boat = nth % 5 == 3;
        let bits = u128::try_from(created).expect("after 1970") << 80 | 0x7 << 76 | 1 << 63 | tag as u128;
        let id = Uuid::from_u128(bits);
        let (brand, name) = if is_boat {
            words::BOATS[dice.below(words::BOATS.len())]
        } else {
            words::CARS[dice.below(words::CARS.len())]
        };
        let year = 2005 + dice.below(20);
        let plate = (!is_boat).then(|| format!("A{:06}", tag % 999_983));
        let images: Vec<String> = (0..4).map(|image| format!("https://cdn.example.com/{tag}/{image}.jpg")).collect();
        let mut content = if is_boat { self.boat.clone() } else { self.car.clone() };
        content.insert("title".to_owned(), json!(format!("{name} {year}")));
        content.insert("body".to_owned(), json!(words::body(&mut dice, nth % 200 == 77)));
        content.insert("url".to_owned(), json!(format!("https://dealer.example/{tag}")));
        content.insert("image_urls".to_owned(), json!(images));
        content["category_fields"]["brand"] = json!(brand);
        content["category_fields"]["model_year"] = json!(year);
        if let Some(plate) = &plate {
            content["category_fields"]["registration_number"] = json!(plate);
        }
        let image_ref = |url: &String| {
            let checksum = format!("{:064x}", dice.below(usize::MAX));
            json!({"url": url, "cdn_url": format!("https://media.example.com/media/{checksum}.jpg"),
                "id": Uuid::from_u128(bits + (1 << 40)), "checksum": checksum})
        };
        Ad {
            id,
            source_id: if nth.is_multiple_of(2) {
                format!("Lager-{nth:06}")
            } else {
                Uuid::from_u128(bits ^ bits << 17).to_string()
            },
            dealer,
            category: if is_boat { 1060 } else { 1020 },
            state: if nth % 1000 == 7 { "deleted" } else { "created" },
            created,
            updated: created + number(Dice::new(number(tag).cast_unsigned() ^ 5).below(90)) * 86_400_000,
            plate,
            listing: format!("P{}", 10_000_000 + tag),
            image_refs: images.iter().map(image_ref).collect(),
            content,
        }
    }
}
