use crate::{
    constants,
    key::{Key, Part},
    model::{Event, Shape, Topic},
    upcast,
};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::BTreeMap;
use syn::{
    GenericParam, Generics, Ident, Index, Member, Path, Type, WherePredicate, ext::IdentExt,
    parse_quote,
};

/// Writes the implementation of a type without mistakes; cannot fail.
pub(crate) fn expand(event: &Event) -> TokenStream {
    let indexes = event.topics.iter().enumerate().map(|(index, topic)| {
        let (pattern, index) = (pattern(event, topic), Index::from(index));
        quote!(#pattern { .. } => #index,)
    });
    let keys = event.topics.iter().map(|topic| key(event, topic));
    implement(
        event,
        &generics(event),
        &quote!(match self { #(#indexes)* }),
        &quote!(match self { #(#keys)* }),
        &upcast::expand(event),
    )
}

/// Everything but the bodies of the two methods, and how older versions are read, is the same after
/// a mistake.
pub(crate) fn implement(
    event: &Event,
    generics: &Generics,
    topic_index: &TokenStream,
    key: &TokenStream,
    upcast: &TokenStream,
) -> TokenStream {
    let (root, ident) = (&event.root, &event.input.ident);
    let contract = contract(event);
    let constants = constants::constants(event);
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

            #upcast
        }

        #[automatically_derived]
        #[allow(dead_code, deprecated, private_interfaces, unreachable_pub)]
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
        let was = (!topic.was.is_empty()).then(|| {
            let was = &topic.was;
            quote!(.was(&[#(#was),*]))
        });
        let oldest = (topic.oldest > 1).then(|| {
            let oldest = topic.oldest;
            quote!(.oldest(#oldest))
        });
        let unit = topic.unit.then(|| quote!(.unit()));
        let unordered = topic.unordered.then(|| quote!(.unordered()));
        quote!(#root::TopicSpec::new(#name, #variant) #was #version #oldest #unit #unordered)
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
            // Two parts may begin at one field, which a pattern names once.
            let fields: BTreeMap<String, TokenStream> = parts
                .iter()
                .filter_map(|part| part.field.as_ref())
                .map(|(member, _)| {
                    let binding = binding(member, Span::call_site());
                    (binding.to_string(), quote!(#member: #binding,))
                })
                .collect();
            let fields = fields.values();
            let parts = parts.iter().map(|part| value(root, part));
            quote! {
                #pattern { #(#fields)* .. } =>
                    #root::Option::Some(#root::join_key(&[#(#parts),*])),
            }
        }
    }
}

/// One part of a key; a type that cannot be one is reported at the user's token.
fn value(root: &Path, part: &Part) -> TokenStream {
    let steps = &part.steps;
    let start = match &part.field {
        Some((member, _)) => binding(member, part.span),
        None => Ident::new("self", part.span),
    };
    let value = match &steps[..] {
        [] => quote!(#start),
        _ => quote_spanned!(part.span=> &#start #(#steps)*),
    };
    quote_spanned!(part.span=> #root::key_part(#value))
}

/// What a field is called while its key is made.
fn binding(member: &Member, span: Span) -> Ident {
    match member {
        Member::Named(name) => format_ident!("__{}", name.unraw(), span = span),
        Member::Unnamed(index) => format_ident!("__{}", index.index, span = span),
    }
}

/// The user's generics, and what the implementation asks of them.
fn generics(event: &Event) -> Generics {
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
    let root = &event.root;
    let bounds = &mut generics.make_where_clause().predicates;
    bounds.push(serde_bound(root));
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

/// What serde's derives ask of the parameters, whatever that is.
pub(crate) fn serde_bound(root: &Path) -> WherePredicate {
    parse_quote!(Self: #root::Serialize + #root::DeserializeOwned)
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
