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
    let mut generics = event.input.generics.clone();
    if !generics.params.is_empty() {
        // Also for lifetimes: a field that borrows has its message already.
        let bounds = &mut generics.make_where_clause().predicates;
        bounds.push(expand::serde_bound(root));
    }
    let none = quote!(#root::Option::None);
    let implementation =
        expand::implement(event, &generics, &quote!(0), &none, &TokenStream::new());
    quote!(#error #implementation)
}
