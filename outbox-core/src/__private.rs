pub use crate::event::{
    Contract, DecodeError, KeyPart, OutboxEvent, Shape, Topic, TopicSpec, decode_content,
    decode_event, join_key, key_part,
};
pub use serde::{Serialize, de::DeserializeOwned};
pub use std::{option::Option, primitive::usize, string::String};
