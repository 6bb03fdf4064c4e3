//! Compile options: the fields of XLA's `CompileOptionsProto` that say where a program runs and how it is partitioned.

use crate::kind::ProgramKind;
use programs::{flag, Reductions};
use proto_wire::Message;

/// `device_ordinal` that leaves the choice to the device assignment.
const NO_ORDINAL: i64 = -1;

/// How a program is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// How many copies of the program run side by side, each with data of its own.
    pub replicas: usize,
    /// Over how many devices XLA partitions each copy.
    pub partitions: usize,
    /// Ids of the devices, replica by replica: that of replica `r` and partition `p` is at `r * partitions + p`. Empty
    /// leaves the choice to the plugin.
    pub devices: Vec<i32>,
    /// Whether XLA partitions with Shardy, or with what was before (GSPMD).
    pub shardy: bool,
    /// What XLA is told about the kind of program.
    pub kind: ProgramKind,
    /// Whether XLA's CPU compiler is told that minima and maxima keep NaN, which it may drop otherwise. The included plugin
    /// tells it for all programs.
    pub keeps_nan: bool,
    /// Whether XLA leaves operations apart that it computes together otherwise.
    pub without_fusion: bool,
    /// How XLA's CPU reduces arrays. The included plugin tells it for all programs, too.
    pub reductions: Reductions,
    /// Whether XLA is told to make conversions to fewer digits, which on GPUs it leaves out otherwise where a conversion back
    /// follows.
    pub keeps_conversions: bool,
}

impl Default for CompileOptions {
    /// One replica and one partition, on a device that the plugin chooses.
    fn default() -> Self {
        Self {
            replicas: 1,
            partitions: 1,
            devices: Vec::new(),
            shardy: true,
            kind: ProgramKind::Plain,
            keeps_nan: false,
            without_fusion: false,
            reductions: Reductions::AsXla,
            keeps_conversions: false,
        }
    }
}

impl CompileOptions {
    /// As a serialised `CompileOptionsProto`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut build = Message::default()
            .number(1, NO_ORDINAL)
            .number(4, self.replicas as i64)
            .number(5, self.partitions as i64);
        if self.partitions > 1 {
            build = build.number(6, 1); // use_spmd_partitioning
        }
        if !self.devices.is_empty() {
            build = build.bytes(9, self.assignment());
        }
        if self.partitions > 1 && self.shardy {
            build = build.number(19, 1); // use_shardy_partitioner
        }
        let mut options = Message::default().bytes(3, build); // executable_build_options
        if self.keeps_nan {
            let no = Message::default().number(2, 0);
            options = flag(options, "xla_cpu_enable_fast_min_max", no);
        }
        if self.keeps_conversions {
            let no = Message::default().number(2, 0);
            options = flag(options, "xla_allow_excess_precision", no);
        }
        if let Some(pass) = self
            .kind
            .without()
            .or(self.without_fusion.then_some("fusion"))
        {
            let pass = Message::default().bytes(1, pass);
            options = flag(options, "xla_disable_hlo_passes", pass);
        }
        if !self.kind.is_optimised() {
            let unoptimised = Message::default().number(3, 0);
            options = flag(options, "xla_backend_optimization_level", unoptimised);
        }
        if let Some(parts) = self.kind.short_way() {
            let no = Message::default().number(2, 0);
            options = flag(options, "xla_cpu_use_fusion_emitters", no);
            let parts = Message::default().number(3, parts);
            options = flag(options, "xla_cpu_parallel_codegen_split_count", parts);
            let order = Message::default().bytes(1, "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED");
            options = flag(options, "xla_cpu_scheduler_type", order);
        }
        let options = options.into_bytes();
        self.reductions.told(&options).unwrap_or(options)
    }

    /// A `DeviceAssignmentProto`: for each partition the devices of its replicas.
    fn assignment(&self) -> Message {
        let mut assignment = Message::default()
            .number(1, self.replicas as i64)
            .number(2, self.partitions as i64);
        for partition in 0..self.partitions {
            let ids = self.devices.iter().skip(partition).step_by(self.partitions);
            let ids: Vec<i64> = ids.map(|&id| id.into()).collect();
            assignment = assignment.bytes(3, Message::default().packed(1, &ids));
        }
        assignment
    }
}

/// Serialised compile options for one replica and one partition. `device` is the id of the
/// device to run on; `None` leaves the choice to the plugin (its first device).
pub fn compile_options(device: Option<i32>) -> Vec<u8> {
    let devices = device.into_iter().collect();
    let options = CompileOptions::default();
    CompileOptions { devices, ..options }.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUS_ONE: [u8; 10] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];

    #[test]
    fn one_device() {
        // What jaxlib's own CompileOptions writes for these fields, the rest left out.
        let mut expected = vec![0x1a, 26, 0x08];
        expected.extend(MINUS_ONE);
        expected.extend([0x20, 1, 0x28, 1]);
        expected.extend([0x4a, 9, 0x08, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 3]);
        assert_eq!(compile_options(Some(3)), expected);
    }

    #[test]
    fn several_devices() {
        let options = CompileOptions {
            replicas: 2,
            partitions: 3,
            devices: vec![5, 4, 3, 2, 1, 0],
            ..CompileOptions::default()
        };
        // As jaxlib's own CompileOptions writes it, the rest left out.
        let mut expected = vec![0x1a, 44, 0x08];
        expected.extend(MINUS_ONE);
        expected.extend(b" \x02(\x030\x01J\x16\x08\x02\x10\x03\x1a\x04\n\x02\x05\x02\x1a\x04\n\x02\x04\x01\x1a\x04\n\x02\x03\x00");
        expected.extend(b"\x98\x01\x01");
        assert_eq!(options.to_bytes(), expected);
        let gspmd = CompileOptions {
            shardy: false,
            ..options
        };
        expected[1] -= 3;
        expected.truncate(expected.len() - 3);
        assert_eq!(gspmd.to_bytes(), expected);
    }

    #[test]
    fn flags() {
        // As jaxlib's own CompileOptions writes `env_option_overrides`.
        let bytes = |kind| {
            let options = CompileOptions {
                kind,
                ..CompileOptions::default()
            };
            options.to_bytes()[17..].to_vec()
        };
        let level = b":$\n\x1exla_backend_optimization_level\x12\x02\x18\x00";
        let exact = b":*\n\x16xla_disable_hlo_passes\x12\x10\n\x0ealgsimp,fusion";
        assert_eq!(bytes(ProgramKind::Exact), exact);
        let scalars = b":/\n\x16xla_disable_hlo_passes\x12\x15\n\x13fusion,call-inliner";
        assert_eq!(bytes(ProgramKind::Scalars), [&scalars[..], level].concat());
        assert_eq!(bytes(ProgramKind::Rows), scalars);
        let short = b":!\n\x1bxla_cpu_use_fusion_emitters\x12\x02\x10\x00\
            :*\n$xla_cpu_parallel_codegen_split_count\x12\x02\x18";
        let in_order = b":?\n\x16xla_cpu_scheduler_type\x12%\n#CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED";
        let small = [&short[..], b"\x01", in_order].concat();
        assert_eq!(bytes(ProgramKind::Small), small);
        assert_eq!(bytes(ProgramKind::Moves), [&level[..], &small].concat());
        assert_eq!(
            bytes(ProgramKind::Many),
            [&short[..], b"\x08", in_order].concat()
        );
        assert!(bytes(ProgramKind::Plain).is_empty());
        let options = CompileOptions {
            reductions: Reductions::Own,
            ..CompileOptions::default()
        };
        let own = Reductions::Own.told(&[]).unwrap_or_default();
        assert_eq!(options.to_bytes()[17..], own);
    }

    #[test]
    fn conversions() {
        let options = CompileOptions {
            keeps_conversions: true,
            ..CompileOptions::default()
        };
        let told = b": \n\x1axla_allow_excess_precision\x12\x02\x10\x00";
        assert_eq!(options.to_bytes()[17..], told[..]);
    }

    #[test]
    fn no_device() {
        let options = compile_options(None);
        assert_eq!(options.len(), 17);
        assert_eq!(options[..3], [0x1a, 15, 0x08]);
    }
}
