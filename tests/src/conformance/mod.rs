//! The laws of the traits [`Store`](outbox_core::store::Store) and
//! [`OperatorStore`](outbox_core::operator::OperatorStore). Each is one function, generic over
//! a [`Harness`]; every store runs all of them: [`conformance!`](crate::conformance!) makes a test of each.

mod tables;
mod fill;
mod resident;
mod effects;
mod row_changes;
mod trace;
mod connections;
mod harness;
mod needs;
mod event;
mod actor;

pub mod atomic;
pub mod cancelled;
pub mod names;
pub mod dedupe;
pub mod inbox;
pub mod work;
pub mod membership;
pub mod shards;
pub mod fetch;
pub mod content;
pub mod generated;
pub mod success;
pub mod failure;
pub mod fence;
pub mod conflicts;
pub mod delayed;
pub mod positions;
pub mod crashes;
pub mod claims;
pub mod operators;
pub mod pauses;
pub mod reschedule;
pub mod requests;
pub mod retention;
pub mod million;
pub mod budget;
pub mod replays;
pub mod questions;
pub mod migrating;
pub mod test_kit;
pub mod dispatcher;

pub use actor::Actor;
pub use connections::{as_advised, impatient, in_transactions};
pub use effects::Effects;
pub use event::{Noted, Thing};
pub use fill::Table;
pub use harness::{Capability, DeadRow, DeliveredRow, Harness, PendingRow};
pub use needs::NEEDS;
pub use resident::Growth;
pub use row_changes::RowChanges;
pub use tables::Tables;
pub use trace::Trace;

/// Why a harness does not run a law; `None` when it does.
#[must_use]
pub fn skipped<H: Harness>(law: &str) -> Option<&'static str> {
    let lacking = |(capability, _, laws): &&(Capability, _, &[&str])| {
        H::LACKS.contains(capability) && laws.contains(&law)
    };
    NEEDS.iter().find(lacking).map(|(_, reason, _)| *reason)
}

/// Makes a test of every law, for a harness in scope.
#[macro_export]
macro_rules! conformance {
    ($harness:ty) => {
        $crate::conformance! { @areas $harness =>
            atomic {
                an_event_of_a_committed_transaction_is_there,
                an_event_of_a_rolled_back_transaction_never_was,
                whatever_ends_a_transaction_takes_its_events_along,
                what_is_refused_leaves_the_transaction_usable,
                a_savepoint_takes_its_own_events_along,
                missing_tables_are_told_and_never_made,
                many_events_are_all_or_nothing_and_keep_their_order,
            }
            cancelled {
                what_is_dropped_at_any_moment_is_whole_or_never_was,
            }
            names {
                names_that_need_quoting_work_side_by_side,
                outboxes_of_any_name_migrate_side_by_side,
            }
            dedupe {
                a_key_is_emitted_once,
                a_key_is_known_after_the_delivery,
                a_key_is_free_when_its_window_is_over,
                equal_keys_of_one_call_are_folded,
                a_delayed_event_holds_its_key,
                many_keys_keep_their_order,
                a_duplicate_leaves_the_transaction_usable,
                a_key_goes_with_its_transaction,
                one_that_comes_second_waits_and_is_a_duplicate,
                one_that_comes_second_is_new_when_the_first_rolls_back,
                keys_are_taken_in_their_order,
                of_many_that_emit_with_one_key_one_is_new,
                one_that_began_before_is_a_duplicate_or_is_to_run_again,
                opposite_orders_are_a_deadlock_that_one_is_told_of,
            }
            inbox {
                a_message_is_worked_on_once,
                every_consumer_has_its_own_inbox,
                a_replay_can_be_another_message,
                a_message_is_recorded_in_a_transaction,
                a_message_is_begun_and_completed,
                a_message_that_was_left_is_fresh_after_its_lease,
                a_message_that_was_released_is_as_before,
                of_many_copies_one_is_worked_on,
                of_many_copies_one_is_begun,
                a_second_copy_waits_and_is_a_duplicate,
                a_second_copy_is_worked_on_when_the_first_fails,
            }
            work {
                work_that_leaves_a_transaction_open_is_not_done,
                work_that_ends_its_transaction_is_not_done,
                work_that_goes_on_after_an_error_is_done_if_it_is_stored,
                work_that_panics_or_is_dropped_is_not_done,
                a_message_is_given_back_once,
                a_message_in_work_is_not_forgotten,
            }
            membership {
                one_that_joined_is_a_member,
                joining_again_is_joining_once,
                a_lease_runs_out,
                renewing_extends_the_lease,
                saying_that_it_sleeps_changes_nothing_else,
                a_lease_from_the_future_is_over,
                renewing_after_an_eviction_says_so,
                a_member_that_renewed_is_not_evicted,
                a_member_is_evicted_once,
                leaving_gives_up_shards_and_row,
                leaving_twice_is_leaving_once,
            }
            shards {
                a_free_shard_is_taken,
                a_shard_of_a_living_owner_is_never_taken,
                a_shard_of_an_evicted_owner_is_taken,
                of_two_that_saw_the_same_one_wins,
                an_old_view_takes_nothing,
                one_that_is_no_member_takes_nothing,
                the_epoch_grows_with_every_owner,
                after_a_death_all_events_are_suspect,
                after_a_release_no_event_is_suspect,
                a_release_at_an_old_epoch_changes_nothing,
            }
            fetch {
                events_come_in_position_order,
                only_the_owner_reads,
                an_old_epoch_reads_nothing,
                an_empty_shard_is_seen,
                the_limit_counts_from_scan_on,
                the_limits_of_shards_are_their_own,
                nothing_at_or_below_the_floor_is_read,
                fetching_writes_nothing,
                the_next_delayed_event_is_announced,
                a_requeue_changes_the_revision,
            }
            content {
                an_event_comes_back_as_it_was_emitted,
                an_instant_is_utc_in_microseconds,
                a_payload_of_any_length_comes_back_or_is_refused,
                an_unordered_event_needs_no_key,
                a_large_body_stays_behind,
                a_read_leaves_large_bodies_behind_too,
                what_is_gone_is_left_out_of_a_read,
                what_cannot_be_read_is_the_fault_of_its_row,
                an_unreadable_event_can_still_become_a_dead_letter,
            }
            generated {
                any_event_comes_back_bit_for_bit,
            }
            success {
                a_delivered_event_goes_to_the_history,
                without_a_history_nothing_is_kept,
                settling_twice_is_settling_once,
                an_event_that_is_in_the_history_already_leaves_the_outbox,
                another_id_at_the_position_is_not_touched,
                the_attempts_are_kept_in_the_history,
            }
            failure {
                a_retry_keeps_its_place,
                a_retry_says_how_long_it_waits,
                a_retry_that_is_written_twice_counts_once,
                a_dead_letter_leaves_the_outbox,
                a_crash_is_no_attempt,
                a_blocking_dead_letter_is_listed,
                a_requeued_letter_returns_to_its_place,
                what_is_gone_is_reported,
                another_id_at_the_position_is_gone,
                a_batch_is_written_whole,
            }
            fence {
                a_success_is_refused_after_the_shard_was_lost,
                a_retry_is_refused_after_the_shard_was_lost,
                a_dead_letter_is_refused_after_the_shard_was_lost,
                a_mixed_batch_is_refused_after_the_shard_was_lost,
                what_is_still_owned_is_written_beside_a_lost_shard,
                a_later_epoch_of_the_same_member_is_another_owner,
                a_stalled_settle_of_a_former_owner_writes_nothing,
            }
            conflicts {
                a_success_waits_for_a_dead_letter_and_finds_nothing,
                two_that_settle_the_same_events_leave_each_in_one_place,
                a_settle_that_loses_a_deadlock_may_be_tried_again,
            }
            delayed {
                a_delayed_event_waits,
                due_events_move_in_due_order,
                what_has_fallen_due_is_seen_by_the_next_look,
                a_due_event_gets_its_place_when_it_moves,
                no_more_than_the_limit_moves,
                only_the_owner_moves,
            }
            positions {
                positions_grow,
                no_position_is_used_twice,
            }
            crashes {
                a_crash_is_counted_for_the_named_events,
                only_the_owner_counts_crashes,
                a_verdict_clears_the_crashes,
            }
            operators {
                a_retried_letter_starts_over,
                an_unordered_letter_gets_a_new_place,
                a_skipped_letter_is_kept_and_blocks_no_more,
                a_discarded_letter_is_gone,
                an_event_that_waits_can_be_discarded,
                a_verb_is_too_late_the_second_time,
                of_two_that_retry_one_wins,
                letters_are_found_by_what_is_asked_for,
                letters_come_in_pages,
                a_letter_is_shown_whole,
                letters_are_retried_as_far_as_is_said,
                a_blocked_aggregate_is_listed_with_what_waits,
                what_waits_is_counted_for_each_letter_of_a_page,
                what_operators_do_is_recorded,
                what_was_skipped_is_left_to_those_who_ask_for_it,
            }
            pauses {
                a_paused_topic_is_known_to_all,
                pausing_twice_is_pausing_once,
                of_two_that_pause_one_wins,
            }
            reschedule {
                delayed_events_are_listed,
                a_cancelled_event_never_falls_due,
                a_rescheduled_event_falls_due_at_its_new_time,
                what_has_fallen_due_is_out_of_reach,
            }
            requests {
                texts_are_told_apart_by_every_byte,
                a_topic_that_cannot_be_is_not_paused,
                an_event_is_rescheduled_to_any_time,
                a_replay_is_bounded_by_any_time,
                a_replay_is_no_other_operation,
                of_two_that_start_one_replay_both_go_on,
                a_letter_whose_place_is_taken_stays,
            }
            retention {
                history_is_pruned_by_age,
                of_several_that_prune_each_row_goes_once,
                a_letter_that_blocks_is_never_pruned,
                the_record_of_operators_is_pruned,
                an_archive_gets_events_before_they_go,
                dedupe_keys_are_pruned,
                an_inbox_is_pruned_by_age,
                a_service_without_a_dispatcher_prunes,
            }
            replays {
                replayed_events_are_new_events_with_old_ids,
                an_interrupted_replay_goes_on_where_it_stopped,
                a_replay_takes_what_matches,
            }
            questions {
                each_event_tells_what_became_of_it,
                the_status_view_agrees,
                a_space_at_the_end_makes_another_key,
                events_are_counted_by_topic_and_state,
                large_tables_are_counted_roughly_and_say_so,
                what_waits_is_counted_as_far_as_a_look_goes,
                the_oldest_event_and_its_age_are_told,
                events_with_many_attempts_are_listed,
                dispatchers_are_listed_with_what_they_own,
            }
            test_kit {
                what_was_emitted_is_told_whatever_became_of_it,
                a_transaction_shows_what_it_has_emitted,
                time_that_is_let_pass_has_passed,
                a_lease_runs_out_in_the_time_that_is_let_pass,
                a_dedupe_key_is_forgotten_in_the_time_that_is_let_pass,
            }
        }
    };
    (@areas $harness:ty => $($area:ident { $($law:ident,)* })*) => {
        $(mod $area {
            #[allow(unused_imports, reason = "the harness may be named by a path")]
            use super::*;
            $(
                #[tokio::test]
                async fn $law() {
                    if let Some(reason) = $crate::conformance::skipped::<$harness>(stringify!($law)) {
                        println!("skipped: {reason}");
                        return;
                    }
                    let harness = <$harness as $crate::conformance::Harness>::fresh().await;
                    $crate::conformance::$area::$law(&harness).await;
                }
            )*
        })*
    };
}

/// The laws of stores in whose transactions handlers can work; as [`conformance!`](crate::conformance!).
#[macro_export]
macro_rules! claim_laws {
    ($harness:ty) => {
        $crate::conformance! { @areas $harness =>
            claims {
                what_a_handler_did_commits_with_its_event,
                what_a_handler_did_is_rolled_back_with_its_event,
                a_completed_event_is_kept_as_long_as_is_said,
                a_former_owner_completes_nothing,
                an_event_is_claimed_by_one_at_a_time,
                what_is_gone_is_not_claimed,
                a_transaction_that_its_handler_ended_completes_nothing,
                a_nested_transaction_that_is_left_open_completes_nothing,
                who_marks_crashes_waits_for_no_handler,
            }
        }
    };
}

/// The laws of dispatchers over such stores.
#[macro_export]
macro_rules! claiming_dispatcher_laws {
    ($harness:ty) => {
        $crate::dispatcher_laws! { @areas $harness =>
            in_transaction {
                effects_of_failing_handlers_happen_once,
                what_comes_before_is_written_before,
                a_lost_answer_of_a_commit_repeats_nothing,
                a_stop_waits_for_no_commit_that_hangs,
                nobody_starts_behind_a_handler_of_a_former_owner,
                transactions_leave_connections_to_others,
                what_is_emitted_in_a_transaction_carries_on,
                a_transactional_handler_is_seen_as_any_other,
            }
        }
    };
}
