//! The serde attributes that an event enum cannot have.

use crate::errors::Errors;
use syn::{
    Attribute, DataEnum, DeriveInput, Error, Field, Meta, Token, Type, punctuated::Punctuated,
};

const TAGGED: &str = "the topic is the tag: the payload is the variant's content alone";
const CONVERTED: &str = "the payload is that of the enum's own variants; \
                         put the conversion on a field or into the handler";
const COUNTED: &str = "variants are told apart by their number, which this would shift; \
                       delete the variant, or keep it and never emit it";
const BORROWED: &str = "a handler owns its event: let the field own its data";

pub(crate) fn check_enum(input: &DeriveInput, data: &DataEnum, errors: &mut Errors) {
    refuse(&input.attrs, errors, |word| match word {
        "tag" | "content" | "untagged" => Some(TAGGED),
        "from" | "try_from" | "into" | "remote" => Some(CONVERTED),
        "variant_identifier" | "field_identifier" => Some("an event is no identifier"),
        _ => None,
    });
    for variant in &data.variants {
        refuse(&variant.attrs, errors, |word| match word {
            "untagged" => Some(TAGGED),
            "skip" | "skip_serializing" | "skip_deserializing" => Some(COUNTED),
            "other" => Some("an event of an unknown topic waits for a build that knows it"),
            "borrow" => Some(BORROWED),
            _ => None,
        });
    }
}

/// Refuses data that is borrowed from the payload: nothing would outlive the decoding.
pub(crate) fn check_field(field: &Field, errors: &mut Errors) {
    refuse(&field.attrs, errors, |word| {
        (word == "borrow").then_some(BORROWED)
    });
    if let Type::Reference(reference) = ungrouped(&field.ty) {
        errors.push(Error::new_spanned(reference, BORROWED));
    }
}

fn refuse(attrs: &[Attribute], errors: &mut Errors, reason: impl Fn(&str) -> Option<&'static str>) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // What cannot be parsed is for serde to report.
        let words = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        for meta in words.into_iter().flatten() {
            let Some(word) = meta.path().get_ident().map(ToString::to_string) else {
                continue;
            };
            if let Some(reason) = reason(&word) {
                let detail = format!("`serde({word})` does not fit an outbox event: {reason}");
                errors.push(Error::new_spanned(meta.path(), detail));
            }
        }
    }
}

/// A type without the invisible group that `macro_rules` puts around it.
fn ungrouped(mut ty: &Type) -> &Type {
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    ty
}
