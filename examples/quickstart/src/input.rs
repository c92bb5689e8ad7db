//! Reads lines from a file or from standard input.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
    thread,
};
use tokio::sync::mpsc;

/// A line as it was read: bytes, since a broken line need not be text.
pub(crate) type Line = io::Result<Vec<u8>>;

const SHIPPED: &str = include_str!("../orders.jsonl");

/// The lines of this input, read on a thread of its own: nobody waits for a terminal that says
/// nothing, neither the runtime nor Ctrl-C.
pub(crate) fn lines(path: Option<&Path>) -> io::Result<mpsc::Receiver<Line>> {
    let reader: Box<dyn BufRead + Send> = match path {
        None => Box::new(SHIPPED.as_bytes()),
        Some(path) if path == Path::new("-") => Box::new(BufReader::new(io::stdin())),
        Some(path) => Box::new(BufReader::new(open(path)?)),
    };
    let (sender, receiver) = mpsc::channel(64);
    thread::spawn(move || {
        for line in reader.split(b'\n') {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
