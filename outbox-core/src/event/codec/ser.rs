use serde::ser::{
    Error, Impossible, Serialize, SerializeMap, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleVariant, Serializer,
};

/// Takes the tag off an enum: writes the variant's content alone, straight into `inner`.
///
/// Serde says which variant it writes. That must be the one the topic stands for, or the payload
/// would be read as another variant later.
pub(super) struct Untagged<S> {
    pub(super) inner: S,
    /// The index of the variant the topic stands for.
    pub(super) index: usize,
}

impl<S: Serializer> Untagged<S> {
    fn expect(&self, index: u32, variant: &str) -> Result<(), S::Error> {
        if usize::try_from(index) == Ok(self.index) {
            return Ok(());
        }
        Err(S::Error::custom(format_args!(
            "serde writes variant {variant} as number {index}, its topic has number {}",
            self.index
        )))
    }
}

fn not_an_enum<T, E: Error>() -> Result<T, E> {
    Err(E::custom(
        "an event enum must serialise as an externally tagged enum",
    ))
}

/// Everything but a variant is refused.
macro_rules! refuse {
    ($($method:ident($($value:ty)?);)*) => {$(
        fn $method(self $(, _: $value)?) -> Result<S::Ok, S::Error> {
            not_an_enum()
        }
    )*};
}

impl<S: Serializer> Serializer for Untagged<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Elements<S>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = Fields<S>;

    /// An object, not `null`: Debezium takes an event without a payload for a deletion.
    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.expect(index, variant)?;
        self.inner.serialize_map(Some(0))?.end()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.expect(index, variant)?;
        value.serialize(self.inner)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Elements<S>, S::Error> {
        self.expect(index, variant)?;
        Ok(match len {
            0 => Elements::None(self.inner.serialize_map(Some(0))?),
            _ => Elements::Some(self.inner.serialize_tuple(len)?),
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Fields<S>, S::Error> {
        self.expect(index, variant)?;
        self.inner.serialize_struct(variant, len).map(Fields)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    refuse! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<S::Ok, S::Error> {
        not_an_enum()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<S::Ok, S::Error> {
        not_an_enum()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        not_an_enum()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, S::Error> {
        not_an_enum()
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        not_an_enum()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        not_an_enum()
    }

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        not_an_enum()
    }
}

/// The fields of a tuple variant: an array, or an empty object where there are none.
pub(super) enum Elements<S: Serializer> {
    None(S::SerializeMap),
    Some(S::SerializeTuple),
}

impl<S: Serializer> SerializeTupleVariant for Elements<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        match self {
            Self::None(_) => Err(S::Error::custom("a variant of no fields got a field")),
            Self::Some(tuple) => tuple.serialize_element(value),
        }
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        match self {
            Self::None(map) => map.end(),
            Self::Some(tuple) => tuple.end(),
        }
    }
}

/// The fields of a variant with named fields: an object.
pub(super) struct Fields<S: Serializer>(S::SerializeStruct);

impl<S: Serializer> SerializeStructVariant for Fields<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        self.0.serialize_field(key, value)
    }

    fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
        self.0.skip_field(key)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}
