use super::{
    Dedupe, Due, EmitOptions, InvalidEvent, InvalidEventKind as Kind, Limits, NewEvent, nul, scope,
};
use crate::{
    event::{self, OutboxEvent, TopicSpec},
    headers::{self, HeaderValue, Headers},
    instant,
};
use chrono::{DateTime, Datelike, Utc};
use std::{borrow::Cow, time::Duration};
use uuid::Uuid;

/// An event on its way into the outbox, with its options.
///
/// `emit` makes one of an event by itself. Make one by hand where the events of one
/// `emit_all` need different options.
#[derive(Debug)]
#[must_use = "a draft is not emitted until it is passed to `emit`"]
pub struct Draft {
    /// An event that could not be encoded is reported when it is emitted.
    encoded: Result<Encoded, InvalidEvent>,
    options: EmitOptions,
}

#[derive(Debug)]
struct Encoded {
    aggregate: &'static str,
    topic: &'static TopicSpec,
    key: Option<String>,
    payload: String,
}

/// What can be emitted: an event, or a [`Draft`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an outbox event",
    label = "needs `#[derive(OutboxEvent)]`",
    note = "write `#[derive(Serialize, Deserialize, OutboxEvent)]` and `#[outbox(aggregate = \"…\")]` on the type, and pass the event by value"
)]
pub trait IntoDraft {
    /// The draft to emit.
    fn into_draft(self) -> Draft;
}

#[diagnostic::do_not_recommend]
impl<E: OutboxEvent> IntoDraft for E {
    fn into_draft(self) -> Draft {
        Draft::new(&self)
    }
}

impl IntoDraft for Draft {
    fn into_draft(self) -> Draft {
        self
    }
}

impl Draft {
    /// Encodes an event.
    pub fn new<E: OutboxEvent>(event: &E) -> Self {
        Self {
            encoded: Encoded::new(event),
            options: EmitOptions::new(),
        }
    }

    /// Delivers the event this long after it was written, by the database's clock.
    ///
    /// A delayed event gets its place among the events of its aggregate when it falls due.
    pub fn after(mut self, delay: Duration) -> Self {
        self.options = self.options.after(delay);
        self
    }

    /// Delivers the event at this time, by the database's clock; a past time means at once.
    pub fn at(mut self, time: DateTime<Utc>) -> Self {
        self.options = self.options.at(time);
        self
    }

    /// Says when the thing happened; the default is now, by this process's clock.
    pub fn occurred_at(mut self, time: DateTime<Utc>) -> Self {
        self.options = self.options.occurred_at(time);
        self
    }

    /// Sets a header. It wins over one from the [`Context`](super::Context) and over a default.
    pub fn header(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<HeaderValue>,
    ) -> Self {
        self.options = self.options.header(name, value);
        self
    }

    /// Writes the event only if none with this key was emitted within the window: 24 hours, or what
    /// [`dedupe_window`](Self::dedupe_window) says. Keys are the same for all topics of an outbox:
    /// let them begin with what they are for.
    pub fn dedupe_key(mut self, key: impl Into<String>) -> Self {
        self.options.dedupe_key = Some(key.into());
        self
    }

    /// How long the dedupe key is remembered, by the database's clock.
    pub fn dedupe_window(mut self, window: Duration) -> Self {
        self.options = self.options.dedupe_window(window);
        self
    }

    /// Takes from `defaults` the options that were not set on this draft.
    pub fn or(mut self, defaults: &EmitOptions) -> Self {
        self.options.fill(defaults);
        self
    }

    /// Checks the event and completes its headers: those set here, then the current scope's,
    /// then `defaults`.
    ///
    /// # Errors
    /// Whatever the database could refuse: see [`InvalidEventKind`](super::InvalidEventKind).
    pub fn finish(self, limits: &Limits, defaults: &Headers) -> Result<NewEvent, InvalidEvent> {
        let encoded = self.encoded?;
        let topic = encoded.topic;
        let EmitOptions {
            due,
            occurred_at,
            headers: mut all,
            dedupe_key,
            dedupe_window,
        } = self.options;
        let due = due.unwrap_or(Due::Now);
        finish_headers(&mut all, topic, defaults)
            .and_then(|()| check_encoded(&encoded, limits))
            .and_then(|()| check_headers(&all, limits))
            .and_then(|headers| {
                let due = check_due(due)?;
                let dedupe = dedupe_key.map(|key| Dedupe::new(key, dedupe_window));
                Ok(NewEvent {
                    id: Uuid::now_v7(),
                    aggregate: encoded.aggregate,
                    key: encoded.key,
                    topic: topic.name,
                    payload: encoded.payload,
                    headers,
                    occurred_at: check_time(occurred_at.unwrap_or_else(Utc::now))?,
                    ordered: topic.ordered,
                    due,
                    dedupe: dedupe.transpose()?,
                })
            })
            .map_err(|error| error.on(topic.name))
    }
}

impl Encoded {
    fn new<E: OutboxEvent>(event: &E) -> Result<Self, InvalidEvent> {
        let topic = event.topic();
        let payload = event::encode(event)
            .map_err(|source| InvalidEvent::json(Kind::Encode, source).on(topic.name))?;
        if E::CONTRACT.verify {
            event::decode::<E>(event.topic_index(), &payload)
                .map_err(|source| InvalidEvent::decode(source).on(topic.name))?;
        }
        Ok(Self {
            aggregate: E::CONTRACT.aggregate,
            topic,
            key: event.key(),
            payload,
        })
    }
}

fn finish_headers(
    all: &mut Headers,
    topic: &TopicSpec,
    defaults: &Headers,
) -> Result<(), InvalidEvent> {
    scope::fill(all);
    all.fill(defaults);
    if all.get(headers::SCHEMA_VERSION).is_some() {
        return Err(InvalidEvent::new(
            Kind::Header,
            "the header schema_version comes from the event's type: write `version = N` there",
        ));
    }
    all.set(headers::SCHEMA_VERSION, topic.version);
    Ok(())
}

fn check_encoded(encoded: &Encoded, limits: &Limits) -> Result<(), InvalidEvent> {
    for (what, name) in [
        ("topic", encoded.topic.name),
        ("aggregate", encoded.aggregate),
    ] {
        if !Limits::is_name(name) {
            return Err(InvalidEvent::new(
                Kind::Name,
                format!(
                    "{what} name must have 1 to {} bytes and no NUL",
                    Limits::NAME_BYTES
                ),
            ));
        }
    }
    match &encoded.key {
        None if encoded.topic.ordered => {
            return Err(InvalidEvent::new(Kind::Key, "an ordered event needs a key"));
        }
        Some(key) if key.is_empty() => {
            return Err(InvalidEvent::new(Kind::Key, "the key is empty"));
        }
        Some(key) if key.len() > Limits::KEY_BYTES => {
            let detail = format!(
                "the key has {} bytes, the limit is {}",
                key.len(),
                Limits::KEY_BYTES
            );
            return Err(InvalidEvent::new(Kind::Key, detail));
        }
        Some(key) => check_nul("the key", key)?,
        None => {}
    }
    let (size, limit) = (encoded.payload.len(), limits.payload_bytes);
    if size > limit {
        let detail = format!("the payload has {size} bytes, the limit is {limit}");
        return Err(InvalidEvent::new(Kind::PayloadTooLarge, detail));
    }
    if let Some(path) = nul::find(&encoded.payload) {
        let place = match &*path {
            "" => String::new(),
            path => format!(" at {path}"),
        };
        let detail = format!(
            "the payload has a NUL character (U+0000){place}, which PostgreSQL cannot store"
        );
        return Err(InvalidEvent::new(Kind::Nul, detail));
    }
    Ok(())
}

fn check_headers(all: &Headers, limits: &Limits) -> Result<String, InvalidEvent> {
    for (name, value) in all.iter() {
        if name.is_empty() || name.len() > Limits::HEADER_NAME_BYTES || !name.bytes().all(is_token)
        {
            let detail = format!(
                "header name {name:?} must be an HTTP token of 1 to {} bytes",
                Limits::HEADER_NAME_BYTES
            );
            return Err(InvalidEvent::new(Kind::Header, detail));
        }
        if let HeaderValue::Text(text) = value {
            check_nul(&format!("header {name}"), text)?;
        }
    }
    let text =
        serde_json::to_string(all).map_err(|source| InvalidEvent::json(Kind::Header, source))?;
    if text.len() > limits.headers_bytes {
        let detail = format!(
            "the headers have {} bytes, the limit is {}",
            text.len(),
            limits.headers_bytes
        );
        return Err(InvalidEvent::new(Kind::Header, detail));
    }
    Ok(text)
}

fn check_nul(what: &str, text: &str) -> Result<(), InvalidEvent> {
    if text.contains('\0') {
        return Err(InvalidEvent::new(
            Kind::Nul,
            format!("{what} has a NUL character (U+0000)"),
        ));
    }
    Ok(())
}

fn check_due(due: Due) -> Result<Due, InvalidEvent> {
    match due {
        Due::At(time) => check_time(time).map(Due::At),
        Due::After(delay) if delay > Limits::LONGEST => Err(InvalidEvent::new(
            Kind::Time,
            "the delay is longer than 100 years",
        )),
        Due::Now | Due::After(_) => Ok(due),
    }
}

/// As the databases keep it.
fn check_time(time: DateTime<Utc>) -> Result<DateTime<Utc>, InvalidEvent> {
    if (1..=9999).contains(&time.year()) {
        return Ok(instant::storable(time));
    }
    Err(InvalidEvent::new(
        Kind::Time,
        format!("{time} is outside the years 1 to 9999"),
    ))
}

/// A `tchar` of RFC 9110, section 5.6.2: what a header's name may consist of.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
