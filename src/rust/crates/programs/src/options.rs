//! Entries of XLA's compile options.

use proto_wire::{Fields, Message, Value};

use crate::reductions::Reductions;

/// The field of a `CompileOptionsProto` that has options by their names, and those of its entries.
const OVERRIDES: u64 = 7;
const NAME: u64 = 1;
const VALUE: u64 = 2;

/// What XLA says of an option that it has not.
pub const NO_SUCH_OPTION: &str = "No such compile option";

/// Adds an entry of `env_option_overrides`, whose value is an `OptionOverrideProto`.
pub fn flag(options: Message, name: &str, value: Message) -> Message {
    let entry = Message::default().bytes(NAME, name).bytes(VALUE, value);
    options.bytes(OVERRIDES, entry)
}

/// Whether serialised compile options have an entry of that name.
fn has_flag(options: &[u8], name: &str) -> bool {
    let mut entries = Fields(options).filter(|(field, _)| *field == OVERRIDES);
    entries.any(|(_, entry)| {
        Fields(entry.bytes()).any(|named| named == (NAME, Value::Bytes(name.as_bytes())))
    })
}

impl Reductions {
    /// Serialised compile options with what XLA is told of a program's reductions; `None` where it is told nothing, or
    /// the options say it already.
    pub fn told(self, options: &[u8]) -> Option<Vec<u8>> {
        // The library computes products of matrices, and nothing else.
        const NAME: &str = "xla_cpu_experimental_ynn_fusion_type";
        let products = Message::default().bytes(1, "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT");
        if self == Reductions::AsXla || has_flag(options, NAME) {
            return None;
        }
        // Fields of a message that stand one behind the other are one message.
        let entry = flag(Message::default(), NAME, products).into_bytes();
        Some([options, &entry].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As jaxlib's own CompileOptions writes the entry.
    const OWN: &[u8] =
        b":L\n$xla_cpu_experimental_ynn_fusion_type\x12$\n\"LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT";

    #[test]
    fn what_a_host_says_stays() {
        let level = Message::default().number(3, 2);
        let options = Message::default().bytes(3, b"\x20\x01\x28\x01");
        let options = flag(options, "xla_backend_optimization_level", level).into_bytes();
        for options in [&b""[..], &options] {
            assert_eq!(Reductions::AsXla.told(options), None);
            assert_eq!(Reductions::Own.told(options), Some([options, OWN].concat()));
        }
        let all = Message::default().bytes(1, "LIBRARY_FUSION_TYPE_REDUCE");
        let said = flag(
            Message::default(),
            "xla_cpu_experimental_ynn_fusion_type",
            all,
        )
        .into_bytes();
        assert_eq!(Reductions::Own.told(&said), None);
        assert_eq!(Reductions::Own.told(OWN), None);
    }
}
