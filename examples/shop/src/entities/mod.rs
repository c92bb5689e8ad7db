//! The shop's own tables: what it sells, the orders, and what each handler has done.

pub mod item;
pub mod order;
pub mod payment;
pub mod mail;
pub mod shipment;
