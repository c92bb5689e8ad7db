//! What can be measured.

mod fill;
mod emit;
mod emit_all;
mod drain;
mod latency;
mod backlog;
mod memory;

use crate::{
    args::{Args, Case},
    ground::Ground,
    report::Report,
};
use outbox_seaorm::BoxError;

pub(crate) async fn run_all(
    args: &Args,
    ground: &Ground,
    report: &mut Report,
) -> Result<(), BoxError> {
    for case in &args.cases {
        match case {
            Case::Emit => emit::run(args, ground, report).await?,
            Case::EmitAll => emit_all::run(args, ground, report).await?,
            Case::Drain => drain::run(args, ground, report).await?,
            Case::Latency => latency::run(args, ground, report).await?,
            Case::Backlog => backlog::run(args, ground, report).await?,
            Case::Memory => memory::run(args, ground, report).await?,
        }
    }
    Ok(())
}
