//! `cargo run -p contract`: says whether the documents of the events are up to date; with
//! `-- update` writes them anew.

use outbox_core::BoxError;
use std::{path::Path, process::ExitCode};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contract: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), BoxError> {
    let documents = contract::documents()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    match std::env::args().nth(1).as_deref() {
        Some("update") => {
            for change in documents.update(folder)? {
                println!("{change}");
            }
            Ok(())
        }
        None | Some("check") => documents.check(folder),
        Some(other) => Err(format!("{other:?} is neither `check` nor `update`").into()),
    }
}
