use std::fmt::Debug;

/// Checks that an event was emitted; it may be part of a transaction that has not committed. Awaits
/// by itself, and gives the event that was [`Found`](crate::testing::Found).
///
/// ```
/// use outbox_core::{MemoryStore, OutboxEvent, headers, testing::{assert_emitted, refute_emitted}};
/// # use outbox_core::Draft;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, OutboxEvent)]
/// #[outbox(aggregate = "order", crate = outbox_core)]
/// enum OrderEvent {
///     Placed { #[outbox(key)] order_id: u32, cents: u64 },
///     Cancelled { #[outbox(key)] order_id: u32 },
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new();
/// # store.emit(Draft::new(&OrderEvent::Placed { order_id: 7, cents: 900 }).header("tenant_id", "acme"))?;
/// // … place order 7 …
/// let placed = assert_emitted!(&store, OrderEvent::Placed { cents, .. } if *cents > 500);
/// assert_eq!(placed.emitted.envelope.key.as_deref(), Some("7"));
/// // with a header:
/// assert_emitted!(&store, OrderEvent::Placed { .. }, headers::TENANT_ID => "acme");
/// // all of them in their order; `..` stands for any number of others:
/// assert_emitted!(&store, [OrderEvent::Placed { order_id: 7, .. }]);
/// assert_emitted!(&store, [.., OrderEvent::Placed { .. }, ..]);
/// refute_emitted!(&store, OrderEvent::Cancelled { .. });
/// # Ok::<(), outbox_core::InvalidEvent>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// When there is no such event, with a list of those that there are.
#[macro_export]
macro_rules! assert_emitted {
    ($on:expr, $($expected:tt)+) => {{
        use $crate::testing::TestStore as _;
        $crate::__assert_emitted!(@find ($on.emitted().await) $($expected)+)
    }};
}

/// Checks that an event was not emitted, or nothing at all: the opposite of
/// [`assert_emitted!`](crate::testing::assert_emitted).
///
/// # Panics
/// When there is such an event.
#[macro_export]
macro_rules! refute_emitted {
    ($on:expr $(, $($expected:tt)*)?) => {{
        use $crate::testing::TestStore as _;
        $crate::__assert_emitted!(@refute ($on.emitted().await) $($($expected)*)?)
    }};
}

/// What both do with the events that there are.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_emitted {
    (@find ($emitted:expr) [$($steps:tt)*] $(,)?) => {{
        let emitted = $crate::testing::check($emitted);
        $crate::testing::check(emitted.are(&$crate::__assert_emitted!(@steps [] $($steps)*)))
    }};
    (@find ($emitted:expr) $($expected:tt)+) => {{
        let emitted = $crate::testing::check($emitted);
        $crate::testing::check(emitted.find(&$crate::__assert_emitted!(@one $($expected)+)))
    }};
    (@refute ($emitted:expr)) => {{
        let emitted = $crate::testing::check($emitted);
        $crate::testing::check(emitted.is_nothing())
    }};
    (@refute ($emitted:expr) $($expected:tt)+) => {{
        let emitted = $crate::testing::check($emitted);
        $crate::testing::check(emitted.find_none(&$crate::__assert_emitted!(@one $($expected)+)))
    }};

    (@one $pattern:pat $(if $guard:expr)? $(, $name:expr => $value:expr)* $(,)?) => {
        $crate::testing::Expected::new(
            ::core::stringify!($pattern $(if $guard)?),
            |event| match event {
                $pattern $(if $guard)? => true,
                #[allow(unreachable_patterns)]
                _ => false,
            },
        )
        $(.header($name, $value))*
    };

    (@steps [$($done:expr,)*]) => { [$($done,)*] };
    (@steps [$($done:expr,)*] .. $(, $($rest:tt)*)?) => {
        $crate::__assert_emitted!(@steps [$($done,)* $crate::testing::Step::others(),] $($($rest)*)?)
    };
    (@steps [$($done:expr,)*] $pattern:pat $(if $guard:expr)? $(, $($rest:tt)*)?) => {
        $crate::__assert_emitted!(@steps [
            $($done,)*
            $crate::testing::Step::from($crate::__assert_emitted!(@one $pattern $(if $guard)?)),
        ] $($($rest)*)?)
    };
}

/// What was checked, or the end of the test.
///
/// # Panics
/// When it is not as it should be.
#[doc(hidden)]
#[track_caller]
pub fn check<T, E: Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        #[expect(clippy::panic, reason = "an assertion that fails")]
        Err(problem) => panic!("{problem:?}"),
    }
}
