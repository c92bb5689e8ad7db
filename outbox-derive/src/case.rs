/// The words of a Rust name in lower case, separated by `_`.
///
/// A word begins at an upper-case letter after a lower-case letter or a digit, and at the last
/// letter of a run of upper-case ones that a lower-case one follows. Topics are made with this, so
/// a change here would rename the topics of every user.
pub(crate) fn snake(name: &str) -> String {
    let name: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, &c) in name.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| name[before]);
        let after = name.get(index + 1);
        let begins = match before {
            _ if c == '_' => false,
            None => false,
            Some('_') => true,
            Some(before) if before.is_uppercase() => {
                c.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            }
            Some(_) => c.is_uppercase(),
        };
        if begins && !snake.is_empty() {
            snake.push('_');
        }
        if c != '_' {
            snake.extend(c.to_lowercase());
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn the_documented_table() {
        for (name, expected) in [
            ("Placed", "placed"),
            ("MakerRebate", "maker_rebate"),
            ("ABC", "abc"),
            ("HTTPRequest", "http_request"),
            ("OAuth2Token", "o_auth2_token"),
            ("V2", "v2"),
            ("V2Order", "v2_order"),
            ("A1B2", "a1_b2"),
            ("Order_Placed", "order_placed"),
            ("Type", "type"),
            ("ÄnderungÖffnen", "änderung_öffnen"),
            ("_1", "1"),
            ("A__b", "a_b"),
        ] {
            assert_eq!(snake(name), expected, "{name}");
        }
    }
}
