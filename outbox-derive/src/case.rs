use crate::suggest;
use syn::{Error, LitStr, Result};

/// How the last part of a default topic is written.
#[derive(Clone, Copy, Default)]
pub(crate) enum Case {
    #[default]
    Snake,
    ScreamingSnake,
    Kebab,
    Camel,
    Pascal,
}

/// Named as serde names them.
const CASES: [(&str, Case); 5] = [
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("camelCase", Case::Camel),
    ("PascalCase", Case::Pascal),
];

impl Case {
    pub(crate) fn parse(name: &LitStr) -> Result<Self> {
        let value = name.value();
        let known = CASES.iter().find(|(known, _)| *known == value);
        known.map(|(_, case)| *case).ok_or_else(|| {
            let near = suggest::among(&value, CASES.iter().map(|(known, _)| *known));
            Error::new(
                name.span(),
                format!("{value:?} is no case of a topic{near}"),
            )
        })
    }

    pub(crate) fn apply(self, name: &str) -> String {
        let snake = snake(name);
        let pascal = || snake.split('_').map(capital);
        match self {
            Self::Snake => snake,
            Self::ScreamingSnake => snake.to_uppercase(),
            Self::Kebab => snake.replace('_', "-"),
            Self::Camel => {
                let first = snake.split('_').next().unwrap_or_default().to_owned();
                first + &pascal().skip(1).collect::<String>()
            }
            Self::Pascal => pascal().collect(),
        }
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

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
    use super::{CASES, snake};

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

    #[test]
    fn each_case_joins_the_same_words() {
        let cases = |name| CASES.map(|(_, case)| case.apply(name));
        assert_eq!(
            cases("HTTPRequest"),
            [
                "http_request",
                "HTTP_REQUEST",
                "http-request",
                "httpRequest",
                "HttpRequest"
            ]
        );
        assert_eq!(cases("V2"), ["v2", "V2", "v2", "v2", "V2"]);
    }
}
