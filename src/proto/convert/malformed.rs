//! Errors of malformed requests.

use std::fmt;

use crate::{proto::v1::ErrorReason, room::SettingsError};

/// A malformed request: the field, and its requirement. Never repeats the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// One of this type's constants.
    pub reason: ErrorReason,
    /// Its path in the request, such as `settings.move_limit`.
    pub field: String,
    /// The requirement, as text after the field's name.
    pub problem: String,
}

impl Malformed {
    /// Not a square.
    pub const BAD_SQUARE: ErrorReason = ErrorReason::BadSquare;
    /// Not a valid display name.
    pub const BAD_NAME: ErrorReason = ErrorReason::BadName;
    /// Settings out of bounds.
    pub const BAD_SETTINGS: ErrorReason = ErrorReason::BadSettings;
    /// Not a page token of this listing.
    pub const BAD_PAGE_TOKEN: ErrorReason = ErrorReason::BadPageToken;
    /// Not an id.
    pub const BAD_ID: ErrorReason = ErrorReason::BadId;
    /// Any other invalid field.
    pub const BAD_ARGUMENT: ErrorReason = ErrorReason::BadArgument;

    /// One of the reasons above, for a field.
    pub fn new(reason: ErrorReason, field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { reason, field: field.into(), problem: problem.into() }
    }

    /// `BAD_ARGUMENT` for a field.
    pub fn argument(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::new(Self::BAD_ARGUMENT, field, problem)
    }

    /// An invalid field of settings.
    pub fn setting(field: &str, problem: impl Into<String>) -> Self {
        Self::new(Self::BAD_SETTINGS, format!("settings.{field}"), problem)
    }
}

impl From<SettingsError> for Malformed {
    fn from(error: SettingsError) -> Self {
        Self::setting(error.field, error.problem)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl std::error::Error for Malformed {}
