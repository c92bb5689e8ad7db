//! What the compiler says.

#[test]
fn outside_a_transaction_the_compiler_says_what_to_do() {
    trybuild::TestCases::new().compile_fail("ui/emit/*.rs");
}
