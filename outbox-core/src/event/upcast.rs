use super::{DecodeError, OutboxEvent, codec};
use crate::error::BoxError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a function of `upcast(…)` can take: everything that is `DeserializeOwned`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from an old payload",
    label = "the function takes `{Self}`",
    note = "a function of `upcast(…)` takes what the old payload deserialises to: a type that owns \
            its data and has `#[derive(Deserialize)]`, or a `serde_json::Value`"
)]
pub trait Old: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> Old for T {}

/// What a function of `upcast(…)` can fail with: everything that is an error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a function of `upcast(…)`",
    label = "the function fails with `{Self}`",
    note = "it must implement `std::error::Error + Send + Sync`, or be a text"
)]
pub trait Failure: Into<BoxError> {}

#[diagnostic::do_not_recommend]
impl<T: Into<BoxError>> Failure for T {}

/// Two types that are one: so a wrong one has a message of its own.
#[diagnostic::on_unimplemented(
    message = "the function returns `{Self}`, where `{T}` is expected",
    label = "expected `{T}`",
    note = "each function of `upcast(…)` returns what the next one takes, the last one the content \
            of a newtype variant or else the event; or JSON of it, or a `Result` of either"
)]
pub trait Same<T> {
    /// The value, unchanged.
    fn same(self) -> T;
}

impl<T> Same<T> for T {
    fn same(self) -> T {
        self
    }
}

/// What nothing is expected to be. Were there one implementation of [`Same`] alone, the compiler
/// would take what is returned for what is expected, and complain in other words.
pub struct Other<T>(pub T);

#[diagnostic::do_not_recommend]
impl<T> Same<Other<T>> for T {
    fn same(self) -> Other<T> {
        Other(self)
    }
}

/// Decodes an old payload and brings it up to date; the derive's `upcast` calls this.
///
/// # Errors
/// When the text is not what the old type serialises to, or a function of the chain has failed.
pub fn from_old<O: Old, E>(
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
    fn next<N>(self) -> Result<N, DecodeError>
    where
        T: Same<N>;

    /// The event of the topic at `index`.
    ///
    /// # Errors
    /// When JSON is not what the event's type serialises to.
    fn finish<E, C>(self, index: usize, event: fn(C) -> E) -> Result<E, DecodeError>
    where
        T: Same<C>;
}

impl<T> Step<T> for Link<T> {
    fn checked(self) -> Result<Self, DecodeError> {
        Ok(self)
    }

    fn next<N>(self) -> Result<N, DecodeError>
    where
        T: Same<N>,
    {
        Ok(self.0.same())
    }

    fn finish<E, C>(self, _: usize, event: fn(C) -> E) -> Result<E, DecodeError>
    where
        T: Same<C>,
    {
        Ok(event(self.0.same()))
    }
}

impl<T, E> Link<Result<T, E>> {
    /// See [`Step::checked`].
    ///
    /// # Errors
    /// That of the function.
    // The bound stands here, where it is reported: at the impl, `Step` would be taken instead.
    pub fn checked(self) -> Result<Link<T>, DecodeError>
    where
        E: Failure,
    {
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
