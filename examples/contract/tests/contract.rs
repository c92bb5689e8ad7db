//! The documents are those of the types.

use std::path::Path;

#[test]
fn the_documents_are_up_to_date() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    contract::documents()?.check(Path::new(env!("CARGO_MANIFEST_DIR")))
}
