use super::shape::{Document, List, Object, Rest, Shape, Text};

/// Whether every value of `narrow` is one of `wide`.
pub(super) fn fits(narrow: (&Document, &Shape), wide: (&Document, &Shape)) -> bool {
    let mut fit = Fit {
        narrow: narrow.0,
        wide: wide.0,
        assumed: Vec::new(),
    };
    fit.shapes(narrow.1, wide.1)
}

struct Fit<'a> {
    narrow: &'a Document,
    wide: &'a Document,
    /// Pairs of definitions that are being looked at: a type may contain itself.
    assumed: Vec<(&'a str, &'a str)>,
}

impl<'a> Fit<'a> {
    fn shapes(&mut self, narrow: &'a Shape, wide: &'a Shape) -> bool {
        let (Shape::Definition(one), Shape::Definition(other)) = (narrow, wide) else {
            return self.resolved(self.narrow.resolve(narrow), self.wide.resolve(wide));
        };
        if self.assumed.contains(&(one, other)) {
            return true;
        }
        self.assumed.push((one, other));
        let fits = self.resolved(self.narrow.resolve(narrow), self.wide.resolve(wide));
        self.assumed.pop();
        fits
    }

    fn resolved(&mut self, narrow: &'a Shape, wide: &'a Shape) -> bool {
        match (narrow, wide) {
            (_, Shape::Any) => true,
            (Shape::Either(several), wide) => several.iter().all(|one| self.shapes(one, wide)),
            (narrow, Shape::Either(several)) => several.iter().any(|one| self.shapes(narrow, one)),
            (narrow, Shape::All(parts)) => parts.iter().all(|part| self.shapes(narrow, part)),
            (Shape::All(parts), wide) => parts.iter().any(|part| self.shapes(part, wide)),
            (
                Shape::Integer { least, most },
                Shape::Integer {
                    least: low,
                    most: high,
                },
            ) => low <= least && most <= high,
            (Shape::Integer { .. }, Shape::Number { .. }) => true,
            (Shape::Number { single }, Shape::Number { single: wanted }) => *single || !wanted,
            (Shape::Values(narrow), Shape::Values(wide)) => narrow.is_subset(wide),
            (Shape::Values(_), Shape::Text(wide)) => *wide == Text::default(),
            (Shape::Text(narrow), Shape::Text(wide)) => texts(narrow, wide),
            (Shape::List(narrow), Shape::List(wide)) => {
                lengths(narrow, wide)
                    && (narrow.unique || !wide.unique)
                    && self.shapes(&narrow.items, &wide.items)
            }
            (Shape::Tuple(narrow), Shape::Tuple(wide)) => {
                let mut both = narrow.iter().zip(wide);
                narrow.len() == wide.len() && both.all(|(narrow, wide)| self.shapes(narrow, wide))
            }
            (Shape::Tuple(items), Shape::List(list)) => {
                let len = u64::try_from(items.len()).unwrap_or(u64::MAX);
                let long = list.shortest <= len && list.longest.is_none_or(|most| len <= most);
                long && !list.unique && items.iter().all(|item| self.shapes(item, &list.items))
            }
            (Shape::Object(narrow), Shape::Object(wide)) => self.objects(narrow, wide),
            (narrow, wide) => narrow == wide,
        }
    }

    fn objects(&mut self, narrow: &'a Object, wide: &'a Object) -> bool {
        let named = wide.fields.iter().all(|(name, wanted)| {
            match (narrow.fields.get(name), &narrow.rest) {
                (Some(field), _) => {
                    (field.required || !wanted.required) && self.shapes(&field.shape, &wanted.shape)
                }
                (None, Rest::Map(_, shape)) => {
                    !wanted.required && self.shapes(shape, &wanted.shape)
                }
                (None, Rest::Ignored | Rest::Refused) => !wanted.required,
            }
        });
        let more = narrow.fields.iter().all(|(name, field)| {
            wide.fields.contains_key(name)
                || match &wide.rest {
                    Rest::Ignored => true,
                    Rest::Map(None, shape) => self.shapes(&field.shape, shape),
                    Rest::Map(Some(_), _) | Rest::Refused => false,
                }
        });
        let rest = match (&narrow.rest, &wide.rest) {
            // What is written has the fields that are named, and no others.
            (Rest::Ignored | Rest::Refused, _) | (_, Rest::Ignored) => true,
            (Rest::Map(..), Rest::Refused) => false,
            (Rest::Map(keys, shape), Rest::Map(wanted, wide)) => {
                (wanted.is_none() || keys == wanted) && self.shapes(shape, wide)
            }
        };
        named && more && rest
    }
}

fn texts(narrow: &Text, wide: &Text) -> bool {
    (wide.format.is_none() || wide.format == narrow.format)
        && (wide.pattern.is_none() || wide.pattern == narrow.pattern)
        && wide.shortest <= narrow.shortest
        && wide
            .longest
            .is_none_or(|most| narrow.longest.is_some_and(|longest| longest <= most))
}

fn lengths(narrow: &List, wide: &List) -> bool {
    wide.shortest <= narrow.shortest
        && wide
            .longest
            .is_none_or(|most| narrow.longest.is_some_and(|longest| longest <= most))
}
