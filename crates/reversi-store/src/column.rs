//! Types of columns, which both databases have.

use crc32fast::Hasher;

use crate::damage::ReadError;

/// A column of a table.
pub(super) struct Column {
    pub(super) name: &'static str,
    /// As [`ColumnType::NAME`].
    pub(super) type_name: &'static str,
    /// The first version of the tables that has it.
    pub(super) since: i32,
}

/// A type of a column.
pub(super) trait ColumnType {
    /// Its name in PostgreSQL. SQLite, which stores any value in any column, takes it as well.
    const NAME: &str;

    /// Adds a value, or that there is none, to a checksum of its row. Checksums are stored, so this must never change.
    fn add(value: Option<&Self>, to: &mut Hasher);
}

impl ColumnType for String {
    const NAME: &str = "text";

    fn add(value: Option<&Self>, to: &mut Hasher) {
        to.update(value.map(String::as_bytes).unwrap_or_default());
        // A byte that no text has.
        to.update(&[0xff]);
    }
}

impl ColumnType for Vec<u8> {
    const NAME: &str = "bytea";

    fn add(value: Option<&Self>, to: &mut Hasher) {
        to.update(value.map(Vec::as_slice).unwrap_or_default());
    }
}

impl ColumnType for i64 {
    const NAME: &str = "bigint";

    fn add(value: Option<&Self>, to: &mut Hasher) {
        to.update(&value.unwrap_or(&Self::MIN).to_le_bytes());
    }
}

impl ColumnType for i32 {
    const NAME: &str = "int";

    fn add(value: Option<&Self>, to: &mut Hasher) {
        i64::add(value.map(|value| i64::from(*value)).as_ref(), to);
    }
}

impl ColumnType for bool {
    const NAME: &str = "boolean";

    fn add(value: Option<&Self>, to: &mut Hasher) {
        i64::add(value.map(|value| i64::from(*value)).as_ref(), to);
    }
}

impl<C: ColumnType> ColumnType for Option<C> {
    const NAME: &str = C::NAME;

    fn add(value: Option<&Self>, to: &mut Hasher) {
        C::add(value.and_then(Self::as_ref), to);
    }
}

/// A row, as a database reads it.
pub(super) trait ReadColumn<T> {
    /// The value of the column of this name.
    fn column(&self, name: &str) -> Result<T, ReadError>;
}

/// A parameter of a statement over many rows, as a database takes it.
#[cfg(feature = "postgres")]
pub(super) trait ArrayParameter<'a, T> {
    /// The parameter for a column of all rows.
    fn of(values: Vec<&'a T>) -> Self;
}

/// A parameter of a statement, as a database takes it.
pub(super) trait Parameter<'a, T> {
    /// The parameter for a value.
    fn of(value: &'a T) -> Self;
}
