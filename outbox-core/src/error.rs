/// Any error, boxed: what handlers and publishers may fail with.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
