use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer,
        VariantAccess, Visitor, value::SeqDeserializer,
    },
    forward_to_deserialize_any,
};

/// Puts the tag back: tells an enum which variant it is, and that `inner` has its content.
///
/// Each method goes on to the one of the same name, so numbers of any width reach the field as
/// they stand in the text; nothing is buffered in between.
pub(super) struct Tagged<D> {
    pub(super) inner: D,
    /// The index of the variant the topic stands for.
    pub(super) index: usize,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tagged<D> {
    type Error = D::Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_enum(self)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom(
            "an event enum must deserialise as an externally tagged enum",
        ))
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de, D: Deserializer<'de>> EnumAccess<'de> for Tagged<D> {
    type Error = D::Error;
    type Variant = Content<D>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<D>), D::Error> {
        let variant = seed.deserialize(self.index.into_deserializer())?;
        Ok((variant, Content(self.inner)))
    }
}

/// A variant's content, once it is known which variant it is.
pub(super) struct Content<D>(D);

impl<'de, D: Deserializer<'de>> VariantAccess<'de> for Content<D> {
    type Error = D::Error;

    /// Any payload will do: the topic has said everything, and a later version may add fields.
    fn unit_variant(self) -> Result<(), D::Error> {
        IgnoredAny::deserialize(self.0).map(drop)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, D::Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        if len > 0 {
            return self.0.deserialize_tuple(len, visitor);
        }
        self.unit_variant()?;
        visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<()>()))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct("", fields, visitor)
    }
}
