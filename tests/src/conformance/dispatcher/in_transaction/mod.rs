//! Handlers that work in the transactions that complete their events: what they do in the database
//! happens exactly once.

mod books;

mod faults;
mod order;
mod pool;
mod restarts;
mod follow_ups;
mod test_kit;

pub use faults::{
    a_lost_answer_of_a_commit_repeats_nothing, a_stop_waits_for_no_commit_that_hangs,
    effects_of_failing_handlers_happen_once,
};
pub use follow_ups::what_is_emitted_in_a_transaction_carries_on;
pub use order::{
    nobody_starts_behind_a_handler_of_a_former_owner, what_comes_before_is_written_before,
};
pub use pool::{pools_of_any_size_are_enough, transactions_leave_connections_to_others};
pub use restarts::what_is_done_when_the_server_dies_is_done_once;
pub use test_kit::a_transactional_handler_is_seen_as_any_other;
