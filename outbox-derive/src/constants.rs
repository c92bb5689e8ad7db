use crate::model::{Event, Topic};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeSet;
use syn::Index;

/// One typed constant a topic: handlers are registered with it, without a string.
pub(crate) fn constants(event: &Event) -> TokenStream {
    let mut names = BTreeSet::new();
    event
        .topics
        .iter()
        .enumerate()
        // After a mistake two may have one name; that is reported already.
        .filter(|(_, topic)| names.insert(topic.constant.to_string()))
        .map(|(index, topic)| constant(event, index, topic))
        .collect()
}

fn constant(event: &Event, index: usize, topic: &Topic) -> TokenStream {
    let (root, vis) = (&event.root, &event.input.vis);
    let (name, variant) = (&topic.constant, topic.ident);
    let index = Index::from(index);
    let doc = format!("The topic `{}`.", topic.name.value());
    let (ty, decoded) = match topic.content {
        None => (
            quote!(Self),
            quote!(#root::decode_event::<Self>(#index, version, payload)),
        ),
        Some(content) => {
            // An enum of one variant has no other.
            let other = (event.topics.len() > 1).then(|| quote!(_ => #root::Option::None,));
            let decoded = quote! {
                #root::decode_content(#index, version, payload, |event: Self| match event {
                    Self::#variant(content) => #root::Option::Some(content),
                    #other
                })
            };
            (quote!(#content), decoded)
        }
    };
    quote! {
        #[doc = #doc]
        #vis const #name: #root::Topic<#ty> =
            #root::Topic::new::<Self>(#index, |version, payload| #decoded);
    }
}
