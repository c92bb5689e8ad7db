//! `#[derive(OutboxEvent)]` for outbox-seaorm.

use proc_macro::TokenStream;

/// Declares the topics and the aggregate key of an event type.
#[proc_macro_derive(OutboxEvent, attributes(outbox))]
pub fn derive_outbox_event(input: TokenStream) -> TokenStream {
    drop(input);
    TokenStream::new()
}
