use outbox_seaorm::Draft;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct NoEvent;

fn main() {
    let _ = Draft::new(&NoEvent);
}
