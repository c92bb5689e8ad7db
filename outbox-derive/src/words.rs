use crate::{errors::Errors, suggest};
use proc_macro2::TokenTree;
use std::collections::BTreeSet;
use syn::{Attribute, Ident, Meta, Result, Token, ext::IdentExt, parse::ParseStream};

/// The words that one place knows.
pub(crate) struct Words {
    known: Vec<&'static str>,
    place: &'static str,
    seen: BTreeSet<String>,
    all_clear: bool,
}

const TOPIC_WORDS: [&str; 8] = [
    "topic",
    "was",
    "version",
    "upcast",
    "oldest",
    "unordered",
    "key",
    "key_const",
];
const TYPE_WORDS: [&str; 5] = ["aggregate", "topic_prefix", "topic_case", "verify", "crate"];
const FIELD: &str = "a field";

impl Words {
    pub(crate) fn of_enum() -> Self {
        Self::new(TYPE_WORDS.to_vec(), "an enum")
    }

    pub(crate) fn of_struct() -> Self {
        Self::new([&TYPE_WORDS[..], &TOPIC_WORDS].concat(), "a struct")
    }

    pub(crate) fn of_variant() -> Self {
        Self::new(TOPIC_WORDS.to_vec(), "a variant")
    }

    pub(crate) fn of_field() -> Self {
        Self::new(vec!["key"], FIELD)
    }

    fn new(known: Vec<&'static str>, place: &'static str) -> Self {
        Self {
            known,
            place,
            seen: BTreeSet::new(),
            all_clear: true,
        }
    }

    /// Reads the words of every `#[outbox(…)]`, and goes on at the next comma after a mistake.
    ///
    /// Says whether every word was known and none was passed over. Otherwise what is missing may
    /// have been meant there, and is not worth a second message.
    pub(crate) fn read(
        mut self,
        attrs: &[Attribute],
        errors: &mut Errors,
        mut one: impl FnMut(&Ident, ParseStream) -> Result<()>,
    ) -> bool {
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("outbox")) {
            let Meta::List(list) = &attr.meta else {
                self.all_clear = false;
                errors.push(syn::Error::new_spanned(attr, "expected `#[outbox(…)]`"));
                continue;
            };
            let words = list.parse_args_with(|input: ParseStream| {
                while !input.is_empty() {
                    let read = self.word(input, &mut one);
                    let read = read.and_then(|()| self.comma(input));
                    if errors.take(read).is_none() {
                        skip_to_comma(input)?;
                    }
                }
                Ok(())
            });
            errors.take(words);
        }
        self.all_clear
    }

    fn word(
        &mut self,
        input: ParseStream,
        one: &mut impl FnMut(&Ident, ParseStream) -> Result<()>,
    ) -> Result<()> {
        let word = Ident::parse_any(input).map_err(|error| {
            self.all_clear = false;
            let detail = format!("expected one of `{}`", self.known.join("`, `"));
            syn::Error::new(error.span(), detail)
        })?;
        let name = word.to_string();
        if !self.known.contains(&name.as_str()) {
            self.all_clear = false;
            return Err(syn::Error::new(word.span(), self.unknown(&name)));
        }
        if !self.seen.insert(name) {
            self.all_clear = false;
            return Err(syn::Error::new(
                word.span(),
                format!("`{word}` is given twice"),
            ));
        }
        one(&word, input)
    }

    fn comma(&mut self, input: ParseStream) -> Result<()> {
        if input.is_empty() {
            return Ok(());
        }
        let comma = input.parse::<Token![,]>();
        self.all_clear &= comma.is_ok();
        comma.map(drop)
    }

    fn unknown(&self, word: &str) -> String {
        let place = self.place;
        let elsewhere = if TYPE_WORDS.contains(&word) {
            "the type"
        } else if TOPIC_WORDS.contains(&word) && place == FIELD {
            "the variant"
        } else if TOPIC_WORDS.contains(&word) {
            "its variants"
        } else {
            let near = suggest::among(word, self.known.iter().copied());
            return format!("`{word}` is no outbox attribute of {place}{near}");
        };
        format!("`{word}` goes on {elsewhere}, not on {place}")
    }
}

fn skip_to_comma(input: ParseStream) -> Result<()> {
    while !input.is_empty() {
        if let TokenTree::Punct(punct) = input.parse()?
            && punct.as_char() == ','
        {
            break;
        }
    }
    Ok(())
}
