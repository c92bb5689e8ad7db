#![doc = include_str!("../docs/consumers.md")]
