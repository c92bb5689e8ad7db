//! `#[derive(OutboxEvent)]` for outbox-seaorm.

// In the order in which a type goes through them.
mod errors;
mod suggest;
mod path;
mod words;
mod case;
mod version;
mod attr;
mod serde;
mod key;
mod model;
mod check;
mod constants;
mod upcast;
mod expand;
mod fallback;

use crate::{errors::Errors, model::Event};
use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

// The reference stands where the macro is re-exported, `outbox-core/docs/derive.md`: its example
// needs the crate that this one is a part of.
#[expect(missing_docs, reason = "documented at the re-export")]
#[proc_macro_derive(OutboxEvent, attributes(outbox))]
pub fn derive_outbox_event(input: TokenStream) -> TokenStream {
    derive(&parse_macro_input!(input as DeriveInput)).into()
}

fn derive(input: &DeriveInput) -> proc_macro2::TokenStream {
    let mut errors = Errors::default();
    let event = Event::new(input, &mut errors);
    check::check(&event, &mut errors);
    match errors.finish() {
        None => expand::expand(&event),
        Some(error) => fallback::fallback(&event, error),
    }
}

#[cfg(test)]
mod tests;
