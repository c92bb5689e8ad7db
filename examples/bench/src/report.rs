//! The results: a JSON line each, and a table at the end.

use serde_json::{Map, Value, json};
use std::fmt::Write;

/// What is measured, apart from whose it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct What {
    pub(crate) case: &'static str,
    /// For people, within the case.
    pub(crate) name: String,
    pub(crate) settings: Map<String, Value>,
    pub(crate) unit: &'static str,
}

impl What {
    pub(crate) fn new(case: &'static str, unit: &'static str, name: impl Into<String>) -> Self {
        Self {
            case,
            name: name.into(),
            settings: Map::new(),
            unit,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.settings.insert(name.to_owned(), value.into());
        self
    }
}

pub(crate) struct Report {
    database: String,
    lines: Vec<Line>,
}

/// A line of the table.
struct Line {
    what: What,
    product: Vec<f64>,
    /// By name, with a value for each of the product's.
    references: Vec<(String, Vec<f64>)>,
}

impl Report {
    pub(crate) fn new(database: &str) -> Self {
        Self {
            database: database.to_owned(),
            lines: Vec::new(),
        }
    }

    /// A result of the product.
    pub(crate) fn product(&mut self, what: &What, value: f64) {
        self.print("outbox-seaorm", what, None, value);
        self.line(what).product.push(value);
    }

    /// A result of plain SQL.
    pub(crate) fn reference(&mut self, what: &What, name: &str, value: f64) {
        self.print("reference", what, Some(name), value);
        self.against(what, name, value);
    }

    /// What the product is compared with, where that was measured for another line.
    pub(crate) fn against(&mut self, what: &What, name: &str, value: f64) {
        let references = &mut self.line(what).references;
        match references.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => references.push((name.to_owned(), vec![value])),
        }
    }

    fn print(&self, subject: &str, what: &What, reference: Option<&str>, value: f64) {
        let mut settings = what.settings.clone();
        settings.insert("database".to_owned(), self.database.clone().into());
        if let Some(reference) = reference {
            settings.insert("reference".to_owned(), reference.into());
        }
        let line = json!({
            "subject": subject,
            "case": what.case,
            "settings": settings,
            "value": (value * 1000.0).round() / 1000.0,
            "unit": what.unit,
        });
        println!("{line}");
    }

    fn line(&mut self, what: &What) -> &mut Line {
        let at = self.lines.iter().position(|line| line.what == *what);
        let at = at.unwrap_or_else(|| {
            self.lines.push(Line {
                what: what.clone(),
                product: Vec::new(),
                references: Vec::new(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[at]
    }

    /// All lines, with the ratios of what was measured in the same turn.
    pub(crate) fn table(&self) -> String {
        let mut rows =
            vec![["case", "what", "outbox-seaorm", "reference", "", "ratio"].map(String::from)];
        for Line {
            what,
            product,
            references,
        } in &self.lines
        {
            let mut of_line = [
                what.case.to_owned(),
                what.name.clone(),
                format!("{} {}", spread(product), what.unit),
            ];
            if references.is_empty() {
                let [case, name, value] = of_line;
                rows.push([case, name, value, "-".into(), "-".into(), "-".into()]);
                continue;
            }
            for (name, values) in references {
                let ratios: Vec<_> = product.iter().zip(values).map(|(a, b)| a / b).collect();
                let [case, what, value] = of_line;
                rows.push([
                    case,
                    what,
                    value,
                    name.clone(),
                    spread(values),
                    spread(&ratios),
                ]);
                of_line = Default::default();
            }
        }
        let widths = std::array::from_fn(|column| {
            rows.iter()
                .map(|row: &[String; 6]| row[column].chars().count())
                .max()
                .unwrap_or(0)
        });
        let mut text = format!("\n{}: median (lowest–highest)\n", self.database);
        for (number, row) in rows.iter().enumerate() {
            write_row(&mut text, row, widths);
            if number == 0 {
                write_row(&mut text, &widths.map(|width| "-".repeat(width)), widths);
            }
        }
        text
    }
}

fn write_row(text: &mut String, row: &[String; 6], widths: [usize; 6]) {
    for (cell, width) in row.iter().zip(widths) {
        let _ = write!(text, "| {cell:width$} ");
    }
    text.push_str("|\n");
}

/// The median, lowest and highest of several values.
fn spread(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(lowest), Some(highest)) = (sorted.first(), sorted.last()) else {
        return "-".to_owned();
    };
    let middle = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    };
    format!("{} ({}–{})", short(median), short(*lowest), short(*highest))
}

/// With three digits that matter, and no exponent.
fn short(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => {
            let digits = format!("{value:.0}");
            let mut text = String::new();
            for (at, digit) in digits.chars().enumerate() {
                if at > 0 && (digits.len() - at) % 3 == 0 {
                    text.push(',');
                }
                text.push(digit);
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, What};

    #[test]
    fn ratios_are_those_of_the_same_turn() {
        let mut report = Report::new("none");
        let what = What::new("drain", "1/s", "ordered");
        for (product, reference) in [(50.0, 100.0), (300.0, 200.0), (1_000_000.0, 4_000_000.0)] {
            report.product(&what, product);
            report.reference(&what, "loop", reference);
        }
        let table = report.table();
        assert!(table.contains("300 (50.0–1,000,000) 1/s"), "{table}");
        assert!(table.contains("0.50 (0.25–1.50)"), "{table}");
    }
}
