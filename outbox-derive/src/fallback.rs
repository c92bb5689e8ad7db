use crate::{expand, model::Event};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, Error};

/// The messages, and an implementation all the same: whatever uses the type as an event, or one
/// of its topics, is not reported a second time.
pub(crate) fn fallback(event: &Event, error: Error) -> TokenStream {
    let error = error.into_compile_error();
    if let Data::Union(_) = event.input.data {
        // Serde refuses it as well, and would leave the implementation without its supertraits.
        return error;
    }
    let root = &event.root;
    let implementation = expand::implement(event, &quote!(0), &quote!(#root::Option::None));
    quote!(#error #implementation)
}
