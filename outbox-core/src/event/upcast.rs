use super::{DecodeError, OutboxEvent, codec};
use crate::error::BoxError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Decodes an old payload and brings it up to date; the derive's `upcast` calls this.
///
/// # Errors
/// When the text is not what the old type serialises to, or a function of the chain has failed.
pub fn from_old<O: DeserializeOwned, E>(
    payload: &str,
    upcast: impl FnOnce(O) -> Result<E, DecodeError>,
) -> Result<E, DecodeError> {
    upcast(codec::decode_plain(payload)?)
}

/// What one function of a chain of `upcast(…)` has returned, on its way to the next.
///
/// A function may be fallible, and may work on JSON. Which it does is in its return type: the
/// methods for those stand on `Link` itself, so that the compiler prefers them to those of [`Step`].
pub struct Link<T>(pub T);

/// The methods of [`Link`] for what is neither fallible nor JSON.
pub trait Step<T>: Sized {
    /// Takes the error out, where the function may fail.
    ///
    /// # Errors
    /// That of the function.
    fn checked(self) -> Result<Link<T>, DecodeError>;

    /// What the next function takes.
    ///
    /// # Errors
    /// When JSON is not what the next function's type serialises to.
    fn next(self) -> Result<T, DecodeError>;

    /// The event of the topic at `index`.
    ///
    /// # Errors
    /// When JSON is not what the event's type serialises to.
    fn finish<E>(self, index: usize, event: fn(T) -> E) -> Result<E, DecodeError>;
}

impl<T> Step<T> for Link<T> {
    fn checked(self) -> Result<Self, DecodeError> {
        Ok(self)
    }

    fn next(self) -> Result<T, DecodeError> {
        Ok(self.0)
    }

    fn finish<E>(self, _: usize, event: fn(T) -> E) -> Result<E, DecodeError> {
        Ok(event(self.0))
    }
}

impl<T, E: Into<BoxError>> Link<Result<T, E>> {
    /// See [`Step::checked`].
    ///
    /// # Errors
    /// That of the function.
    pub fn checked(self) -> Result<Link<T>, DecodeError> {
        match self.0 {
            Ok(value) => Ok(Link(value)),
            Err(error) => Err(DecodeError::upcast(error.into())),
        }
    }
}

impl Link<Value> {
    /// See [`Step::next`].
    ///
    /// # Errors
    /// When the JSON is not what the next function's type serialises to.
    pub fn next<T: DeserializeOwned>(self) -> Result<T, DecodeError> {
        codec::decode_plain(&self.0.to_string())
    }

    /// See [`Step::finish`].
    ///
    /// # Errors
    /// When the JSON is not what the event's type serialises to.
    pub fn finish<E: OutboxEvent, T>(self, index: usize, _: fn(T) -> E) -> Result<E, DecodeError> {
        codec::decode(index, &self.0.to_string())
    }
}
