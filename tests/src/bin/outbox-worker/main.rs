//! A process for the fault tests to kill, stop and start: see [`outbox_tests::worker`].

use std::error::Error;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    outbox_tests::worker::run(std::env::args().skip(1)).await
}
