use super::Capability;

/// What some laws need and not every store has: why a store without it does not run them.
pub const NEEDS: &[(Capability, &str, &[&str])] = &[
    (
        Capability::Transactions,
        "there is no transaction to roll back",
        &["an_event_of_a_rolled_back_transaction_never_was"],
    ),
    (
        Capability::Transactions,
        "there is no transaction to be in",
        &[
            "whatever_ends_a_transaction_takes_its_events_along",
            "what_is_dropped_at_any_moment_is_whole_or_never_was",
            "what_is_refused_leaves_the_transaction_usable",
            "a_savepoint_takes_its_own_events_along",
            "missing_tables_are_told_and_never_made",
            "many_events_are_all_or_nothing_and_keep_their_order",
            "a_duplicate_leaves_the_transaction_usable",
            "a_key_goes_with_its_transaction",
            "a_transaction_shows_what_it_has_emitted",
            "one_that_comes_second_waits_and_is_a_duplicate",
            "one_that_comes_second_is_new_when_the_first_rolls_back",
            "keys_are_taken_in_their_order",
            "of_many_that_emit_with_one_key_one_is_new",
        ],
    ),
    (
        Capability::Transactions,
        "an inbox is a table",
        &[
            "of_many_copies_one_is_worked_on",
            "of_many_copies_one_is_begun",
            "a_second_copy_waits_and_is_a_duplicate",
            "a_second_copy_is_worked_on_when_the_first_fails",
            "an_inbox_is_pruned_by_age",
            "a_service_without_a_dispatcher_prunes",
            "a_message_is_worked_on_once",
            "every_consumer_has_its_own_inbox",
            "a_replay_can_be_another_message",
            "a_message_is_recorded_in_a_transaction",
            "a_message_is_begun_and_completed",
            "a_message_that_was_left_is_fresh_after_its_lease",
            "a_message_that_was_released_is_as_before",
            "work_that_leaves_a_transaction_open_is_not_done",
            "work_that_ends_its_transaction_is_not_done",
            "work_that_goes_on_after_an_error_is_done_if_it_is_stored",
            "work_that_panics_or_is_dropped_is_not_done",
            "a_message_is_given_back_once",
            "a_message_in_work_is_not_forgotten",
        ],
    ),
    (
        Capability::Transactions,
        "there are no tables to be named or to be too narrow",
        &[
            "names_that_need_quoting_work_side_by_side",
            "outboxes_of_any_name_migrate_side_by_side",
            "a_payload_of_any_length_comes_back_or_is_refused",
        ],
    ),
    (
        Capability::TimedLease,
        "the lease is the process itself",
        &[
            "a_lease_runs_out",
            "a_lease_runs_out_in_the_time_that_is_let_pass",
            "renewing_extends_the_lease",
            "a_lease_from_the_future_is_over",
        ],
    ),
    (
        Capability::ForeignRows,
        "its clock cannot be turned back",
        &["a_lease_from_the_future_is_over"],
    ),
    (
        Capability::ForeignRows,
        "nothing but the library can write a row",
        &[
            "a_letter_whose_place_is_taken_stays",
            "an_event_that_is_in_the_history_already_leaves_the_outbox",
            "what_cannot_be_read_is_the_fault_of_its_row",
            "an_unreadable_event_can_still_become_a_dead_letter",
        ],
    ),
];
