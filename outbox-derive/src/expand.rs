use crate::{
    constants,
    key::{Key, Part},
    model::{Event, Shape, Topic},
};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{GenericParam, Generics, Ident, Index, Path, Type, ext::IdentExt, parse_quote};

/// Writes the implementation of a type without mistakes; cannot fail.
pub(crate) fn expand(event: &Event) -> TokenStream {
    let indexes = event.topics.iter().enumerate().map(|(index, topic)| {
        let (pattern, index) = (pattern(event, topic), Index::from(index));
        quote!(#pattern { .. } => #index,)
    });
    let keys = event.topics.iter().map(|topic| key(event, topic));
    implement(
        event,
        &quote!(match self { #(#indexes)* }),
        &quote!(match self { #(#keys)* }),
    )
}

/// Everything but the two methods' bodies is the same after a mistake.
pub(crate) fn implement(
    event: &Event,
    topic_index: &TokenStream,
    key: &TokenStream,
) -> TokenStream {
    let (root, ident) = (&event.root, &event.input.ident);
    let contract = contract(event);
    let constants = constants::constants(event);
    let generics = generics(event);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, ty_generics, _) = event.input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #root::OutboxEvent for #ident #ty_generics #where_clause {
            const CONTRACT: #root::Contract = #contract;

            fn topic_index(&self) -> #root::usize {
                #topic_index
            }

            fn key(&self) -> #root::Option<#root::String> {
                #key
            }
        }

        #[automatically_derived]
        #[allow(dead_code, deprecated)]
        impl #impl_generics #ident #ty_generics #where_clause {
            #constants
        }
    }
}

fn contract(event: &Event) -> TokenStream {
    let root = &event.root;
    let name = event.input.ident.unraw().to_string();
    let aggregate = &event.aggregate;
    let shape = match event.shape {
        Shape::Struct => quote!(Struct),
        Shape::Unit => quote!(Unit),
        Shape::Enum => quote!(Enum),
    };
    let topics = event.topics.iter().map(|topic| {
        let (name, variant) = (&topic.name, topic.ident.unraw().to_string());
        let version = (topic.version > 1).then(|| {
            let version = topic.version;
            quote!(.version(#version))
        });
        let unordered = topic.unordered.then(|| quote!(.unordered()));
        quote!(#root::TopicSpec::new(#name, #variant) #version #unordered)
    });
    let unverified = (!event.verify).then(|| quote!(.unverified()));
    quote! {
        #root::Contract::new(#name, #aggregate, #root::Shape::#shape, &[#(#topics),*]) #unverified
    }
}

fn pattern(event: &Event, topic: &Topic) -> TokenStream {
    let variant = topic.ident;
    match event.shape {
        Shape::Struct | Shape::Unit => quote!(Self),
        Shape::Enum => quote!(Self::#variant),
    }
}

fn key(event: &Event, topic: &Topic) -> TokenStream {
    let root = &event.root;
    let pattern = pattern(event, topic);
    match &topic.key {
        None => quote!(#pattern { .. } => #root::Option::None,),
        Some(Key::Constant(text)) => {
            quote!(#pattern { .. } => #root::Option::Some(#root::String::from(#text)),)
        }
        Some(Key::Parts(parts)) => {
            let fields = parts.iter().enumerate().filter_map(|(index, part)| {
                let (member, binding) = (&part.field.as_ref()?.0, format_ident!("__key{index}"));
                Some(quote!(#member: #binding,))
            });
            let parts = parts
                .iter()
                .enumerate()
                .map(|(index, part)| value(root, index, part));
            quote! {
                #pattern { #(#fields)* .. } =>
                    #root::Option::Some(#root::join_key(&[#(#parts),*])),
            }
        }
    }
}

/// One part of a key; a type that cannot be one is reported at the user's token.
fn value(root: &Path, index: usize, part: &Part) -> TokenStream {
    let steps = &part.steps;
    let binding = format_ident!("__key{index}", span = part.span);
    let value = match (&part.field, steps.is_empty()) {
        (Some(_), true) => quote!(#binding),
        (Some(_), false) => quote_spanned!(part.span=> &#binding #(#steps)*),
        (None, _) => quote_spanned!(part.span=> &self #(#steps)*),
    };
    quote_spanned!(part.span=> #root::key_part(#value))
}

/// The user's generics, and what the implementation asks of them.
fn generics(event: &Event) -> Generics {
    let root = &event.root;
    let mut generics = event.input.generics.clone();
    let types: Vec<_> = generics
        .type_params()
        .map(|param| param.ident.clone())
        .collect();
    // Without such parameters a missing serde derive is an error at the type, not where it is used.
    if generics
        .params
        .iter()
        .all(|param| matches!(param, GenericParam::Lifetime(_)))
    {
        return generics;
    }
    let bounds = &mut generics.make_where_clause().predicates;
    bounds.push(parse_quote!(Self: #root::Serialize + #root::DeserializeOwned));
    for topic in &event.topics {
        let Some(Key::Parts(parts)) = &topic.key else {
            continue;
        };
        for part in parts {
            if let (Some((_, field)), []) = (&part.field, &part.steps[..])
                && let ty = &field.ty
                && mentions(ty, &types)
            {
                bounds.push(parse_quote!(#ty: #root::KeyPart));
            }
        }
    }
    generics
}

/// Whether a type speaks of one of the type parameters.
fn mentions(ty: &Type, params: &[Ident]) -> bool {
    fn any(tokens: TokenStream, params: &[Ident]) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => params.contains(&ident),
            TokenTree::Group(group) => any(group.stream(), params),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }
    any(ty.to_token_stream(), params)
}
