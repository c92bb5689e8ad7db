pub use crate::event::{
    Contract, DecodeError, OutboxEvent, Shape, Topic, TopicSpec, decode_event, join_key,
};
pub use std::{fmt::Display, option::Option, primitive::str, result::Result, string::String};
