use crate::{
    attr,
    case::{self, Case},
    errors::Errors,
    key::{self, Key},
    serde,
    version::{Upcast, Version},
};
use proc_macro2::Span;
use std::collections::BTreeSet;
use syn::{
    Data, DataEnum, DeriveInput, Error, Fields, Ident, LitStr, Path, Type, ext::IdentExt,
    parse_quote,
};

/// An event type as its user declared it. Every part keeps the user's tokens, so that a message
/// points at the right one.
pub(crate) struct Event<'a> {
    pub(crate) input: &'a DeriveInput,
    /// Where generated code finds what it calls.
    pub(crate) root: Path,
    pub(crate) aggregate: LitStr,
    pub(crate) topic_prefix: Option<LitStr>,
    pub(crate) topic_case: Case,
    pub(crate) verify: bool,
    pub(crate) shape: Shape,
    pub(crate) topics: Vec<Topic<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Struct,
    Unit,
    Enum,
}

/// A struct, or a variant of an enum.
pub(crate) struct Topic<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: LitStr,
    /// Whether the user wrote the name.
    pub(crate) explicit: bool,
    pub(crate) constant: Ident,
    /// The names it had before.
    pub(crate) was: Vec<LitStr>,
    pub(crate) version: u32,
    /// The oldest version that can be read.
    pub(crate) oldest: u32,
    pub(crate) upcasts: Vec<Upcast>,
    /// Whether more may have been said of versions, wrongly written.
    pub(crate) doubtful: bool,
    /// Where the version and the oldest one are written.
    pub(crate) written: [Option<Version>; 2],
    /// Whether it has no fields, not even none in parentheses.
    pub(crate) unit: bool,
    pub(crate) unordered: bool,
    /// `None` also after a mistake in it.
    pub(crate) key: Option<Key<'a>>,
    /// Whether the user wrote a key, be it a wrong one; then it is not missing.
    pub(crate) has_key: bool,
    /// The type inside a newtype variant: what a handler of this topic takes.
    pub(crate) content: Option<&'a Type>,
}

impl<'a> Event<'a> {
    pub(crate) fn new(input: &'a DeriveInput, errors: &mut Errors) -> Self {
        let container = match &input.data {
            Data::Struct(_) => attr::Container::of_struct(&input.attrs, errors),
            Data::Enum(_) | Data::Union(_) => attr::Container::of_enum(&input.attrs, errors),
        };
        let mut event = Self {
            input,
            root: match container.root {
                Some(root) => parse_quote!(#root::__private),
                None => parse_quote!(::outbox_seaorm::__private),
            },
            aggregate: container.aggregate.unwrap_or_else(|| {
                if !container.doubtful {
                    errors.push(Error::new(
                        input.ident.span(),
                        "the aggregate is missing: write `#[outbox(aggregate = \"order\")]`",
                    ));
                }
                LitStr::new("missing", input.ident.span())
            }),
            topic_prefix: container.topic_prefix,
            topic_case: container.topic_case,
            verify: !container.unverified,
            shape: Shape::Enum,
            topics: Vec::new(),
        };
        match &input.data {
            Data::Struct(data) => {
                event.shape = match data.fields {
                    Fields::Unit => Shape::Unit,
                    _ => Shape::Struct,
                };
                let topic = event.topic(&input.ident, &data.fields, container.topic, errors);
                event.topics.push(topic);
            }
            Data::Enum(data) => event.variants(data, errors),
            Data::Union(data) => errors.push(Error::new(
                data.union_token.span,
                "a union cannot be an outbox event: use an enum or a struct",
            )),
        }
        event
    }

    fn variants(&mut self, data: &'a DataEnum, errors: &mut Errors) {
        serde::check_enum(self.input, data, errors);
        if data.variants.is_empty() {
            errors.push(Error::new(
                self.input.ident.span(),
                "an enum without variants has no events",
            ));
        }
        let names: BTreeSet<String> = data
            .variants
            .iter()
            .map(|variant| variant.ident.unraw().to_string())
            .collect();
        for variant in &data.variants {
            let attrs = attr::Topic::of_variant(&variant.attrs, errors);
            let mut topic = self.topic(&variant.ident, &variant.fields, attrs, errors);
            topic.constant = constant(&variant.ident, &names);
            topic.content = content(&variant.fields);
            self.topics.push(topic);
        }
    }

    fn topic(
        &self,
        ident: &'a Ident,
        fields: &'a Fields,
        attrs: attr::Topic,
        errors: &mut Errors,
    ) -> Topic<'a> {
        let marked: Vec<_> = fields
            .iter()
            .enumerate()
            .filter_map(|(index, field)| {
                serde::check_field(field, errors);
                let word = attr::field_key(&field.attrs, errors)?;
                Some((word, index, field))
            })
            .collect();
        // A misspelt attribute at a field was most likely meant to mark the key.
        let has_key = attrs.has_key
            || fields
                .iter()
                .flat_map(|field| &field.attrs)
                .any(|attr| attr.path().is_ident("outbox"));
        let place = key::Place {
            ident,
            fields,
            is_struct: !matches!(self.input.data, Data::Enum(_)),
        };
        Topic {
            ident,
            explicit: attrs.name.is_some(),
            name: attrs.name.unwrap_or_else(|| {
                let prefix = self.topic_prefix.as_ref().unwrap_or(&self.aggregate);
                let topic = self.topic_case.apply(&ident.unraw().to_string());
                LitStr::new(&format!("{}.{topic}", prefix.value()), ident.span())
            }),
            constant: Ident::new("TOPIC", Span::call_site()),
            was: attrs.was,
            version: attrs.version.map_or(1, |version| version.number),
            oldest: attrs.oldest.map_or(1, |oldest| oldest.number),
            upcasts: attrs.upcasts,
            doubtful: attrs.doubtful,
            written: [attrs.version, attrs.oldest],
            unit: matches!(fields, Fields::Unit),
            unordered: attrs.unordered,
            key: place.key(marked, attrs.key, errors),
            has_key,
            content: None,
        }
    }
}

/// `ORDER_PLACED` for `OrderPlaced`; `V2_TOPIC` for `V2`, since a variant would hide a constant
/// of its name; `CONTRACT_TOPIC` for `Contract`, since it would hide the trait's constant.
fn constant(variant: &Ident, variants: &BTreeSet<String>) -> Ident {
    let mut name = case::snake(&variant.unraw().to_string()).to_uppercase();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, '_');
    }
    if variants.contains(&name) || name == "CONTRACT" {
        name.push_str("_TOPIC");
    }
    Ident::new(&name, variant.span())
}

fn content(fields: &Fields) -> Option<&Type> {
    match fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Some(&fields.unnamed[0].ty),
        _ => None,
    }
}
