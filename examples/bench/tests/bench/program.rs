use serde_json::Value;
use std::process::Command;

pub(crate) struct Output {
    pub(crate) success: bool,
    pub(crate) text: String,
    pub(crate) errors: String,
}

pub(crate) fn run<'a>(arguments: impl IntoIterator<Item = &'a str>, url: &str) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(arguments)
        .args(["--database-url", url])
        .output()
        .unwrap();
    Output {
        success: output.status.success(),
        text: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Output {
    /// The JSON lines.
    pub(crate) fn results(&self) -> Vec<Value> {
        let lines = self.text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}
