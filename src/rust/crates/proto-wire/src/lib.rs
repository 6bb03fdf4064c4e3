//! The wire format of protocol buffers, as much of it as XLA's messages need: messages are read field by field, and
//! written as bytes that are put one after the other.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// An integer, a bool or an enum.
    Number(u64),
    /// A string, bytes, a message, packed numbers, or a number of fixed width.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Its bytes; a number has none.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }

    /// The integers of a repeated field, packed or one by one, at the end of a list.
    pub fn push_to(self, list: &mut Vec<i64>) {
        match self {
            Value::Number(number) => list.push(number as i64),
            Value::Bytes(bytes) => {
                let mut packed = Fields(bytes);
                list.extend(std::iter::from_fn(|| packed.varint()).map(|number| number as i64));
            }
        }
    }
}

/// The fields of a message with their numbers; ends at the first thing that is no field.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// What follows its own length: a message that stands before others.
    pub fn delimited(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.varint()?).ok()?;
        self.take(count)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.0.get(..count)?;
        self.0 = &self.0[count..];
        Some(bytes)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Bytes(self.take(8)?),
            2 => Value::Bytes(self.delimited()?),
            5 => Value::Bytes(self.take(4)?),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

/// A message that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<u8>);

impl Message {
    /// Adds an integer, a bool or an enum.
    pub fn number(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Adds a string or a message.
    pub fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a repeated field of numbers; none of it where there are none.
    pub fn packed(self, field: u64, values: &[i64]) -> Self {
        let mut packed = Message::default();
        for &value in values {
            packed.varint(value as u64);
        }
        match values {
            [] => self,
            _ => self.bytes(field, packed),
        }
    }

    /// The bytes so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let inner = Message::default().number(1, -1).bytes(2, "text");
        let message = Message::default()
            .bytes(3, &inner)
            .packed(4, &[0, 300, -7])
            .packed(5, &[])
            .number(700, 1);
        let bytes = message.into_bytes();
        let fields: Vec<(u64, Value<'_>)> = Fields(&bytes).collect();
        assert_eq!(fields.len(), 3);
        assert_eq!(fields[0], (3, Value::Bytes(inner.as_ref())));
        assert_eq!(fields[2], (700, Value::Number(1)));
        let mut numbers = Vec::new();
        fields[1].1.push_to(&mut numbers);
        fields[2].1.push_to(&mut numbers);
        assert_eq!(numbers, [0, 300, -7, 1]);
        let fields: Vec<(u64, Value<'_>)> = Fields(inner.as_ref()).collect();
        assert_eq!(
            fields,
            [(1, Value::Number(u64::MAX)), (2, Value::Bytes(b"text"))]
        );
        assert!(fields[0].1.bytes().is_empty());
    }

    #[test]
    fn garbage_is_not_followed_out_of_bounds() {
        for n in 0..64_u32 {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 37 + 255) as u8).collect();
            for (_, value) in Fields(&bytes) {
                value.push_to(&mut Vec::new());
            }
        }
        assert_eq!(Fields(b"\x22\xff").next(), None);
        assert_eq!(Fields(&[0xff; 12]).next(), None);
    }
}
