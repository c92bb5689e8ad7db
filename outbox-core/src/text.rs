//! Texts as a database can keep them.

/// At most so many bytes of a text, cut at a character boundary, and without the NUL that
/// PostgreSQL cannot keep.
pub(crate) fn storable(text: &str, bytes: usize) -> String {
    let text = text.replace('\0', "\u{fffd}");
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::storable;

    #[test]
    fn stored_texts_are_cut_at_a_character() {
        let long = "é".repeat(5_000);
        let stored = storable(&long, 2_000);
        assert_eq!(stored.len(), 2_000);
        assert!(long.starts_with(&stored));
        assert_eq!(storable(&format!("x{long}"), 2_000).len(), 1_999);
        assert_eq!(storable("a\0b", 2_000), "a\u{fffd}b");
    }
}
