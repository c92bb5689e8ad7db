use std::fmt::{Display, Write};

/// Joins the parts of an aggregate's key so that different parts never give the same text.
///
/// One part stands as it is. Several are separated by `:`, and a `:` or `\` inside a part is
/// escaped with `\`: `("a:b", "c")` gives `a\:b:c`, `("a", "b:c")` gives `a:b\:c`.
#[must_use]
pub fn join(parts: &[&dyn Display]) -> String {
    if let [only] = parts {
        return only.to_string();
    }
    let mut key = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            key.push(':');
        }
        // Writing to a String cannot fail; what a broken Display leaves out, the key lacks.
        let _ = write!(Escaped(&mut key), "{part}");
    }
    key
}

/// What can be a part of an aggregate's key: everything that is `Display`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of an aggregate",
    label = "a key needs `Display`",
    note = "an event that belongs to no aggregate is `#[outbox(unordered)]` and needs no key"
)]
pub trait KeyPart: Display {}

#[diagnostic::do_not_recommend]
impl<T: Display + ?Sized> KeyPart for T {}

/// A part for [`join`]; the derive writes this call, so that a wrong type is named as a key.
pub fn part<T: KeyPart>(part: &T) -> &dyn Display {
    part
}

struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            if matches!(c, ':' | '\\') {
                self.0.push('\\');
            }
            self.0.push(c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::join;
    use proptest::prelude::*;

    #[test]
    fn one_part_stands_as_it_is() {
        assert_eq!(join(&[&"a:b\\"]), "a:b\\");
    }

    #[test]
    fn parts_cannot_be_shifted() {
        assert_eq!(join(&[&"x:y", &"z"]), "x\\:y:z");
        assert_eq!(join(&[&"x", &"y:z"]), "x:y\\:z");
        assert_ne!(join(&[&"a", &"bc"]), join(&[&"ab", &"c"]));
    }

    proptest! {
        #[test]
        fn different_parts_give_different_keys(a in ["[:a\\\\]{0,4}", "[:a\\\\]{0,4}"], b in ["[:a\\\\]{0,4}", "[:a\\\\]{0,4}"]) {
            let same = a == b;
            prop_assert_eq!(same, join(&[&a[0], &a[1]]) == join(&[&b[0], &b[1]]));
        }
    }
}
