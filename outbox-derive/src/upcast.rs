use crate::model::{Event, Topic};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
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
    let [topic, version, payload] =
        ["topic", "version", "payload"].map(|name| local(name, Span::mixed_site()));
    quote! {
        fn upcast(
            #topic: #root::usize,
            #version: #root::u32,
            #payload: &#root::str,
        ) -> #root::Option<#root::Result<Self, #root::DecodeError>> {
            // Unused where all functions may fail and work on JSON.
            #[allow(unused_imports)]
            use #root::Step as _;
            match #topic {
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
        let this = local(&format!("from_{version}"), Span::mixed_site());
        let span = function.span();
        let (root, whole, index) = (at(span, root), at(span, &whole), at(span, &index));
        let old = local("old", span);
        let returned = quote_spanned!(span=> #root::Link(#function(#old)).checked()?);
        closures.push(match next {
            None => {
                let finished = quote_spanned!(span=> #returned.finish(#index, #whole));
                quote!(let #this = |#old| #finished;)
            }
            Some(next) => {
                let argument = quote_spanned!(span=> #returned.next()?);
                quote!(let #this = |#old| #next(#argument);)
            }
        });
        next = Some(this);
    }
    let mut first = topic.oldest;
    let arms = functions.iter().map(|(version, function)| {
        let (span, versions) = (function.span(), range(first, *version));
        first = version + 1;
        let root = at(span, root);
        let payload = local("payload", span);
        let closure = local(&format!("from_{version}"), span);
        let event = quote_spanned!(span=> #root::from_old(#payload, #closure));
        quote!(#versions => #root::Option::Some(#event),)
    });
    let version = local("version", Span::mixed_site());
    Some(quote! {{
        #(#closures)*
        match #version {
            #(#arms)*
            _ => #root::Option::None,
        }
    }})
}

/// A name that hides no function of the user's.
fn local(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(span))
}

/// The tokens, as if they stood where the user named a function: a message points at the whole of an
/// expression, and would reach from the derive to there.
fn at(span: Span, tokens: &impl ToTokens) -> TokenStream {
    let tokens = tokens.to_token_stream().into_iter();
    tokens
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

fn range(first: u32, last: u32) -> TokenStream {
    if first >= last {
        return last.into_token_stream();
    }
    quote!(#first..=#last)
}
