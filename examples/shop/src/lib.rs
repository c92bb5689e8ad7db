//! A web shop on axum and SeaORM that tells the outside world about its orders through the outbox.
//!
//! A library beside `main.rs`, so that the tests start the same application.

// In the order of an order: it is stored with its events, then their handlers do their work.
pub mod entities;
pub mod migrations;
pub mod database;
pub mod events;
pub mod error;
pub mod context;
pub mod orders;
pub mod gateway;
pub mod mailer;
pub mod handlers;
pub mod routes;
pub mod health;
pub mod stop;
pub mod app;
