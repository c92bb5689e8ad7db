use crate::{
    attr::{self, KeySource},
    errors::Errors,
    path::{KeyPath, Step},
    suggest,
};
use proc_macro2::Span;
use syn::{
    Error, Field, Fields, Ident, Index, LitStr, Member, Result, ext::IdentExt, spanned::Spanned,
};

/// The key of one topic, its paths resolved against the fields.
pub(crate) enum Key<'a> {
    Constant(LitStr),
    Parts(Vec<Part<'a>>),
}

/// One part of a key: a field, and the way on from there.
pub(crate) struct Part<'a> {
    /// `None` where a method of the struct itself is called.
    pub(crate) field: Option<(Member, &'a Field)>,
    pub(crate) steps: Vec<Step>,
    /// Where a part that is not `Display` is reported.
    pub(crate) span: Span,
}

/// Where a key is looked for: the fields of a variant or a struct.
pub(crate) struct Place<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) fields: &'a Fields,
    pub(crate) is_struct: bool,
}

impl<'a> Place<'a> {
    pub(crate) fn key(
        &self,
        marked: Vec<(Ident, usize, &'a Field)>,
        attr: Option<attr::Key>,
        errors: &mut Errors,
    ) -> Option<Key<'a>> {
        let Some(attr) = attr else {
            let parts: Vec<_> = marked
                .into_iter()
                .map(|(_, index, field)| Part {
                    field: Some((member(index, field), field)),
                    steps: Vec::new(),
                    span: field.ty.span(),
                })
                .collect();
            return (!parts.is_empty()).then_some(Key::Parts(parts));
        };
        for (word, ..) in marked {
            errors.push(Error::new(
                word.span(),
                format!("the key is given already, by `{}` above", attr.word),
            ));
        }
        match attr.source {
            KeySource::Constant(text) => errors.take(constant(text)),
            KeySource::Paths(paths) => {
                let parts: Vec<_> = paths
                    .into_iter()
                    .map(|path| errors.take(self.part(path)))
                    .collect();
                parts.into_iter().collect::<Option<_>>().map(Key::Parts)
            }
        }
    }

    fn part(&self, path: KeyPath) -> Result<Part<'a>> {
        let start = path.span();
        let span = path.steps.last().map_or(start, Step::span);
        let mut steps = path.steps;
        let first = match steps.first() {
            Some(Step::Field(first)) => Some(first),
            Some(Step::Call(_)) | None => None,
        };
        let newtype = match self.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Some(&fields.unnamed[0]),
            _ => None,
        };
        let field = match (first, newtype) {
            (Some(Member::Named(_)) | None, Some(inner)) => {
                // The path begins inside the newtype.
                Some((
                    Member::Unnamed(Index {
                        index: 0,
                        span: start,
                    }),
                    inner,
                ))
            }
            (None, None) if self.is_struct => None,
            (None, None) => {
                let detail = "a key that is a method's result needs a newtype variant; \
                              name a field here";
                return Err(Error::new(start, detail));
            }
            (Some(first), _) => {
                let field = self.field(first)?;
                steps.remove(0);
                Some(field)
            }
        };
        Ok(Part { field, steps, span })
    }

    fn field(&self, member: &Member) -> Result<(Member, &'a Field)> {
        let found =
            self.fields
                .iter()
                .enumerate()
                .find(|(index, field)| match (member, &field.ident) {
                    (Member::Named(name), Some(ident)) => name.unraw() == ident.unraw(),
                    (Member::Unnamed(number), None) => number.index as usize == *index,
                    _ => false,
                });
        if let Some((index, field)) = found {
            return Ok((self::member(index, field), field));
        }
        let place = self.ident;
        let detail = match (member, self.fields) {
            (_, Fields::Unit) => format!(
                "`{place}` has no fields: write `key_const = \"…\"` for a key that is always the same"
            ),
            (Member::Named(name), Fields::Unnamed(_)) => format!(
                "`{place}` has numbered fields: begin with a number, as in `key = 0.{}`",
                name.unraw()
            ),
            (Member::Named(name), Fields::Named(fields)) => {
                let known: Vec<String> = fields
                    .named
                    .iter()
                    .filter_map(|field| Some(field.ident.as_ref()?.unraw().to_string()))
                    .collect();
                let name = name.unraw().to_string();
                let near = suggest::among(&name, known.iter().map(String::as_str));
                format!("`{place}` has no field `{name}`{near}")
            }
            (Member::Unnamed(number), fields) => {
                format!(
                    "`{place}` has no field {}, it has {} fields",
                    number.index,
                    fields.len()
                )
            }
        };
        Err(Error::new(member.span(), detail))
    }
}

fn member(index: usize, field: &Field) -> Member {
    match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            span: field.ty.span(),
        }),
    }
}

fn constant(text: LitStr) -> Result<Key<'static>> {
    /// `Limits::KEY_BYTES` of outbox-core.
    const LONGEST: usize = 500;
    let value = text.value();
    if value.is_empty() || value.len() > LONGEST || value.contains('\0') {
        let detail = "a key has 1 to 500 bytes and no NUL";
        return Err(Error::new(text.span(), detail));
    }
    Ok(Key::Constant(text))
}
