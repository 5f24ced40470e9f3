//! Statements with their values, and what became of them, whichever database it is.

use std::borrow::Cow;

use ad_core::ports::StoreError;
use sqlx::{Arguments, AssertSqlSafe, postgres::PgArguments, sqlite::SqliteArguments};
use uuid::Uuid;

use super::{
    postgres,
    rows::{Row, json_of},
    sqlite,
};

/// SQL in the two dialects. Most of it is written once, by macros of [`sql`](super::sql) that take the dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
    /// Whether PostgreSQL is given many inputs at once: each of its values is then a list with that of each input, and each
    /// row ends with the number of its input, from 1.
    pub(crate) is_for_many: bool,
}

impl Sql {
    /// SQL that both databases understand.
    pub(crate) const fn plain(sql: &'static str) -> Self {
        Self { sqlite: sql, postgres: sql, is_for_many: false }
    }
}

/// Which SQL a database speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// A value of a statement. Lists are one value however long they are, so that the statement stays the same.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Number(Option<i64>),
    Text(Option<String>),
    Flag(bool),
    Id(Uuid),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
}

macro_rules! value_from {
    ($($from:ty => $value:ident($number:ident -> $into:expr)),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from($number: $from) -> Self {
                Self::$value($into)
            }
        })+
    };
}

value_from! {
    i64 => Number(number -> Some(number)),
    Option<i64> => Number(number -> number),
    u16 => Number(number -> Some(number.into())),
    Option<u16> => Number(number -> number.map(i64::from)),
    &str => Text(text -> Some(text.to_owned())),
    Option<&str> => Text(text -> text.map(str::to_owned)),
    String => Text(text -> Some(text)),
    Option<String> => Text(text -> text),
    bool => Flag(flag -> flag),
    Uuid => Id(id -> id),
    Vec<String> => Texts(texts -> texts),
    Vec<i64> => Numbers(numbers -> numbers),
}

/// SQL with its values: can be run, and run again. `$1` is the first value.
///
/// In SQLite it may be several statements divided by `;`: they reach the database in one go, which matters because each
/// way there and back crosses two threads. PostgreSQL is given one statement, which commits by itself.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    sql: Text,
    values: Vec<Value>,
    dealer: Option<String>,
}

#[derive(Debug, Clone)]
enum Text {
    Constant(Sql),
    Built(Dialect, String),
}

impl Statement {
    pub(crate) fn new(sql: Sql) -> Self {
        Self { sql: Text::Constant(sql), values: Vec::new(), dealer: None }
    }

    /// A statement that is put together, for a database of this dialect.
    pub(crate) fn build(dialect: Dialect) -> Self {
        Self { sql: Text::Built(dialect, String::new()), values: Vec::new(), dealer: None }
    }

    /// A client of this dealer waits for it.
    pub(crate) fn for_client_of(self, dealer_code: &str) -> Self {
        Self { dealer: Some(dealer_code.to_owned()), ..self }
    }

    /// The dealer whose client waits for it.
    pub(crate) fn of_dealer(&self) -> Option<&str> {
        self.dealer.as_deref()
    }

    /// How long its texts are together.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = self.values.iter().map(|value| if let Value::Text(Some(text)) = value { text.len() } else { 0 });
        texts.sum()
    }

    /// Adds the next value.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Goes on with this text.
    ///
    /// # Panics
    /// When it is a constant.
    pub(super) fn push(&mut self, sql: impl std::fmt::Display) -> &mut Self {
        use std::fmt::Write as _;
        match &mut self.sql {
            Text::Built(_, text) => write!(text, "{sql}").expect("a String takes any text"),
            Text::Constant(_) => unreachable!("a constant is complete"),
        }
        self
    }

    /// Goes on with the place of the next value.
    pub(super) fn push_bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        let place = self.values.len();
        self.push(format_args!("${place}"))
    }

    /// Goes on with the condition that a column has one of these texts.
    pub(super) fn push_in(&mut self, column: &str, values: impl Into<Value>) -> &mut Self {
        match self.dialect() {
            Some(Dialect::Postgres) => self.push(column).push(" = ANY (").push_bind(values).push(")"),
            _ => self.push(column).push(" IN (SELECT value FROM json_each(").push_bind(values).push("))"),
        }
    }

    /// The dialect that it is built in.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        match self.sql {
            Text::Built(dialect, _) => Some(dialect),
            Text::Constant(_) => None,
        }
    }

    pub(super) fn text(&self, dialect: Dialect) -> Cow<'static, str> {
        match &self.sql {
            Text::Built(_, text) => Cow::Owned(text.clone()),
            Text::Constant(sql) if dialect == Dialect::Sqlite => Cow::Borrowed(sql.sqlite),
            Text::Constant(sql) => Cow::Borrowed(sql.postgres),
        }
    }

    pub(super) fn for_sqlite(&self) -> sqlx::query::Query<'static, sqlx::Sqlite, SqliteArguments> {
        let mut arguments = SqliteArguments::default();
        for value in &self.values {
            let added = match value.clone() {
                Value::Number(number) => arguments.add(number),
                Value::Text(text) => arguments.add(text),
                Value::Flag(flag) => arguments.add(flag),
                Value::Id(id) => arguments.add(id.to_string()),
                Value::Texts(texts) => arguments.add(json_of(&texts)),
                Value::Numbers(numbers) => arguments.add(json_of(&numbers)),
            };
            added.expect("texts and numbers always encode");
        }
        // Every text is a constant of this crate, or put together from such.
        sqlx::query_with(AssertSqlSafe(self.text(Dialect::Sqlite)), arguments)
    }

    /// Whether PostgreSQL can do it together with others like it.
    pub(super) fn is_for_many(&self) -> bool {
        matches!(self.sql, Text::Constant(sql) if sql.is_for_many)
    }

    /// Whether it is the same but for its values.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        matches!((&self.sql, &other.sql), (Text::Constant(one), Text::Constant(other)) if one.postgres == other.postgres)
    }

    /// One statement for the inputs of all these, which are alike.
    pub(super) fn together(statements: &[Self]) -> sqlx::query::Query<'static, sqlx::Postgres, PgArguments> {
        /// The values of all at a place.
        macro_rules! column {
            ($statements:ident, $place:ident, $kind:ident($value:ident) => $into:expr) => {
                $statements
                    .iter()
                    .filter_map(|statement| match &statement.values[$place] {
                        Value::$kind($value) => Some($into),
                        _ => None,
                    })
                    .collect::<Vec<_>>()
            };
        }
        let mut arguments = PgArguments::default();
        let first = &statements[0];
        for (place, value) in first.values.iter().enumerate() {
            let added = match value {
                Value::Number(_) => arguments.add(column!(statements, place, Number(number) => *number)),
                Value::Text(_) => {
                    arguments.add(column!(statements, place, Text(text) => text.as_deref().map(postgres::storable)))
                }
                Value::Flag(_) => arguments.add(column!(statements, place, Flag(flag) => *flag)),
                Value::Id(_) => arguments.add(column!(statements, place, Id(id) => *id)),
                Value::Texts(_) | Value::Numbers(_) => unreachable!("no input of a statement for many is a list"),
            };
            added.expect("texts and numbers always encode");
        }
        sqlx::query_with(AssertSqlSafe(first.text(Dialect::Postgres)), arguments)
    }

    pub(super) fn for_postgres(&self) -> sqlx::query::Query<'static, sqlx::Postgres, PgArguments> {
        let mut arguments = PgArguments::default();
        for value in &self.values {
            let added = match value {
                Value::Number(number) => arguments.add(*number),
                Value::Text(text) => arguments.add(text.as_deref().map(postgres::storable)),
                Value::Flag(flag) => arguments.add(*flag),
                Value::Id(id) => arguments.add(*id),
                Value::Texts(texts) => {
                    arguments.add(texts.iter().map(|text| postgres::storable(text)).collect::<Vec<_>>())
                }
                Value::Numbers(numbers) => arguments.add(numbers.as_slice()),
            };
            added.expect("texts and numbers always encode");
        }
        sqlx::query_with(AssertSqlSafe(self.text(Dialect::Postgres)), arguments)
    }
}

/// What statements did.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// Rows that were inserted, updated or deleted, all statements together; in PostgreSQL, whose statement may do all
    /// of that at once, the number of its last part. Makes sense only where each of them writes: for a `SELECT` SQLite
    /// repeats the number of the statement before it.
    pub(crate) changed: u64,
    /// Rows that were returned, all statements together.
    pub(crate) rows: Vec<Row>,
}

/// Why the database did not do it, in a form that several callers can be given.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// Whether it may go well another time.
    pub(crate) passing: bool,
    text: String,
}

impl From<&sqlx::Error> for Failure {
    fn from(error: &sqlx::Error) -> Self {
        Self { passing: is_passing(error), text: error.to_string() }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        if failure.passing { Self::Unavailable(failure.text.into()) } else { Self::Faulty(failure.text.into()) }
    }
}

/// The error as callers of the store know it.
pub(crate) fn store_error(error: &sqlx::Error) -> StoreError {
    Failure::from(error).into()
}

fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => match error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>() {
            Some(error) => postgres::is_passing(error),
            None => sqlite::is_passing(&**error),
        },
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        // What a server that goes down in the middle of an answer leaves behind.
        | sqlx::Error::Protocol(_) => true,
        _ => false,
    }
}
