//! What the compiler says. One file a kind of mistake; its messages stand beside it.

#[test]
fn outside_a_transaction_the_compiler_says_what_to_do() {
    trybuild::TestCases::new().compile_fail("emit/*.rs");
}

#[test]
fn every_mistake_has_one_message_at_its_token() {
    trybuild::TestCases::new().compile_fail("derive/*.rs");
}

#[test]
fn what_is_no_handler_of_the_event_is_told_what_one_is() {
    trybuild::TestCases::new().compile_fail("handler/*.rs");
}
