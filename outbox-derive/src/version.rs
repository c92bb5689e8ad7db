use proc_macro2::Span;
use syn::{
    Error, Lit, Path, Result, Token,
    parse::{Parse, ParseStream},
};

/// A number of a schema version, and where it is written.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    pub(crate) number: u32,
    pub(crate) span: Span,
}

/// `1 = from_v1`: how a payload of version 1 becomes one of version 2.
pub(crate) struct Upcast {
    pub(crate) from: Version,
    /// `None` for `1 = _`: it reads like the next version.
    pub(crate) function: Option<Path>,
}

impl Parse for Version {
    fn parse(input: ParseStream) -> Result<Self> {
        let detail = "a version is a whole number from 1 to 4294967295";
        let negative = input.parse::<Option<Token![-]>>()?;
        let literal: Lit = input
            .parse()
            .map_err(|error| Error::new(error.span(), detail))?;
        let number = match &literal {
            Lit::Int(number) if negative.is_none() => number.base10_parse().ok(),
            _ => None,
        };
        match number.filter(|number| *number > 0) {
            Some(number) => Ok(Self {
                number,
                span: literal.span(),
            }),
            None => {
                let span = negative.map_or(literal.span(), |minus| minus.span);
                Err(Error::new(span, detail))
            }
        }
    }
}

impl Parse for Upcast {
    fn parse(input: ParseStream) -> Result<Self> {
        let from = input.parse()?;
        if input.parse::<Option<Token![=]>>()?.is_none() {
            let detail = "an older version takes a function, or `_` where it reads like the next \
                          version: `upcast(1 = from_v1, 2 = _)`";
            return Err(input.error(detail));
        }
        let function = match input.parse::<Option<Token![_]>>()? {
            Some(_) => None,
            None => Some(input.parse().map_err(|error| {
                Error::new(error.span(), "expected the path of a function, or `_`")
            })?),
        };
        Ok(Self { from, function })
    }
}
