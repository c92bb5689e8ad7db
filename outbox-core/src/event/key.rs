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
