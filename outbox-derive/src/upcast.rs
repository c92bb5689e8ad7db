use crate::model::{Event, Topic};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::BTreeMap;
use syn::{Ident, Index, Path, spanned::Spanned};

/// The method that reads older versions; nothing where every payload reads like a current one.
pub(crate) fn expand(event: &Event) -> TokenStream {
    let root = &event.root;
    let topics: Vec<_> = event
        .topics
        .iter()
        .enumerate()
        .filter_map(|(index, topic)| Some((Index::from(index), chain(event, index, topic)?)))
        .map(|(index, chain)| quote!(#index => #chain,))
        .collect();
    if topics.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn upcast(
            topic: #root::usize,
            version: #root::u32,
            payload: &#root::str,
        ) -> #root::Option<#root::Result<Self, #root::DecodeError>> {
            // Unused where all functions may fail and work on JSON.
            #[allow(unused_imports)]
            use #root::Step as _;
            match topic {
                #(#topics)*
                _ => #root::Option::None,
            }
        }
    }
}

/// One closure a function, each of which calls the next: what is written grows with the number of
/// versions, not with its square.
fn chain(event: &Event, index: usize, topic: &Topic) -> Option<TokenStream> {
    let root = &event.root;
    let index = Index::from(index);
    let variant = topic.ident;
    let whole = match topic.content {
        Some(_) => quote!(Self::#variant),
        None => quote!(#root::identity::<Self>),
    };
    let functions: BTreeMap<u32, &Path> = topic
        .upcasts
        .iter()
        .filter_map(|upcast| Some((upcast.from.number, upcast.function.as_ref()?)))
        .collect();
    functions.first_key_value()?;
    let mut closures = Vec::new();
    let mut next = None;
    for (version, function) in functions.iter().rev() {
        let this = format_ident!("from_{version}");
        let span = function.span();
        // With the span of the user's token, a name would be another one inside of `macro_rules`.
        let old = Ident::new("old", Span::call_site());
        let returned = quote_spanned!(span=> #root::Link(#function(#old)).checked()?);
        closures.push(match next {
            None => quote!(let #this = |#old| #returned.finish(#index, #whole);),
            Some(next) => {
                let argument = quote_spanned!(span=> #returned.next()?);
                quote!(let #this = |#old| #next(#argument);)
            }
        });
        next = Some(this);
    }
    let mut first = topic.oldest;
    let arms = functions.keys().map(|version| {
        let closure = format_ident!("from_{version}");
        let versions = range(first, *version);
        first = version + 1;
        quote!(#versions => #root::Option::Some(#root::from_old(payload, #closure)),)
    });
    Some(quote! {{
        #(#closures)*
        match version {
            #(#arms)*
            _ => #root::Option::None,
        }
    }})
}

fn range(first: u32, last: u32) -> TokenStream {
    if first >= last {
        return last.into_token_stream();
    }
    quote!(#first..=#last)
}
