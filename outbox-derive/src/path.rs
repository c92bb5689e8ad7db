use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Ident, Index, LitFloat, LitInt, LitStr, Member, Result, Token,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    token::Paren,
};

/// Where a key stands: `order_id`, `customer.id`, `0.order_id`, `order_id()`.
pub(crate) struct KeyPath {
    /// Never empty.
    pub(crate) steps: Vec<Step>,
}

pub(crate) enum Step {
    Field(Member),
    /// A method without arguments.
    Call(Ident),
}

impl KeyPath {
    /// The path that stands in a string: `"customer.id"`. Its mistakes point at the string.
    pub(crate) fn from_literal(text: &LitStr) -> Result<Self> {
        text.parse().map_err(|_| {
            syn::Error::new(
                text.span(),
                "a key is a path to a field such as `order_id` or `customer.id`; \
                 write `key_const = \"…\"` for a key that is always the same",
            )
        })
    }

    pub(crate) fn span(&self) -> Span {
        self.steps.first().map_or_else(Span::call_site, Step::span)
    }
}

impl Parse for KeyPath {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut steps = Vec::new();
        loop {
            if input.peek(LitFloat) {
                // The compiler reads the `0.1` of a path as one number.
                let float: LitFloat = input.parse()?;
                for digits in float.to_string().split('.') {
                    steps.push(index(digits, float.span())?);
                }
            } else if input.peek(LitInt) {
                let number: LitInt = input.parse()?;
                steps.push(index(&number.to_string(), number.span())?);
            } else {
                let name = Ident::parse_any(input).map_err(|error| {
                    syn::Error::new(
                        error.span(),
                        "expected a path to a field, such as `order_id` or `customer.id`",
                    )
                })?;
                if input.peek(Paren) {
                    let arguments;
                    parenthesized!(arguments in input);
                    if !arguments.is_empty() {
                        let error = arguments.error("the method of a key takes no arguments");
                        // What is left unread would be reported as well.
                        arguments.parse::<TokenStream>()?;
                        return Err(error);
                    }
                    steps.push(Step::Call(name));
                } else {
                    steps.push(Step::Field(Member::Named(name)));
                }
            }
            if input.parse::<Option<Token![.]>>()?.is_none() {
                return Ok(Self { steps });
            }
        }
    }
}

fn index(digits: &str, span: Span) -> Result<Step> {
    let index = digits
        .parse()
        .map_err(|_| syn::Error::new(span, "expected the number of a field"))?;
    Ok(Step::Field(Member::Unnamed(Index { index, span })))
}

impl Step {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Field(Member::Named(name)) | Self::Call(name) => name.span(),
            Self::Field(Member::Unnamed(index)) => index.span,
        }
    }
}

impl ToTokens for Step {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Field(member) => quote!(.#member),
            Self::Call(method) => quote!(.#method()),
        });
    }
}
