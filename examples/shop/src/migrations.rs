//! The shop's own migrations, with those of the outbox appended.

use crate::entities::item;
use sea_orm::{EntityTrait, Set};
use sea_orm_migration::{
    async_trait::async_trait,
    prelude::{DbErr, Index, MigrationName, MigrationTrait, MigratorTrait, SchemaManager, Table},
    schema::{big_integer, integer, string, text, uuid},
};

/// Brings the tables of the shop and of the outbox up to date.
#[derive(Debug)]
pub struct Migrator;

#[async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        let mut all: Vec<Box<dyn MigrationTrait>> = vec![Box::new(Initial)];
        all.extend(outbox_migrations::migrations());
        all
    }
}

struct Initial;

impl MigrationName for Initial {
    fn name(&self) -> &str {
        "m20261201_000001_shop"
    }
}

#[async_trait]
impl MigrationTrait for Initial {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let items = Table::create()
            .table("items")
            .col(string("sku").primary_key())
            .col(big_integer("price_cents"))
            .col(integer("in_stock"))
            .take();
        let orders = Table::create()
            .table("orders")
            .col(uuid("id").primary_key())
            .col(string("tenant"))
            .col(string("idempotency_key"))
            .col(text("mail"))
            .col(text("address"))
            .col(string("item"))
            .col(integer("quantity"))
            .col(big_integer("total_cents"))
            .col(string("status"))
            .index(
                Index::create()
                    .name("orders_once")
                    .col("tenant")
                    .col("idempotency_key")
                    .unique(),
            )
            .take();
        // What handlers did.
        let payments = Table::create()
            .table("payments")
            .col(uuid("order_id").primary_key())
            .col(big_integer("cents"))
            .col(string("receipt"))
            .take();
        let mails = Table::create()
            .table("mails")
            .col(uuid("order_id").primary_key())
            .col(text("recipient"))
            .take();
        let shipments = Table::create()
            .table("shipments")
            .col(uuid("order_id").primary_key())
            .col(text("address"))
            .take();
        for table in [items, orders, payments, mails, shipments] {
            manager.create_table(table).await?;
        }
        let goods = [("tea", 450, 1_000_000), ("teapot", 3_900, 3)];
        let rows = goods.map(|(sku, price_cents, in_stock)| item::ActiveModel {
            sku: Set(sku.to_owned()),
            price_cents: Set(price_cents),
            in_stock: Set(in_stock),
        });
        item::Entity::insert_many(rows)
            .exec_without_returning(manager.get_connection())
            .await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["items", "orders", "payments", "mails", "shipments"] {
            manager
                .drop_table(Table::drop().table(table).take())
                .await?;
        }
        Ok(())
    }

    /// Where the database can roll DDL back, a migration that was killed leaves nothing.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
