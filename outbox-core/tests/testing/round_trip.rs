use crate::orders::{Order, charge, placed};
use outbox_core::{
    OutboxEvent,
    testing::{RoundTripError, round_trip},
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

proptest! {
    #[test]
    fn an_event_comes_back_as_it_was(order: u32, cents: u64) {
        let event = charge(order, cents);
        prop_assert_eq!(round_trip(&event).unwrap(), event);
    }
}

#[derive(Debug, Serialize, Deserialize, OutboxEvent)]
#[outbox(aggregate = "order", verify = false, crate = outbox_core)]
struct Weighed {
    #[outbox(key)]
    order: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// Left out on the way.
    #[serde(skip)]
    note: Note,
    counts: HashMap<u32, u32>,
}

/// A note that says something else where it was not read.
#[derive(Debug)]
struct Note(u32);

impl Default for Note {
    fn default() -> Self {
        Self(1)
    }
}

fn weighed(order: &str, weight: f64) -> Weighed {
    Weighed {
        order: order.to_owned(),
        weight: Some(weight),
        note: Note(2),
        counts: (0..20).map(|n| (n, n)).collect(),
    }
}

#[test]
fn what_is_left_out_comes_back_as_its_default() {
    let back = round_trip(&weighed("7", 1.5)).unwrap();
    assert_eq!((back.note.0, back.counts.len()), (1, 20));
}

#[test]
fn what_cannot_be_emitted_or_read_is_an_error() {
    let problem = round_trip(&weighed("", 1.5)).unwrap_err();
    assert!(matches!(problem, RoundTripError::Invalid(_)), "{problem:?}");
    // Written as null, which is read as no weight.
    let problem = round_trip(&weighed("7", f64::NAN)).unwrap_err();
    assert!(
        matches!(problem, RoundTripError::Changed { .. }),
        "{problem:?}"
    );
}

/// Also where `emit` leaves that out.
#[test]
fn what_is_written_and_cannot_be_read_is_an_error() {
    #[derive(Debug, Serialize, Deserialize, OutboxEvent)]
    #[outbox(aggregate = "order", verify = false, crate = outbox_core)]
    struct Renamed {
        #[outbox(key)]
        #[serde(rename(serialize = "nr"))]
        number: u32,
    }
    let problem = round_trip(&Renamed { number: 7 }).unwrap_err();
    assert!(
        matches!(problem, RoundTripError::Undecodable(_)),
        "{problem:?}"
    );
    assert!(round_trip::<Order>(&placed(7, 900)).is_ok());
}
