use crate::initial::Initial;
use outbox_seaorm::Outbox;
use sea_orm_migration::MigrationTrait;

/// The migrations of the default [`Outbox`], in their order.
#[must_use]
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    migrations_for(&Outbox::default())
}

/// The migrations of an [`Outbox`] with a prefix or schema of its own. Their names contain it, so
/// that one application can have several outboxes: small letters, digits and underscores as they are,
/// all else in hexadecimal.
#[must_use]
pub fn migrations_for(outbox: &Outbox) -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(Initial::new(outbox))]
}
