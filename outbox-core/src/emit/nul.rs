//! U+0000 in a payload: PostgreSQL's JSON cannot hold it.

use serde_json::Value;

/// Where JSON text has a string or a name with U+0000, as in `lines[1].note`; `None` where it has none.
pub(super) fn find(json: &str) -> Option<String> {
    if !has_escaped(json) {
        return None;
    }
    // It is parsed for the message of an error only.
    let payload = serde_json::from_str(json).unwrap_or(Value::Null);
    Some(path(&payload).map_or_else(String::new, |path| path.trim_start_matches('.').to_owned()))
}

/// serde_json always writes it as `\u0000`. A backslash that is itself escaped does not count: the text
/// `\\u0000` is harmless.
fn has_escaped(json: &str) -> bool {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(found) = json[at..].find("\\u0000") {
        let start = at + found;
        let backslashes = bytes[..start]
            .iter()
            .rev()
            .take_while(|b| **b == b'\\')
            .count();
        if backslashes % 2 == 0 {
            return true;
        }
        at = start + 1;
    }
    false
}

fn path(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then(String::new),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| Some(format!("[{index}]{}", path(item)?))),
        Value::Object(fields) => fields.iter().find_map(|(name, item)| {
            if name.contains('\0') {
                return Some(format!("[{name:?}]"));
            }
            Some(format!(".{name}{}", path(item)?))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_nul_is_found_where_it_is() {
        for (json, expected) in [
            (r#"{"a":1,"b":"x\u0000"}"#, Some("b")),
            (r#"{"a":[{},{"b":"\\\u0000"}]}"#, Some("a[1].b")),
            (r#"{"a":{"b\u0000c":1}}"#, Some(r#"a["b\0c"]"#)),
            (r#"["","\u0000"]"#, Some("[1]")),
            (r#""\u0000""#, Some("")),
            (r#"{"a":"\\u0000 \\\\u0000"}"#, None),
        ] {
            assert_eq!(find(json).as_deref(), expected, "{json}");
        }
    }
}
