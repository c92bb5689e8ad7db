pub use crate::event::{
    Contract, DecodeError, KeyPart, Link, OutboxEvent, Shape, Step, Topic, TopicSpec,
    decode_content, decode_event, from_old, join_key, key_part,
};
pub use serde::{Serialize, de::DeserializeOwned};
pub use std::{
    convert::identity,
    option::Option,
    primitive::{str, u32, usize},
    result::Result,
    string::String,
};
