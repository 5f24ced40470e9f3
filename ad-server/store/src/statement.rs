//! Statements: a text for each database, and values that are bound by name.

use std::sync::{Arc, OnceLock};

use ad_core::{
    model::{AdState, ApiVersion, Market, Timestamp},
    ports::Scope,
};
use sqlx::{
    Arguments, AssertSqlSafe, SqlSafeStr, SqlStr, postgres::PgArguments, query::Query, sqlite::SqliteArguments,
};
use uuid::Uuid;

use super::{nul::storable, rows::json_of};

/// Defines statements, each as the struct of its values. In the text, `:name` is the value of that field.
///
/// ```text
/// statements! {
///     /// Makes a lease last until a later time, unless another worker has the request.
///     Extend { request: Uuid, lease: i64, until: Timestamp }
///     both "UPDATE requests SET claimable = :until WHERE id = :request AND lease = :lease";
/// }
/// database.run(Extend { request, lease, until }).await
/// ```
///
/// The values may end with those of another statement, or with [`values`] that several statements have (`..base: Base`). After them
/// stands one text for `both` databases, or one for `sqlite` and one for `postgres`:
/// - `sqlite` may be several statements separated by `;`. They are sent together, because each exchange with the connection's
///   thread costs as much as a small statement.
/// - `postgres` is one statement, which is a transaction of its own.
///
/// A text that begins with `WITH :input` runs a batch of many inputs: `input` is a table of them, with the values as columns and
/// `input_number`, which is the last column of each row that is returned. In SQLite, all values of a batch are texts. PostgreSQL copies
/// the table several times; a long value that stands in the text as `(:name)[input_number]` is not a column of it.
macro_rules! statements {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$life:lifetime>)? { $($field:ident: $type:ty),* $(, ..$base:ident: $base_type:ty)? $(,)? }
        $($database:ident $text:literal)+;
    )+) => {
        $(
            $crate::statement::values! {
                $(#[$doc])*
                $name $(<$life>)? { $($field: $type),* $(, ..$base: $base_type)? }
            }

            impl $(<$life>)? From<$name $(<$life>)?> for $crate::Statement {
                fn from(statement: $name $(<$life>)?) -> Self {
                    static SQL: std::sync::LazyLock<$crate::Sql> =
                        std::sync::LazyLock::new(|| $crate::Sql::new($name::names())$(.$database($text))+);
                    Self::new(&SQL, statement.values())
                }
            }
        )+

        /// All statements of this module, with empty values.
        #[cfg(test)]
        pub(crate) fn all() -> Vec<(&'static str, $crate::Statement)> {
            vec![$((stringify!($name), $name::default().into())),+]
        }
    };
}
pub(crate) use statements;

/// Defines values that statements share, as the struct at the end of theirs.
macro_rules! values {
    (
        $(#[$doc:meta])*
        $name:ident $(<$life:lifetime>)? { $($field:ident: $type:ty),* $(, ..$base:ident: $base_type:ty)? $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $name $(<$life>)? { $(pub $field: $type,)* $(pub $base: $base_type)? }

        impl $(<$life>)? $name $(<$life>)? {
            pub fn names() -> Vec<&'static str> {
                [&[$(stringify!($field)),*] as &[_] $(, &<$base_type>::names())?].concat()
            }

            pub fn values(self) -> Vec<$crate::statement::SqlValue> {
                let values = vec![$(self.$field.into()),*];
                $(let values = values.into_iter().chain(self.$base.values()).collect();)?
                values
            }
        }
    };
}
pub(crate) use values;

/// Numbers of statements that are sent to SQLite as one, the largest first. Each number has its own text, which SQLite compiles
/// once and caches.
pub(super) const TOGETHER: [usize; 2] = [8, 2];

/// The texts of a statement, with `$1`, `$2`, … instead of names.
#[derive(Debug)]
pub struct Sql {
    names: Vec<&'static str>,
    sqlite: String,
    /// The text for SQLite as often as [`TOGETHER`] says, each with values of its own.
    sqlite_together: [OnceLock<String>; TOGETHER.len()],
    postgres: String,
    /// The databases that run it in batches.
    batched_by: Vec<Dialect>,
}

impl Sql {
    pub fn new(names: Vec<&'static str>) -> Self {
        Self {
            names,
            sqlite: String::new(),
            sqlite_together: Default::default(),
            postgres: String::new(),
            batched_by: Vec::new(),
        }
    }

    #[must_use]
    pub fn both(self, text: &str) -> Self {
        self.sqlite(text).postgres(text)
    }

    #[must_use]
    pub fn sqlite(mut self, text: &str) -> Self {
        let columns: Vec<_> =
            self.names.iter().enumerate().map(|(place, name)| format!("value ->> {place} AS {name}")).collect();
        let input = format!("input AS (SELECT {}, key + 1 AS input_number FROM json_each($1))", columns.join(", "));
        self.sqlite = self.with_input(Dialect::Sqlite, text, &input);
        self
    }

    #[must_use]
    pub fn postgres(mut self, text: &str) -> Self {
        let is_column = |name: &&str| !text.contains(&format!("(:{name})["));
        let columns: Vec<_> = self.names.iter().copied().filter(is_column).collect();
        let (values, columns) = (columns.join(", :"), columns.join(", "));
        let input = format!(
            "input AS MATERIALIZED (
                SELECT * FROM unnest(:{values}) WITH ORDINALITY AS input ({columns}, input_number)
            )"
        );
        self.postgres = self.with_input(Dialect::Postgres, text, &input);
        self
    }

    /// The text for SQLite so many times, with the numbers of its values counted on.
    fn sqlite_times(&self, times: usize) -> String {
        let shifted = |by: usize| {
            let mut parts = self.sqlite.split('$');
            let mut text = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let end = part.find(|next: char| !next.is_ascii_digit()).unwrap_or(part.len());
                let (number, rest) = part.split_at(end);
                let number =
                    number.parse().map_or_else(|_| number.to_owned(), |number: usize| (number + by).to_string());
                text.extend(["$", &number, rest]);
            }
            text
        };
        (0..times).map(|time| shifted(time * self.names.len())).collect::<Vec<_>>().join(";\n")
    }

    fn with_input(&mut self, dialect: Dialect, text: &str, input: &str) -> String {
        if text.contains(":input") {
            self.batched_by.push(dialect);
        }
        self.numbered(&text.replace(":input", input))
    }

    fn numbered(&self, text: &str) -> String {
        let text = text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let mut parts = text.split(':');
        let mut numbered = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|next: char| !next.is_ascii_lowercase() && next != '_').unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            let place = self.names.iter().position(|known| *known == name);
            let place = place.unwrap_or_else(|| panic!("no value is named {name:?}: {text}"));
            numbered.extend(["$", &(place + 1).to_string(), rest]);
        }
        numbered
    }
}

/// The SQL dialect of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// A value of a statement. A list is one value, however long it is: a JSON array in SQLite, an array in PostgreSQL.
#[derive(Debug, Clone)]
pub enum SqlValue {
    Number(Option<i64>),
    /// Shared with the arguments of SQLite, which hold it until the thread of the connection has bound it.
    Text(Option<Arc<str>>),
    Flag(bool),
    Id(Uuid),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
    Ids(Vec<Uuid>),
}

macro_rules! value_from {
    ($($from:ty => $kind:ident($value:ident -> $into:expr)),+ $(,)?) => {
        $(impl From<$from> for SqlValue {
            fn from($value: $from) -> Self {
                Self::$kind($into)
            }
        })+
    };
}

value_from! {
    i64 => Number(number -> Some(number)),
    Option<i64> => Number(number -> number),
    u8 => Number(number -> Some(number.into())),
    Option<u8> => Number(number -> number.map(i64::from)),
    u16 => Number(number -> Some(number.into())),
    Option<u16> => Number(number -> number.map(i64::from)),
    u32 => Number(number -> Some(number.into())),
    u64 => Number(number -> Some(i64::try_from(number).unwrap_or(i64::MAX))),
    usize => Number(number -> Some(i64::try_from(number).unwrap_or(i64::MAX))),
    Timestamp => Number(time -> Some(time.as_millis())),
    Option<Timestamp> => Number(time -> time.map(Timestamp::as_millis)),
    &str => Text(text -> Some(text.into())),
    Option<&str> => Text(text -> text.map(Arc::from)),
    String => Text(text -> Some(text.into())),
    Option<String> => Text(text -> text.map(Arc::from)),
    Option<AdState> => Text(state -> state.map(|state| state.name().into())),
    Option<ApiVersion> => Text(version -> version.map(|version| version.name().into())),
    Option<Market> => Text(market -> market.map(|market| market.name().into())),
    bool => Flag(flag -> flag),
    Uuid => Id(id -> id),
    &[String] => Texts(texts -> texts.to_vec()),
    Vec<String> => Texts(texts -> texts),
    Vec<i64> => Numbers(numbers -> numbers),
    Vec<Uuid> => Ids(ids -> ids),
}

/// The values of a statement that is composed for one dialect, in the order of their numbers.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) dialect: Dialect,
    added: Vec<SqlValue>,
    /// Whether the statement searches texts.
    pub(super) is_search: bool,
}

impl Values {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, added: Vec::new(), is_search: false }
    }

    /// Adds a value, and returns how it is written in the text.
    pub(super) fn add(&mut self, value: impl Into<SqlValue>) -> String {
        self.added.push(value.into());
        format!("${}", self.added.len())
    }

    /// The condition that a column has one of these values.
    pub(super) fn one_of(&mut self, column: &str, values: impl Into<SqlValue>) -> String {
        let values = self.add(values);
        match self.dialect {
            Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each({values}))"),
            Dialect::Postgres => format!("{column} = ANY ({values})"),
        }
    }

    /// The condition that a dealer code is within a scope.
    pub(super) fn within(&mut self, scope: Scope<'_>, dealer_code: &str) -> String {
        match scope {
            Scope::Dealer(code) => format!("{dealer_code} = {}", self.add(code)),
            Scope::Dealers(codes) => self.one_of(dealer_code, codes),
        }
    }

    pub(super) fn statement(self, text: String) -> Statement {
        Statement { sql: StatementSql::Built(text), values: self.added, dealer: None, is_search: self.is_search }
    }
}

pub(super) type SqliteQuery = Query<'static, sqlx::Sqlite, SqliteArguments>;
pub(super) type PostgresQuery = Query<'static, sqlx::Postgres, PgArguments>;

/// SQL with its values, which can be run any number of times.
#[derive(Debug, Clone)]
pub struct Statement {
    sql: StatementSql,
    pub(super) values: Vec<SqlValue>,
    dealer: Option<String>,
    is_search: bool,
}

#[derive(Debug, Clone)]
enum StatementSql {
    Constant(&'static Sql),
    Built(String),
}

impl Statement {
    pub fn new(sql: &'static Sql, values: Vec<SqlValue>) -> Self {
        Self { sql: StatementSql::Constant(sql), values, dealer: None, is_search: false }
    }

    #[must_use]
    pub fn for_client_of(self, dealer_code: &str) -> Self {
        Self { dealer: Some(dealer_code.to_owned()), ..self }
    }

    /// Whether it searches texts, which takes long in a large stock.
    pub(super) fn is_search(&self) -> bool {
        self.is_search
    }

    /// The dealer whose client waits for it.
    pub fn dealer(&self) -> Option<&str> {
        self.dealer.as_deref()
    }

    /// The total length of its texts.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = self.values.iter().map(|value| if let SqlValue::Text(Some(text)) = value { text.len() } else { 0 });
        texts.sum()
    }

    pub(super) fn text(&self, dialect: Dialect) -> SqlStr {
        match &self.sql {
            // Composed of constants of this crate.
            StatementSql::Built(text) => AssertSqlSafe(text.clone()).into_sql_str(),
            StatementSql::Constant(sql) if dialect == Dialect::Sqlite => SqlStr::from_static(&sql.sqlite),
            StatementSql::Constant(sql) => SqlStr::from_static(&sql.postgres),
        }
    }

    /// Whether the database can run it in one statement with others like it.
    pub(super) fn is_batch(&self, dialect: Dialect) -> bool {
        matches!(self.sql, StatementSql::Constant(sql) if sql.batched_by.contains(&dialect))
    }

    /// Whether it differs only in its values.
    pub(super) fn has_same_text(&self, other: &Self) -> bool {
        match (&self.sql, &other.sql) {
            (StatementSql::Constant(one), StatementSql::Constant(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    pub(super) fn for_sqlite(&self) -> SqliteQuery {
        if self.is_batch(Dialect::Sqlite) {
            return Self::batch_for_sqlite(std::slice::from_ref(self));
        }
        sqlx::query_with(self.text(Dialect::Sqlite), Self::sqlite_arguments(&self.values))
    }

    /// How many of these are sent to SQLite together.
    pub(super) fn together(statements: &[&Self]) -> usize {
        let Some(first) = statements.first().filter(|first| !first.is_batch(Dialect::Sqlite)) else { return 1 };
        let alike = statements.iter().take_while(|other| first.has_same_text(other)).count();
        TOGETHER.into_iter().find(|times| *times <= alike).unwrap_or(1)
    }

    /// The statements of SQLite that its text consists of.
    pub(super) fn parts(&self) -> usize {
        let text = self.text(Dialect::Sqlite);
        text.as_str().split(';').filter(|part| !part.trim().is_empty()).count().max(1)
    }

    /// One text for all these, which have the same SQL; there are as many as [`together`](Self::together) says.
    pub(super) fn together_for_sqlite(statements: &[&Self]) -> SqliteQuery {
        let place = TOGETHER.iter().position(|times| *times == statements.len());
        let (StatementSql::Constant(sql), Some(place)) = (&statements[0].sql, place) else {
            return statements[0].for_sqlite();
        };
        let text = sql.sqlite_together[place].get_or_init(|| sql.sqlite_times(statements.len()));
        let values = statements.iter().flat_map(|statement| &statement.values);
        sqlx::query_with(SqlStr::from_static(text), Self::sqlite_arguments(values))
    }

    fn sqlite_arguments<'v>(values: impl IntoIterator<Item = &'v SqlValue>) -> SqliteArguments {
        let mut arguments = SqliteArguments::default();
        for value in values {
            let added = match value {
                SqlValue::Number(number) => arguments.add(*number),
                SqlValue::Text(text) => arguments.add(text.clone()),
                SqlValue::Flag(flag) => arguments.add(*flag),
                SqlValue::Id(id) => arguments.add(id.to_string()),
                SqlValue::Texts(texts) => arguments.add(json_of(texts)),
                SqlValue::Numbers(numbers) => arguments.add(json_of(numbers)),
                SqlValue::Ids(ids) => arguments.add(json_of(ids)),
            };
            added.expect(ENCODES);
        }
        arguments
    }

    pub(super) fn for_postgres(&self) -> PostgresQuery {
        let mut arguments = PgArguments::default();
        for value in &self.values {
            let added = match value {
                SqlValue::Number(number) => arguments.add(*number),
                SqlValue::Text(text) => arguments.add(text.as_deref().map(storable)),
                SqlValue::Flag(flag) => arguments.add(*flag),
                SqlValue::Id(id) => arguments.add(*id),
                SqlValue::Texts(texts) => arguments.add(texts.iter().map(|text| storable(text)).collect::<Vec<_>>()),
                SqlValue::Numbers(numbers) => arguments.add(numbers.as_slice()),
                SqlValue::Ids(ids) => arguments.add(ids.as_slice()),
            };
            added.expect(ENCODES);
        }
        sqlx::query_with(self.text(Dialect::Postgres), arguments)
    }

    /// One statement for the inputs of all these, which have the same SQL.
    pub(super) fn batch_for_sqlite(statements: &[Self]) -> SqliteQuery {
        fn text(value: &SqlValue) -> Option<&str> {
            match value {
                SqlValue::Text(text) => text.as_deref(),
                _ => unreachable!("all values of a batch in SQLite are texts"),
            }
        }
        let inputs: Vec<Vec<_>> =
            statements.iter().map(|statement| statement.values.iter().map(text).collect()).collect();
        let mut arguments = SqliteArguments::default();
        arguments.add(json_of(&inputs)).expect(ENCODES);
        sqlx::query_with(statements[0].text(Dialect::Sqlite), arguments)
    }

    /// As the batch for SQLite, with each value as an array.
    pub(super) fn batch_for_postgres(statements: &[Self]) -> PostgresQuery {
        /// The values of all statements at one position.
        macro_rules! column {
            ($place:ident, $kind:ident($value:ident) => $into:expr) => {{
                let values = statements.iter().filter_map(|statement| match &statement.values[$place] {
                    SqlValue::$kind($value) => Some($into),
                    _ => None,
                });
                values.collect::<Vec<_>>()
            }};
        }
        let mut arguments = PgArguments::default();
        let first = &statements[0];
        for (place, value) in first.values.iter().enumerate() {
            let added = match value {
                SqlValue::Number(_) => arguments.add(column!(place, Number(number) => *number)),
                SqlValue::Text(_) => arguments.add(column!(place, Text(text) => text.as_deref().map(storable))),
                SqlValue::Flag(_) => arguments.add(column!(place, Flag(flag) => *flag)),
                SqlValue::Id(_) => arguments.add(column!(place, Id(id) => *id)),
                SqlValue::Texts(_) | SqlValue::Numbers(_) | SqlValue::Ids(_) => {
                    unreachable!("no value of a batch is a list")
                }
            };
            added.expect(ENCODES);
        }
        sqlx::query_with(first.text(Dialect::Postgres), arguments)
    }
}

const ENCODES: &str = "numbers, texts and ids always encode";
