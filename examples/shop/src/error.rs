//! Every way in which a request can fail, and the answer to it.

use axum::{
    Json,
    extract::rejection::{JsonRejection, PathRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use outbox_seaorm::{EmitError, EmitErrorKind, is_contention};
use sea_orm::DbErr;
use serde_json::json;
use std::fmt;

/// Why a request failed.
#[derive(Debug)]
pub enum Error {
    /// The request is no order at all; the status is axum's.
    Unreadable(StatusCode, String),
    /// The order breaks a rule.
    Invalid(String),
    /// The idempotency key was used for another order.
    KeyReused,
    /// There is not enough of the item left.
    SoldOut,
    /// The tenant has no such order.
    NotFound,
    /// Other transactions were in the way.
    Contention(DbErr),
    /// The database failed.
    Database(DbErr),
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unreadable(status, _) => *status,
            Self::Invalid(_) | Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::SoldOut => StatusCode::CONFLICT,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Contention(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        if let Self::Contention(source) | Self::Database(source) = &self {
            tracing::error!(error = %source, "a request failed: {self}");
        }
        (self.status(), Json(json!({ "error": self.to_string() }))).into_response()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(_, why) | Self::Invalid(why) => f.write_str(why),
            Self::KeyReused => f.write_str("the idempotency key was used for another order"),
            Self::SoldOut => f.write_str("sold out"),
            Self::NotFound => f.write_str("no such order"),
            Self::Contention(_) => f.write_str("the shop is busy, send the same request again"),
            // The reason is for the log: it is none of the customer's business.
            Self::Database(_) => f.write_str("internal error"),
        }
    }
}

impl From<DbErr> for Error {
    fn from(source: DbErr) -> Self {
        if is_contention(&source) {
            Self::Contention(source)
        } else {
            Self::Database(source)
        }
    }
}

impl From<EmitError> for Error {
    fn from(source: EmitError) -> Self {
        match source.kind() {
            EmitErrorKind::Invalid(_) => Self::Invalid(source.to_string()),
            EmitErrorKind::Contention => Self::Contention(source.into()),
            _ => Self::Database(source.into()),
        }
    }
}

impl From<JsonRejection> for Error {
    fn from(rejection: JsonRejection) -> Self {
        Self::Unreadable(rejection.status(), rejection.body_text())
    }
}

impl From<PathRejection> for Error {
    fn from(_: PathRejection) -> Self {
        Self::NotFound
    }
}
