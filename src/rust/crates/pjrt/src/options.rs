//! Compile options: the few fields of XLA's `CompileOptionsProto` that a single-device program
//! needs, written by hand in protobuf's wire format.

/// `device_ordinal` that leaves the choice to the device assignment.
const NO_ORDINAL: i64 = -1;

/// Serialised compile options for one replica and one partition. `device` is the id of the
/// device to run on; `None` leaves the choice to the plugin (its first device).
pub fn compile_options(device: Option<i32>) -> Vec<u8> {
    let mut build = Vec::new();
    integer(&mut build, 1, NO_ORDINAL);
    integer(&mut build, 4, 1); // num_replicas
    integer(&mut build, 5, 1); // num_partitions
    if let Some(id) = device {
        let mut computation = Vec::new();
        let mut ids = Vec::new();
        varint(&mut ids, i64::from(id) as u64);
        bytes(&mut computation, 1, &ids); // replica_device_ids, packed
        let mut assignment = Vec::new();
        integer(&mut assignment, 1, 1); // replica_count
        integer(&mut assignment, 2, 1); // computation_count
        bytes(&mut assignment, 3, &computation); // computation_devices
        bytes(&mut build, 9, &assignment); // device_assignment
    }
    let mut options = Vec::new();
    bytes(&mut options, 3, &build); // executable_build_options
    options
}

/// What the module of a program is called that is to be compiled by [`exact_options`].
pub const EXACT_MODULE: &str = "module @xlaffi_exact {";

/// These options, and XLA computes each operation as it is written and rounds each result: no product with a
/// reciprocal in place of a quotient, no constants taken together, no multiplication fused with an addition. For the
/// CPU.
pub fn exact_options(mut options: Vec<u8>) -> Vec<u8> {
    set_flag(&mut options, "xla_disable_hlo_passes", |value| {
        bytes(value, 1, b"algsimp")
    });
    // The compiler of machine code fuses multiplications with additions wherever it optimises.
    set_flag(&mut options, "xla_backend_optimization_level", |value| {
        integer(value, 3, 0)
    });
    options
}

/// An entry of `env_option_overrides`, whose value is a field of `OptionOverrideProto`.
fn set_flag(options: &mut Vec<u8>, name: &str, write_value: impl Fn(&mut Vec<u8>)) {
    let mut value = Vec::new();
    write_value(&mut value);
    let mut entry = Vec::new();
    bytes(&mut entry, 1, name.as_bytes());
    bytes(&mut entry, 2, &value);
    bytes(options, 7, &entry);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn integer(out: &mut Vec<u8>, field: u64, value: i64) {
    varint(out, field << 3);
    varint(out, value as u64);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::{bytes, compile_options, integer, set_flag};

    #[test]
    fn one_device() {
        // What jaxlib's own CompileOptions writes for these fields, the rest left out.
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let mut expected = vec![0x1a, 26, 0x08];
        expected.extend(minus_one);
        expected.extend([0x20, 1, 0x28, 1]);
        expected.extend([0x4a, 9, 0x08, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 3]);
        assert_eq!(compile_options(Some(3)), expected);
    }

    #[test]
    fn flags() {
        // As jaxlib's own CompileOptions writes `env_option_overrides`.
        let mut written = Vec::new();
        set_flag(&mut written, "xla_backend_optimization_level", |value| {
            integer(value, 3, 0)
        });
        set_flag(&mut written, "xla_disable_hlo_passes", |value| {
            bytes(value, 1, b"algsimp")
        });
        let expected = b":$\n\x1exla_backend_optimization_level\x12\x02\x18\x00\
            :#\n\x16xla_disable_hlo_passes\x12\t\n\x07algsimp";
        assert_eq!(written, expected);
    }

    #[test]
    fn no_device() {
        let options = compile_options(None);
        assert_eq!(options.len(), 17);
        assert_eq!(options[..3], [0x1a, 15, 0x08]);
    }
}
