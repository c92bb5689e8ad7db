//! The transactional outbox for SeaORM.
