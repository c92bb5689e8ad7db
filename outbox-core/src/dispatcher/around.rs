use super::{config::Config, lease::LeaseWatch, witness::Witnesses};
use crate::{
    handler::State,
    store::{History, MemberId},
};
use std::time::Duration;

/// What is around the deliveries of a session.
#[derive(Clone)]
pub(crate) struct Around {
    /// The application's.
    pub(crate) state: State,
    pub(crate) member: MemberId,
    pub(crate) history: History,
    pub(crate) lease: LeaseWatch,
    /// How long a lease is; `None` where no time ends it.
    pub(crate) lease_time: Option<Duration>,
    pub(crate) witness: Witnesses,
    /// How long a call of the database may take before it is taken to be lost.
    pub(crate) stall_limit: Duration,
}

impl Around {
    pub(crate) fn new(
        state: State,
        (member, in_process): (MemberId, bool),
        config: &Config,
        lease: LeaseWatch,
        witness: Witnesses,
    ) -> Self {
        Self {
            state,
            member,
            history: config.history,
            lease,
            lease_time: (!in_process).then_some(config.lease),
            witness,
            stall_limit: config.stall_limit,
        }
    }
}
