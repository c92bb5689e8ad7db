use uuid::Uuid;

/// The id of one dispatcher, new at each registration.
pub type MemberId = Uuid;

/// A dispatcher as it registers itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its id, a UUIDv7: members sort by the time they joined.
    pub id: MemberId,
    /// Where it runs, for people only: `host:pid`.
    pub place: String,
    /// What it handles, for people only: topic patterns.
    pub handles: String,
}

impl Member {
    /// A new member.
    #[must_use]
    pub fn new(place: impl Into<String>, handles: impl Into<String>) -> Self {
        Self {
            id: Uuid::now_v7(),
            place: place.into(),
            handles: handles.into(),
        }
    }
}

/// A member row as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberView {
    /// Whose row it is.
    pub id: MemberId,
    /// The end of the lease as the database writes it: to be compared, not understood.
    pub lease_until: String,
    /// Whether the lease still runs.
    pub liveness: Liveness,
}

impl MemberView {
    /// A row as it was read.
    #[must_use]
    pub fn new(id: MemberId, lease_until: impl Into<String>, liveness: Liveness) -> Self {
        Self {
            id,
            lease_until: lease_until.into(),
            liveness,
        }
    }
}

/// What a member's row says of it, by the database's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// The lease runs.
    Alive,
    /// The lease is over. The member may only be late: it is evicted after a second look.
    Expired,
    /// The member is known to be gone (it lived in this process).
    Gone,
}
