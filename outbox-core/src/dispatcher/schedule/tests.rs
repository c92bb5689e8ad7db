//! The laws that hold whatever happens at random.

use super::model::{Model, SHARD};
use crate::store::Horizon;

fn run(seed: u64, horizon: Horizon) {
    let mut model = Model::new(seed, horizon);
    run_to_the_end(seed, &mut model);
}

fn run_with_a_topic_that_hangs(seed: u64, horizon: Horizon) {
    let mut model = Model::new(seed, horizon);
    model.hanging = true;
    for _ in 0..1_500 {
        model.step(true);
    }
    let mut steps = 0;
    while !model.is_second_done() {
        model.step(false);
        steps += 1;
        assert!(steps < 200_000, "seed {seed}: it holds up the other topic");
    }
    model.hanging = false;
    run_to_the_end(seed, &mut model);
}

fn run_to_the_end(seed: u64, model: &mut Model) {
    for _ in 0..1_500 {
        model.step(true);
    }
    let mut steps = 0;
    while !model.is_done() {
        model.step(false);
        steps += 1;
        assert!(
            steps < 200_000,
            "seed {seed}: {} events never settle",
            model.emitted - model.settled
        );
    }
    for _ in 0..50 {
        model.settle();
        model.fetch();
        model.fetched();
        model.pass();
    }
    assert!(model.schedule.is_idle(model.now), "seed {seed}");
    let state = &model.schedule.shards[&SHARD];
    assert!(
        state.lanes.is_empty() && state.parked.is_empty(),
        "seed {seed}: lanes are left"
    );
    assert_eq!(
        state.known_positions(),
        0,
        "seed {seed}: positions are never forgotten"
    );
    assert_eq!(
        (model.schedule.waiting(), model.schedule.in_work),
        (0, 0),
        "seed {seed}"
    );
}

#[test]
fn nothing_is_lost_or_reordered_when_positions_commit_in_order() {
    for seed in 0..150 {
        run(seed, Horizon::CommitOrder);
    }
}

#[test]
fn nothing_is_lost_or_reordered_when_transaction_ids_prove_the_floor() {
    for seed in 0..150 {
        run(seed, Horizon::Transactions { next: 0, oldest: 0 });
    }
}

#[test]
fn nothing_is_lost_or_reordered_when_transactions_commit_late() {
    for seed in 0..150 {
        run(seed, Horizon::Open);
    }
}

#[test]
fn a_topic_that_hangs_holds_up_no_other() {
    for seed in 0..50 {
        run_with_a_topic_that_hangs(seed, Horizon::CommitOrder);
        run_with_a_topic_that_hangs(seed, Horizon::Open);
    }
}
