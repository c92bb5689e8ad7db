/// `: did you mean …?` where a known word is near, else the list of them.
pub(crate) fn among<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = known
        .iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3))
        .min();
    match near {
        Some((_, candidate)) => format!(", did you mean `{candidate}`?"),
        None if known.is_empty() => String::new(),
        None => format!(", there is `{}`", known.join("`, `")),
    }
}

/// How many letters must be changed, added or removed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{among, distance};

    #[test]
    fn the_nearest_word_is_suggested() {
        assert_eq!(distance("topik", "topic"), 1);
        assert_eq!(distance("unorderd", "unordered"), 1);
        assert_eq!(among("topik", ["key", "topic"]), ", did you mean `topic`?");
        assert_eq!(
            among("banana", ["key", "topic"]),
            ", there is `key`, `topic`"
        );
    }
}
