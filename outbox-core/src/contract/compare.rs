use super::{
    change::{ChangeKind, Effect},
    fits::fits,
    shape::{Document, Object, Rest, Shape},
};
use std::collections::{BTreeMap, BTreeSet};

/// One change, and where.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) path: String,
    pub(super) kind: ChangeKind,
    pub(super) effect: Effect,
}

/// What has changed between what was written and what is, given what can be read.
pub(super) fn compare(old: &Document, new: &Document, read: &Document) -> Vec<Found> {
    let mut compare = Compare {
        documents: [old, new, read],
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    compare.shapes("", [old.root(), new.root(), read.root()]);
    compare.found
}

struct Compare<'a> {
    /// What was written, what is written, what is read.
    documents: [&'a Document; 3],
    /// Pairs of definitions that have been compared: a type may contain itself.
    seen: BTreeSet<(String, String)>,
    found: Vec<Found>,
}

/// The same place of each document.
type Place<'s> = [&'s Shape; 3];

impl<'a> Compare<'a> {
    fn shapes(&mut self, path: &str, place: Place<'_>) {
        if let [Shape::Definition(old), Shape::Definition(new), _] = place
            && !self.seen.insert((old.clone(), new.clone()))
        {
            return;
        }
        let documents = self.documents;
        let place = [0, 1, 2].map(|index| documents[index].resolve(place[index]));
        let [old, new, read] = place.map(Shape::without_null);
        if [old.0, new.0] == [false, false] {
            return self.not_null(path, place);
        }
        if !old.0 {
            self.push(path, ChangeKind::Nullable, true, false);
        } else if !new.0 {
            self.push(path, ChangeKind::NeverNull, false, !read.0);
        }
        self.shapes(path, [&old.1, &new.1, &read.1]);
    }

    fn not_null(&mut self, path: &str, place: Place<'_>) {
        let [old, new, read] = place;
        match (old, new) {
            (Shape::Object(old), Shape::Object(new)) => {
                let read = match read {
                    Shape::Object(read) => read,
                    _ => new,
                };
                self.objects(path, [old, new, read]);
            }
            (Shape::List(old_list), Shape::List(new_list))
                if (old_list.shortest, old_list.longest, old_list.unique)
                    == (new_list.shortest, new_list.longest, new_list.unique) =>
            {
                let read = match read {
                    Shape::List(read) => &read.items,
                    _ => &new_list.items,
                };
                self.shapes(
                    &format!("{path}[]"),
                    [&old_list.items, &new_list.items, read],
                );
            }
            (Shape::Tuple(old), Shape::Tuple(new)) if old.len() == new.len() => {
                self.in_order(|index| format!("{path}[{index}]"), [old, new], read);
            }
            (Shape::All(old), Shape::All(new)) if old.len() == new.len() => {
                self.in_order(|_| path.to_owned(), [old, new], read);
            }
            (Shape::Either(_) | Shape::Values(_), Shape::Either(_) | Shape::Values(_)) => {
                self.variants(path, place);
            }
            _ => self.leaf(path, place),
        }
    }

    fn in_order(
        &mut self,
        path: impl Fn(usize) -> String,
        [old, new]: [&[Shape]; 2],
        read: &Shape,
    ) {
        let read = match read {
            Shape::Tuple(read) | Shape::All(read) if read.len() == new.len() => read,
            _ => new,
        };
        for (index, ((old, new), read)) in old.iter().zip(new).zip(read).enumerate() {
            self.shapes(&path(index), [old, new, read]);
        }
    }

    fn objects(&mut self, path: &str, [old, new, read]: [&Object; 3]) {
        let names: BTreeSet<_> = old.fields.keys().chain(new.fields.keys()).collect();
        for name in names {
            let path = match path {
                "" => name.clone(),
                _ => format!("{path}.{name}"),
            };
            let is_read = read.fields.get(name);
            let required = is_read.is_some_and(|field| field.required);
            match (old.fields.get(name), new.fields.get(name)) {
                (Some(field), None) => {
                    let refused = is_read.is_none() && read.rest == Rest::Refused;
                    self.push(&path, ChangeKind::FieldRemoved, field.required, refused);
                }
                (None, Some(field)) => {
                    let unknown = match &old.rest {
                        Rest::Ignored => false,
                        Rest::Refused | Rest::Map(Some(_), _) => true,
                        Rest::Map(None, shape) => !self.reads(&field.shape, shape),
                    };
                    self.push(&path, ChangeKind::FieldAdded, unknown, required);
                }
                (Some(old), Some(new)) => {
                    if old.required && !new.required {
                        self.push(&path, ChangeKind::FieldOptional, true, false);
                    } else if new.required && !old.required {
                        self.push(&path, ChangeKind::FieldRequired, false, required);
                    }
                    let read = is_read.map_or(&new.shape, |field| &field.shape);
                    self.shapes(&path, [&old.shape, &new.shape, read]);
                }
                (None, None) => {}
            }
        }
        self.rest(path, [old, new, read]);
    }

    fn rest(&mut self, path: &str, [old, new, read]: [&Object; 3]) {
        match (&old.rest, &new.rest) {
            (Rest::Map(was, old), Rest::Map(is, new)) if was == is => {
                let read = match &read.rest {
                    Rest::Map(_, read) => read,
                    _ => new,
                };
                self.shapes(&format!("{path}{{}}"), [old, new, read]);
            }
            (was, is) if was == is => {}
            (Rest::Ignored, Rest::Refused) => {
                self.push(path, ChangeKind::Strictness { refused: true }, false, false);
            }
            (Rest::Refused, Rest::Ignored) => {
                let kind = ChangeKind::Strictness { refused: false };
                self.push(path, kind, false, false);
            }
            _ => {
                let [old, new, read] = [old, new, read].map(|object| Shape::Object(object.clone()));
                self.leaf(path, [&old, &new, &read]);
            }
        }
    }

    fn variants(&mut self, path: &str, place: Place<'_>) {
        let [old, new, read] = [0, 1, 2].map(|index| labelled(self.documents[index], place[index]));
        let (Some(old), Some(new)) = (old, new) else {
            return self.leaf(path, place);
        };
        let read = read.unwrap_or_default();
        for (label, (is_value, shape)) in &old {
            match new.get(label) {
                Some((true, _)) if *is_value => {}
                Some((_, now)) => {
                    let read = read.get(label).map_or(now, |(_, read)| read);
                    let path = match label.contains('=') {
                        true => format!("{path}({label})"),
                        false => path.to_owned(),
                    };
                    self.shapes(&path, [shape, now, read]);
                }
                None => {
                    let kind = match is_value {
                        true => ChangeKind::ValueRemoved(label.clone()),
                        false => ChangeKind::VariantRemoved(label.clone()),
                    };
                    let [old, _, read] = self.documents;
                    let breaks = !fits((old, shape), (read, place[2]));
                    self.push(path, kind, false, breaks);
                }
            }
        }
        for (label, (is_value, shape)) in new.iter().filter(|(label, _)| !old.contains_key(*label))
        {
            let kind = match is_value {
                true => ChangeKind::ValueAdded(label.clone()),
                false => ChangeKind::VariantAdded(label.clone()),
            };
            let breaks = !self.reads(shape, place[0]);
            self.push(path, kind, breaks, false);
        }
    }

    fn leaf(&mut self, path: &str, place: Place<'_>) {
        let [old, new, read] = self.documents;
        let [was, is, reads] = place;
        let wider = fits((old, was), (new, is));
        let narrower = fits((new, is), (old, was));
        let texts = (was.to_string(), is.to_string());
        let kind = match (wider, narrower, texts) {
            (true, true, _) => return,
            (true, false, (was, is)) => ChangeKind::Widened { was, is },
            (false, true, (was, is)) => ChangeKind::Narrowed { was, is },
            (false, false, (was, is)) => ChangeKind::Retyped { was, is },
        };
        let breaks_stored = !fits((old, was), (read, reads));
        self.push(path, kind, !narrower, breaks_stored);
    }

    /// Whether a consumer who knows `old` reads what is written as `new`.
    fn reads(&self, new: &Shape, old: &Shape) -> bool {
        fits((self.documents[1], new), (self.documents[0], old))
    }

    fn push(&mut self, path: &str, kind: ChangeKind, breaks_consumers: bool, breaks_stored: bool) {
        self.found.push(Found {
            path: path.to_owned(),
            kind,
            effect: Effect::new(breaks_consumers, breaks_stored),
        });
    }
}

/// Variants by what tells them apart, with whether they are texts; `None` if nothing does.
type Variants = BTreeMap<String, (bool, Shape)>;

fn labelled(document: &Document, shape: &Shape) -> Option<Variants> {
    let several = match shape {
        Shape::Either(several) => several.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut variants = Variants::new();
    for shape in several {
        if let Shape::Values(values) = document.resolve(shape) {
            for value in values {
                let one = Shape::Values(BTreeSet::from([value.clone()]));
                if variants.insert(value.clone(), (true, one)).is_some() {
                    return None;
                }
            }
        } else if variants
            .insert(label(document, shape), (false, shape.clone()))
            .is_some()
        {
            return None;
        }
    }
    Some(variants)
}

/// The tag of a variant, or what kind of value it is.
fn label(document: &Document, shape: &Shape) -> String {
    match document.resolve(shape) {
        Shape::Object(object) => {
            let tags: Vec<_> = object
                .fields
                .iter()
                .filter_map(|(name, field)| match &field.shape {
                    Shape::Values(values) if field.required && values.len() == 1 => {
                        Some(format!("{name}={}", values.first()?))
                    }
                    _ => None,
                })
                .collect();
            let mut names = object.fields.keys();
            match (&tags[..], names.next(), names.next()) {
                ([], Some(only), None) => only.clone(),
                ([], ..) => "object".to_owned(),
                _ => tags.join(","),
            }
        }
        Shape::All(parts) => parts
            .first()
            .map_or_else(String::new, |part| label(document, part)),
        Shape::Text(_) => "text".to_owned(),
        Shape::Integer { .. } => "integer".to_owned(),
        Shape::List(_) | Shape::Tuple(_) => "list".to_owned(),
        other => other.to_string(),
    }
}
