//! What XLA says of a program, in its protocol buffers.

use crate::array::shape::{type_of_xla, Shape};
use crate::base::error::{Error, Result};
use crate::cluster::mesh::Called;
use crate::handlers::calls;
use proto_wire::{Fields, Value};

/// What the compiled module says of itself.
pub(crate) struct Module {
    pub name: String,
    pub parameters: Vec<Shape>,
    pub results: Vec<Shape>,
    /// Whether any argument may be donated to a result.
    pub donates: bool,
    /// The operations by which devices exchange anything.
    pub collectives: Vec<String>,
    /// The handlers that it calls.
    pub handlers: Vec<String>,
    /// The same as the program names them.
    pub calls: Vec<Called>,
}

const TUPLE: u64 = 13;

impl Module {
    /// Reads an `HloModuleProto`.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut module = Self {
            name: String::new(),
            parameters: Vec::new(),
            results: Vec::new(),
            donates: false,
            collectives: Vec::new(),
            handlers: Vec::new(),
            calls: Vec::new(),
        };
        for (number, value) in Fields(bytes) {
            match (number, value) {
                (1, Value::Bytes(name)) => module.name = String::from_utf8_lossy(name).into_owned(),
                (3, Value::Bytes(computation)) => {
                    for (number, value) in Fields(computation) {
                        if let (2, Value::Bytes(instruction)) = (number, value) {
                            module.collectives.extend(exchange(instruction));
                            if let Some((handler, config)) = handler(instruction) {
                                module.calls.push(called(&handler, config));
                                module.handlers.push(handler);
                            }
                        }
                    }
                }
                (4, Value::Bytes(program)) => {
                    for (number, value) in Fields(program) {
                        match (number, value) {
                            (1, Value::Bytes(s)) => shapes(s, &mut module.parameters)?,
                            (2, Value::Bytes(s)) => shapes(s, &mut module.results)?,
                            _ => {}
                        }
                    }
                }
                (8 | 18, Value::Bytes(aliases)) => module.donates |= !aliases.is_empty(),
                _ => {}
            }
        }
        Ok(module)
    }
}

/// The name of an `HloInstructionProto`, where it is one that devices take part in together.
fn exchange(instruction: &[u8]) -> Option<String> {
    const BEGINNINGS: [&[u8]; 6] = [
        b"all-",
        b"collective-",
        b"ragged-all-to-all",
        b"reduce-scatter",
        b"send",
        b"recv",
    ];
    let (mut name, mut is_exchange) = (&[][..], false);
    for (number, value) in Fields(instruction) {
        match (number, value) {
            (1, Value::Bytes(own)) => name = own,
            (2, Value::Bytes(code)) => is_exchange = BEGINNINGS.iter().any(|b| code.starts_with(b)),
            _ => {}
        }
    }
    is_exchange.then(|| String::from_utf8_lossy(name).into_owned())
}

/// What an `HloInstructionProto` calls, where it is a custom call that XLA does not answer itself, and its attributes.
fn handler(instruction: &[u8]) -> Option<(String, &[u8])> {
    const OF_XLA: [&[u8]; 7] = [
        b"PadToStatic",
        b"SPMDFullToShardShape",
        b"SPMDShardToFullShape",
        b"Sharding",
        b"SliceToDynamic",
        b"TopK",
        b"annotate_device_placement",
    ];
    let (mut target, mut config, mut is_call) = (&[][..], &[][..], false);
    for (number, value) in Fields(instruction) {
        match (number, value) {
            (2, Value::Bytes(code)) => is_call = code == b"custom-call",
            (28, Value::Bytes(name)) => target = name,
            (43, Value::Bytes(attributes)) => config = attributes,
            _ => {}
        }
    }
    let is_of_xla = OF_XLA.contains(&target) || target.starts_with(b"__onednn$");
    (is_call && !is_of_xla).then(|| (String::from_utf8_lossy(target).into_owned(), config))
}

/// What a call means whose attributes are this text, in which the one behind all others names the handler where the plugin
/// has put one of its own in its place (`calls.rs`).
fn called(target: &str, config: &[u8]) -> Called {
    const OP: &str = "xlaffi.op";
    let config = String::from_utf8_lossy(config);
    let meant = match calls::is_seen(target) {
        true => config.rsplit('"').nth(1),
        false => None,
    };
    let number = config.split_once(OP).and_then(|(_, rest)| {
        let rest = rest.trim_start_matches(['"', ' ', '=']);
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '-'));
        rest[..end.unwrap_or(rest.len())].parse().ok()
    });
    Called {
        target: meant.unwrap_or(target).to_owned(),
        op: number,
    }
}

/// Reads a `ShapeProto`; the members of a tuple one after the other.
fn shapes(bytes: &[u8], into: &mut Vec<Shape>) -> Result<()> {
    let (mut ty, mut dims, mut order, mut members) = (0, Vec::new(), Vec::new(), Vec::new());
    for (number, value) in Fields(bytes) {
        match (number, value) {
            (2, Value::Number(n)) => ty = n,
            (3, value) => value.push_to(&mut dims),
            (4, Value::Bytes(member)) => members.push(member),
            (5, Value::Bytes(layout)) => {
                for (number, value) in Fields(layout) {
                    if number == 1 {
                        value.push_to(&mut order);
                    }
                }
            }
            _ => {}
        }
    }
    if ty == TUPLE {
        return members
            .into_iter()
            .try_for_each(|member| shapes(member, into));
    }
    let ty = type_of_xla(ty)?;
    into.push(if order.len() == dims.len() {
        Shape::new(ty, &dims, order.into())?
    } else {
        Shape::row_major(ty, &dims)?
    });
    Ok(())
}

/// What compile options say of devices.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Ids of the devices, replica by replica; empty where none are named.
    pub devices: Vec<i64>,
    pub replicas: usize,
    pub partitions: usize,
}

impl Placement {
    /// Reads a `CompileOptionsProto`.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut placement = Self {
            devices: Vec::new(),
            replicas: 1,
            partitions: 1,
        };
        let mut ordinal = -1;
        for (number, value) in Fields(bytes) {
            let (3, Value::Bytes(build)) = (number, value) else {
                continue;
            };
            for (number, value) in Fields(build) {
                match (number, value) {
                    (1, Value::Number(n)) => ordinal = n as i64,
                    (4, Value::Number(n)) => placement.replicas = count(n)?,
                    (5, Value::Number(n)) => placement.partitions = count(n)?,
                    (9, Value::Bytes(b)) => placement.devices = assignment(b),
                    _ => {}
                }
            }
        }
        if placement.devices.is_empty() && ordinal >= 0 {
            placement.devices.push(ordinal);
        }
        Ok(placement)
    }

    /// Reads it from a serialised program of jaxlib's, where it says: a message of IFRT's, before which its length stands,
    /// and an `ExecutableAndOptionsProto`.
    pub fn read_serialized(bytes: &[u8]) -> Result<Option<Self>> {
        let mut fields = Fields(bytes);
        if fields.delimited().is_none() {
            return Ok(None);
        }
        let options = fields.find_map(|(number, value)| match (number, value) {
            (2, Value::Bytes(options)) => Some(options),
            _ => None,
        });
        options.map(Self::read).transpose()
    }
}

fn count(n: u64) -> Result<usize> {
    match n {
        0 => Ok(1),
        1..=65_536 => Ok(n as usize),
        _ => Err(Error::invalid(format!(
            "the compile options ask for {n} replicas or partitions"
        ))),
    }
}

/// Reads a `DeviceAssignmentProto`: one list of replicas per computation.
fn assignment(bytes: &[u8]) -> Vec<i64> {
    let mut computations: Vec<Vec<i64>> = Vec::new();
    for (number, value) in Fields(bytes) {
        if let (3, Value::Bytes(computation)) = (number, value) {
            let mut ids = Vec::new();
            for (number, value) in Fields(computation) {
                if number == 1 {
                    value.push_to(&mut ids);
                }
            }
            computations.push(ids);
        }
    }
    let replicas = computations.iter().map(Vec::len).max().unwrap_or(0);
    (0..replicas)
        .flat_map(|r| {
            computations
                .iter()
                .filter_map(move |ids| ids.get(r).copied())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_their_devices() {
        let none = Placement {
            devices: vec![],
            replicas: 1,
            partitions: 1,
        };
        assert_eq!(Placement::read(b""), Ok(none));
        // executable_build_options { device_ordinal: 1 }
        assert_eq!(
            Placement::read(b"\x1a\x02\x08\x01").map(|p| p.devices),
            Ok(vec![1])
        );
        // … { device_ordinal: -1, device_assignment { … computation_devices { 1 } } }
        let options = b"\x1a\x16\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01J\t\x08\x01\x10\x01\x1a\x03\n\x01\x01";
        assert_eq!(Placement::read(options).map(|p| p.devices), Ok(vec![1]));
    }

    #[test]
    fn calls_that_xla_answers_itself_are_no_handlers() {
        let is_called = |target: &str| {
            let length = [target.len() as u8];
            let call = b"\x12\x0bcustom-call\xe2\x01";
            let instruction = [call, &length[..], target.as_bytes()].concat();
            handler(&instruction).map(|(name, _)| name)
        };
        assert_eq!(is_called("solve"), Some("solve".to_owned()));
        assert_eq!(is_called("TopK"), None);
        assert_eq!(is_called("__onednn$matmul"), None);
        assert_eq!(handler(b"\x12\x03add\xe2\x01\x05solve"), None);
    }

    #[test]
    fn calls_are_known_by_what_the_program_says() {
        let call = |target: &str, op| Called {
            target: target.to_owned(),
            op,
        };
        assert_eq!(called("f", b"{k = 1 : i64}"), call("f", None));
        assert_eq!(
            called("f", b"{xlaffi.op = -12 : i64, z = 2}"),
            call("f", Some(-12))
        );
        assert_eq!(
            called("f", b"{\"xlaffi.op\" = 12 : i64}"),
            call("f", Some(12))
        );
        let ordered = b"{xlaffi.op = 3 : i64, \"\\F4\\8F\\BF\\BF\" = \"times\"}";
        assert_eq!(called("xlaffi.ordered", ordered), call("times", Some(3)));
        assert_eq!(called("xlaffi.ordered", b""), call("xlaffi.ordered", None));
    }

    #[test]
    fn garbage_is_not_followed_out_of_bounds() {
        for n in 0..64 {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 37 + 255) as u8).collect();
            let _ = Placement::read(&bytes);
            let _ = Module::read(&bytes);
        }
        assert!(Module::read(b"\x22\xff").is_ok_and(|m| m.parameters.is_empty()));
    }
}
