//! The types of the fields that are edited.

#![allow(dead_code, reason = "only their schemas are looked at")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use std::collections::BTreeMap as Map;

macro_rules! fields {
    ($($item:item)*) => {$(
        #[derive(Serialize, Deserialize, JsonSchema)]
        $item
    )*};
}

fields! {
    pub(crate) struct OrderId(u64);

    pub(crate) struct Line {
        quantity: u32,
    }

    pub(crate) struct LineWithPrice {
        quantity: u32,
        price: u64,
    }

    pub(crate) struct Tree {
        children: Vec<Tree>,
    }

    pub(crate) struct NamedTree {
        name: String,
        children: Vec<NamedTree>,
    }

    pub(crate) enum Colour {
        Red,
        Green,
    }

    pub(crate) enum MoreColours {
        /// A comment makes another schema of it.
        Red,
        Green,
        Blue,
    }

    pub(crate) enum ColourOrCode {
        Red,
        Green,
        Code(u32),
    }

    pub(crate) enum Payment {
        Card { last4: String },
        Invoice(u64),
    }

    pub(crate) enum MorePayments {
        Voucher(String),
        Card { last4: String },
        Invoice(u64),
    }

    pub(crate) enum CardWithLimit {
        Card { last4: String, limit: u64 },
        Invoice(u64),
    }

    #[serde(tag = "type")]
    pub(crate) enum Tagged {
        Card { last4: String },
        Invoice(Line),
    }

    #[serde(tag = "type")]
    pub(crate) enum MoreTagged {
        Card { last4: String },
        Cash,
        Invoice(Line),
    }

    #[serde(tag = "type")]
    pub(crate) enum TaggedWithLimit {
        Card { last4: String, limit: Option<u64> },
        Invoice(Line),
    }

    #[serde(untagged)]
    pub(crate) enum Untagged {
        Number(u64),
        Text(String),
    }

    #[serde(untagged)]
    pub(crate) enum MoreUntagged {
        Number(u64),
        Flag(bool),
        Text(String),
    }
}
