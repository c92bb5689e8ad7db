//! The application's own tables: the orders, and what each handler has done.

pub(crate) mod charge;
pub(crate) mod mail;
pub(crate) mod order;
pub(crate) mod parcel;
