use outbox_core::{Delivery, headers};
use uuid::Uuid;

/// What an inbox knows a message by: the event's id, and the replay that brought it back if that is
/// to make it another message.
///
/// A replayed event has its old id: [`Message::event`], or the id alone, is for consumers that are
/// not to act again; [`Message::delivery`] for those that are, once for each replay.
///
/// ```
/// use outbox_seaorm::inbox::Message;
/// # use uuid::Uuid;
/// # let (event, replay) = (Uuid::now_v7(), Uuid::now_v7());
///
/// assert_ne!(Message::event(event), Message::event(event).replay(replay));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Message {
    pub(super) event: Uuid,
    /// Nil where there is none: what may be NULL is no part of a key.
    pub(super) replay: Uuid,
}

impl Message {
    /// An event, whatever brought it.
    #[must_use]
    pub const fn event(event: Uuid) -> Self {
        let replay = Uuid::nil();
        Self { event, replay }
    }

    /// The same event, brought back by a replay: the header
    /// [`replay_id`](outbox_core::headers::REPLAY_ID).
    #[must_use]
    pub const fn replay(self, replay: Uuid) -> Self {
        Self { replay, ..self }
    }

    /// What a dispatcher delivers, with the replay's id where there is one.
    #[must_use]
    pub fn delivery(delivery: &Delivery) -> Self {
        let replay = delivery.headers().text(headers::REPLAY_ID);
        let replay = replay.and_then(|id| id.parse().ok());
        Self::event(delivery.id()).replay(replay.unwrap_or_default())
    }
}

impl From<Uuid> for Message {
    fn from(event: Uuid) -> Self {
        Self::event(event)
    }
}
