//! One file of `ui/derive` a kind of mistake; its messages stand beside it.

#[test]
fn every_mistake_has_one_message_at_its_token() {
    trybuild::TestCases::new().compile_fail("ui/derive/*.rs");
}
