use syn::parse_quote;

/// What a user's build has to compile; a change of it should be seen in review.
#[test]
fn the_code_written_for_an_enum() {
    let tokens = crate::derive(&parse_quote! {
        #[outbox(aggregate = "order")]
        pub enum OrderEvent<T> where T: Clone {
            Placed { #[outbox(key)] tenant: T, #[outbox(key)] r#type: u64, yen: i64 },
            #[outbox(topic = "stripe.charge", was = "charge", version = 3, upcast(1 = from_v1, 2 = v2::up), key = customer.id())]
            Charge(Charge),
            #[outbox(unordered)]
            Receipt,
        }
    });
    insta::assert_snapshot!(prettyplease::unparse(&syn::parse2(tokens).unwrap()));
}

#[test]
fn the_code_written_after_a_mistake() {
    let tokens = crate::derive(&parse_quote! {
        #[outbox(aggregate = "order", crate = outbox_core)]
        struct Paid {
            order_id: u64,
        }
    });
    insta::assert_snapshot!(prettyplease::unparse(&syn::parse2(tokens).unwrap()));
}
