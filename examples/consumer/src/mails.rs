//! A call to the outside: it must not sit in a transaction, and cannot be rolled back.

use crate::{App, Event};
use axum::http::StatusCode;
use outbox_seaorm::{BoxError, inbox::Begun};
use serde_json::json;
use std::time::Duration;

/// Sends a mail when an order was shipped.
pub(crate) async fn receive(app: &App, event: &Event) -> Result<StatusCode, BoxError> {
    if event.status != "shipped" {
        return Ok(StatusCode::OK);
    }
    let claim = match app.mails.begin(&app.db, event.id).await? {
        Begun::Fresh(claim) => claim,
        Begun::Done => return Ok(StatusCode::OK),
        // The other copy is at it, or its process has died.
        Begun::InProgress => return Ok(StatusCode::SERVICE_UNAVAILABLE),
    };
    if claim.unknown() > 0 {
        // This consumer decides to send again, with the same key: the service knows it.
        eprintln!("event {}: whether the mail was sent is unknown", event.id);
    }
    if let Err(error) = send(app, event).await {
        // It answered, and not with a mail: whoever comes next need not wait.
        claim.release(&app.db).await?;
        return Err(error);
    }
    claim.complete(&app.db).await?;
    Ok(StatusCode::OK)
}

async fn send(app: &App, event: &Event) -> Result<(), BoxError> {
    let Some(url) = app.mail_url.clone() else {
        println!("mail: order {} is on its way", event.order_id);
        return Ok(());
    };
    let (key, mail) = (event.id, json!({ "order": event.order_id }));
    // The client blocks.
    let sent = tokio::task::spawn_blocking(move || {
        ureq::post(&*url)
            .header("idempotency-key", key.to_string())
            .config()
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .send_json(mail)
    });
    sent.await??;
    Ok(())
}
