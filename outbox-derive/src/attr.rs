use crate::{
    case::Case,
    errors::Errors,
    path::KeyPath,
    version::{Upcast, Version},
    words::Words,
};
use proc_macro2::TokenStream;
use syn::{
    Attribute, Ident, LitBool, LitStr, Path, Result, Token, parenthesized,
    parse::{Parse, ParseStream},
    token::Paren,
};

/// What `#[outbox(…)]` says at the type.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) aggregate: Option<LitStr>,
    pub(crate) topic_prefix: Option<LitStr>,
    pub(crate) topic_case: Case,
    pub(crate) root: Option<Path>,
    pub(crate) unverified: bool,
    /// Whether the aggregate may be there, wrongly written.
    pub(crate) doubtful: bool,
    /// A struct is a topic itself.
    pub(crate) topic: Topic,
}

/// What `#[outbox(…)]` says at a variant or a struct.
#[derive(Default)]
pub(crate) struct Topic {
    pub(crate) name: Option<LitStr>,
    /// The names it had before.
    pub(crate) was: Vec<LitStr>,
    pub(crate) version: Option<Version>,
    pub(crate) oldest: Option<Version>,
    pub(crate) upcasts: Vec<Upcast>,
    /// Whether more may have been said of versions, wrongly written.
    pub(crate) doubtful: bool,
    pub(crate) unordered: bool,
    pub(crate) key: Option<Key>,
    /// Whether there is a key, be it a wrong one, or an unknown word that may have been meant so.
    pub(crate) has_key: bool,
}

/// A key that is not marked at a field.
pub(crate) struct Key {
    /// The word that brought it.
    pub(crate) word: Ident,
    pub(crate) source: KeySource,
}

pub(crate) enum KeySource {
    Paths(Vec<KeyPath>),
    Constant(LitStr),
}

impl Container {
    pub(crate) fn of_enum(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut container = Self::default();
        let words = Words::of_enum();
        let known = words.read(attrs, errors, |word, input| container.word(word, input));
        container.doubtful |= !known;
        container
    }

    pub(crate) fn of_struct(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut container = Self::default();
        let words = Words::of_struct();
        let known = words.read(attrs, errors, |word, input| container.word(word, input));
        container.doubtful |= !known;
        container.topic.doubtful |= !known;
        container.topic.has_key |= !known;
        container
    }

    fn word(&mut self, word: &Ident, input: ParseStream) -> Result<()> {
        match word.to_string().as_str() {
            "aggregate" => {
                self.doubtful = true;
                self.aggregate = Some(value(word, input, "\"order\"")?);
            }
            "topic_prefix" => self.topic_prefix = Some(value(word, input, "\"shop.order\"")?),
            "topic_case" => {
                let name: LitStr = value(word, input, "\"kebab-case\"")?;
                self.topic_case = Case::parse(&name)?;
            }
            "verify" => self.unverified = !value::<LitBool>(word, input, "false")?.value,
            "crate" => {
                equals(word, input, "outbox_core")?;
                let root = input.call(Path::parse_mod_style);
                self.root = Some(root.map_err(|error| {
                    syn::Error::new(error.span(), "expected a path, as in `crate = outbox_core`")
                })?);
            }
            _ => self.topic.word(word, input)?,
        }
        Ok(())
    }
}

impl Topic {
    pub(crate) fn of_variant(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut topic = Self::default();
        let words = Words::of_variant();
        let known = words.read(attrs, errors, |word, input| topic.word(word, input));
        topic.doubtful |= !known;
        topic.has_key |= !known;
        topic
    }

    fn word(&mut self, word: &Ident, input: ParseStream) -> Result<()> {
        match word.to_string().as_str() {
            "topic" => self.name = Some(value(word, input, "\"stripe.charge\"")?),
            "was" => self.was = names(word, input)?,
            "version" => self.version = Some(self.sure(version(word, input))?),
            "oldest" => self.oldest = Some(self.sure(version(word, input))?),
            "upcast" => self.upcasts = self.sure(upcasts(word, input))?,
            "unordered" => {
                self.unordered = true;
                if input.peek(Token![=]) {
                    return Err(input.error("`unordered` takes no value"));
                }
            }
            "key" => {
                self.has_key = true;
                equals(word, input, "order_id")?;
                let paths = key_paths(input)?;
                self.set_key(word, KeySource::Paths(paths))?;
            }
            "key_const" => {
                self.has_key = true;
                let constant = value(word, input, "\"all\"")?;
                self.set_key(word, KeySource::Constant(constant))?;
            }
            // `Words` lets no other word through.
            _ => {}
        }
        Ok(())
    }

    /// What is said of versions, which is in doubt after a mistake in it.
    fn sure<T>(&mut self, said: Result<T>) -> Result<T> {
        self.doubtful |= said.is_err();
        said
    }

    fn set_key(&mut self, word: &Ident, source: KeySource) -> Result<()> {
        if self.key.is_some() {
            return Err(syn::Error::new(
                word.span(),
                "there is a key already: `key` and `key_const` exclude each other",
            ));
        }
        self.key = Some(Key {
            word: word.clone(),
            source,
        });
        Ok(())
    }
}

/// The `key` of `#[outbox(key)]` at a field.
pub(crate) fn field_key(attrs: &[Attribute], errors: &mut Errors) -> Option<Ident> {
    let mut key = None;
    Words::of_field().read(attrs, errors, |word, input| {
        key = Some(word.clone());
        if input.peek(Token![=]) {
            let detail = "at a field `key` takes no value; `key = path` goes on the variant";
            return Err(input.error(detail));
        }
        Ok(())
    });
    key
}

fn key_paths(input: ParseStream) -> Result<Vec<KeyPath>> {
    if input.peek(LitStr) {
        return Ok(vec![KeyPath::from_literal(&input.parse()?)?]);
    }
    if !input.peek(Paren) {
        return Ok(vec![input.parse()?]);
    }
    let parts;
    let parens = parenthesized!(parts in input);
    let paths = parts.parse_terminated(KeyPath::parse, Token![,]);
    // What a mistake leaves unread would be reported as well.
    parts.parse::<TokenStream>()?;
    let paths = paths?;
    if paths.is_empty() {
        return Err(syn::Error::new(
            parens.span.join(),
            "a key has at least one part",
        ));
    }
    Ok(paths.into_iter().collect())
}

/// One name, or several in parentheses.
fn names(word: &Ident, input: ParseStream) -> Result<Vec<LitStr>> {
    const EXAMPLE: &str = "\"order.created\"";
    equals(word, input, EXAMPLE)?;
    if !input.peek(Paren) {
        let name = input.parse();
        let name = name.map_err(|_| expected(word, input, EXAMPLE))?;
        return Ok(vec![name]);
    }
    let list;
    parenthesized!(list in input);
    let names = list.parse_terminated(<LitStr as Parse>::parse, Token![,]);
    // What a mistake leaves unread would be reported as well.
    list.parse::<TokenStream>()?;
    Ok(names?.into_iter().collect())
}

fn upcasts(word: &Ident, input: ParseStream) -> Result<Vec<Upcast>> {
    if !input.peek(Paren) {
        let detail = "`upcast` takes the functions of older versions: `upcast(1 = from_v1)`";
        return Err(syn::Error::new(word.span(), detail));
    }
    let list;
    parenthesized!(list in input);
    let upcasts = list.parse_terminated(Upcast::parse, Token![,]);
    list.parse::<TokenStream>()?;
    Ok(upcasts?.into_iter().collect())
}

fn version(word: &Ident, input: ParseStream) -> Result<Version> {
    equals(word, input, "2")?;
    input.parse()
}

fn equals(word: &Ident, input: ParseStream, example: &str) -> Result<()> {
    if input.parse::<Option<Token![=]>>()?.is_some() {
        return Ok(());
    }
    let detail = format!("`{word}` takes a value: `{word} = {example}`");
    Err(syn::Error::new(word.span(), detail))
}

fn value<T: Parse>(word: &Ident, input: ParseStream, example: &str) -> Result<T> {
    equals(word, input, example)?;
    let wrong = expected(word, input, example);
    input.parse().map_err(|_| wrong)
}

fn expected(word: &Ident, input: ParseStream, example: &str) -> syn::Error {
    let span = if input.is_empty() {
        word.span()
    } else {
        input.span()
    };
    syn::Error::new(span, format!("expected `{word} = {example}`"))
}
