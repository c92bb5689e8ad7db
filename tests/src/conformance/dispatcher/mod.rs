//! The laws of a dispatcher over a store. Each is one function, generic over a
//! [`Harness`](super::Harness); [`dispatcher_laws!`](crate::dispatcher_laws) makes a test of each.
//!
//! Time is real where the store's is: a law waits for what must come, with more patience than any
//! machine needs, and measures nothing.

mod event;
mod scene;
mod chance;

pub mod order;
pub mod failures;
pub mod topics;
pub mod fairness;
pub mod pool;
pub mod crowd;
pub mod follow_ups;
pub mod batches;
pub mod in_transaction;
pub mod stop;
pub mod restarts;
pub mod races;
pub mod refusals;
pub mod restores;
pub mod costs;
pub mod values;
pub mod operators;
pub mod verbs_at_random;
pub mod test_kit;

pub use event::Account;
pub use scene::{Scene, ok};

/// Makes a test of every law of a dispatcher, for a harness in scope.
#[macro_export]
macro_rules! dispatcher_laws {
    ($harness:ty) => {
        $crate::dispatcher_laws! { @areas $harness =>
            order {
                events_of_an_aggregate_come_in_the_order_they_were_written,
                a_blocked_hot_aggregate_holds_up_nobody,
                a_failed_event_keeps_its_place_through_a_restart,
                a_failed_event_keeps_its_place_through_a_hand_over,
                a_delayed_event_gets_its_place_when_it_falls_due,
                what_falls_due_waits_for_no_poll,
                no_position_is_used_twice,
                an_event_that_commits_late_comes_before_its_successor,
            }
            failures {
                what_blocks_is_known_to_the_next_owner,
                a_dead_letter_that_continues_lets_its_successors_go,
                a_discarded_letter_lets_its_successors_go,
                a_requeued_letter_returns_to_its_place,
                what_comes_with_a_requeued_letter_waits_for_it,
                an_outage_burns_no_attempt,
                an_event_that_is_removed_in_work_spoils_no_batch,
            }
            topics {
                an_unknown_topic_holds_back_its_own_aggregate_only,
                builds_of_two_releases_lose_and_reorder_nothing,
                two_prefixes_in_one_database_never_meet,
                each_event_goes_where_its_topic_says,
            }
            fairness {
                topics_that_stand_still_leave_the_memory_to_another,
                a_long_aggregate_that_is_blocked_holds_up_nobody,
                a_long_aggregate_that_is_slow_holds_up_nobody,
            }
            pool {
                handlers_use_the_pool_that_they_are_delivered_from,
                no_connection_is_held_while_a_handler_runs,
                handlers_that_are_dropped_leave_the_pool_as_it_was,
            }
            follow_ups {
                a_handler_of_a_topic_carries_on,
                a_spawned_task_carries_on_what_it_is_given,
                a_raw_handler_carries_on,
            }
            batches {
                batches_keep_the_order_of_each_aggregate,
                an_event_without_an_answer_is_tried_again,
                a_panic_counts_for_every_event_of_a_batch,
                a_batch_carries_on_what_its_events_share,
            }
            stop {
                a_graceful_stop_hands_the_rest_back,
                a_standby_goes_on_at_once_after_a_clean_stop,
                what_was_in_work_at_a_hard_stop_comes_again,
                a_handler_may_take_longer_than_the_lease,
            }
            restarts {
                random_failures_and_restarts_never_reorder,
                what_a_former_owner_delivered_is_repeated_whole,
            }
            races {
                a_successor_waits_until_a_dead_letter_is_written,
                what_was_settled_while_a_fetch_was_under_way_comes_no_more,
                nothing_of_a_shard_is_written_before_what_came_first,
                a_settle_that_was_refused_by_the_fence_ends_the_session,
                a_jump_of_the_clock_hands_nothing_over,
            }
            refusals {
                a_settle_that_fails_after_the_delivery_delivers_again,
                a_refused_success_is_written_when_it_can_be,
                a_lasting_refusal_holds_back_its_own_aggregate,
            }
            costs {
                a_delivered_event_costs_two_row_changes,
                an_emit_is_one_statement_and_one_row,
                nothing_is_written_before_an_outcome,
                an_idle_dispatcher_hardly_asks_and_writes_only_its_lease,
                a_standby_asks_only_for_what_is_free,
            }
            values {
                numbers_arrive_exactly,
                texts_arrive_exactly,
                keys_that_look_alike_are_different,
                keyless_events_hold_back_nobody,
                undecodable_events_fail_alone,
            }
            operators {
                a_paused_topic_stands_still_and_others_go_on,
                a_rescheduled_event_is_delivered_in_time,
                a_discarded_event_lets_its_successors_go,
                history_is_kept_as_long_as_is_said,
                inboxes_and_dedupe_keys_are_pruned,
                what_an_archive_refuses_stays,
                a_run_until_idle_prunes_too,
                replayed_events_are_delivered_again,
            }
            verbs_at_random {
                operators_at_random_lose_and_reorder_nothing,
            }
            test_kit {
                the_retry_curve_takes_no_time,
                each_event_has_its_outcome,
                who_runs_sees_time_pass,
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
                    let scene = $crate::conformance::dispatcher::Scene::<$harness>::new().await;
                    $crate::conformance::dispatcher::$area::$law(&scene).await;
                }
            )*
        })*
    };
}
