//! The outbox tables as migrations.
