//! `xlaffi_executable`: a compiled program.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use pjrt::Executable;

use crate::host::called::Called;
use crate::host::sharding::shardings;
use crate::r::entry::routines;
use crate::r::failure::Outcome;
use crate::r::pointer::{class, get};
use crate::r::value::{named, Value};
use crate::runtime::pace::Pace;

/// A compiled program.
pub struct ExecutableObject {
    /// The program.
    pub executable: Arc<Executable>,
    /// Where it runs.
    pub pace: Arc<Pace>,
    /// What it calls.
    pub called: Called,
    /// Whether it must not be run again where memory was short.
    pub runs_once: bool,
    /// Name of the platform.
    pub platform: Arc<str>,
    /// Whether it is one of a CPU plugin that is not the one inside this package.
    pub is_foreign_cpu: bool,
    /// When it was used last, by the count of all uses.
    pub used: LastUse,
}

/// When something was used last, by the count of all uses.
#[derive(Default)]
pub struct LastUse(Cell<u64>);

impl LastUse {
    /// It is used now.
    pub fn now(&self) {
        static USES: AtomicU64 = AtomicU64::new(1);
        self.0.set(USES.fetch_add(1, Ordering::Relaxed));
    }

    /// Whether R has forgotten it since.
    pub fn is_forgotten(&self) -> bool {
        self.0.get() == 0
    }
}

class!(
    ExecutableObject,
    c"xlaffi_executable",
    "an executable made by pjrt_compile()"
);

routines! {
    // Counts as a use of the program, as each run does.
    fn executable_use(executable) {
        let object: &ExecutableObject = get(executable, "executable")?;
        object.used.now();
        Ok(())
    }

    // R has forgotten the program: it is used no more where R has not asked for it.
    fn executable_forget(executable) {
        let object: &ExecutableObject = get(executable, "executable")?;
        object.used.0.set(0);
        Ok(())
    }

    // When it was used last, by the count of all uses of programs.
    fn executable_used(executable) {
        let object: &ExecutableObject = get(executable, "executable")?;
        Ok(Value::from(object.used.0.get() as f64))
    }

    // The compiled program, and the one that it was made of.
    fn executable_serialize(executable) {
        let object: &ExecutableObject = get(executable, "executable")?;
        let program = object.executable.program();
        Ok(named! {
            format = program.format().name(),
            program = Value::Bytes(program.code().to_vec()),
            compiled = Value::Bytes(object.executable.serialize()?),
        })
    }

    // Platform, name, number of results, the ids of the devices of this process, how many replicas and partitions there
    // are, and how parameters (as far as is known) and results are split.
    fn executable_info(executable) {
        let object: &ExecutableObject = get(executable, "executable")?;
        let executable = &object.executable;
        let ids = executable
            .devices()?
            .iter()
            .map(|device| Ok(device.id()?))
            .collect::<Outcome<Vec<i32>>>()?;
        let (parameters, results) = shardings(executable)?;
        Ok(named! {
            platform = &*object.platform,
            client = object.executable.client().number() as i32,
            name = executable.name().unwrap_or_default(),
            results = executable.num_outputs() as i32,
            devices = ids,
            replicas = executable.num_replicas().unwrap_or(1) as i32,
            partitions = executable.num_partitions().unwrap_or(1) as i32,
            parameters = parameters,
            shardings = results,
        })
    }
}
