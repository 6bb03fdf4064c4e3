//! What a client is made with: the options of `PJRT_Client_Create`.

use crate::base::entry::text;
use crate::base::error::{Error, Result};
use crate::cluster::mesh::{Collectives, Limits, Settings};
use pjrt_api::{PJRT_NamedValue, PJRT_NamedValue_Type};
use std::time::Duration;

/// What a client is made with.
pub(crate) struct Options {
    pub devices: i64,
    pub threads: Option<i64>,
    pub asynchronous: bool,
    /// For how long a run over several devices may not move.
    pub collective: Duration,
    pub mesh: Option<Settings>,
}

/// The options of a mesh, as they are read.
struct MeshOptions<'a> {
    coordinator: Option<&'a str>,
    job: &'a str,
    bind: Option<&'a str>,
    address: Option<&'a str>,
    processes: Option<i64>,
    process: Option<i64>,
    collectives: &'a str,
    startup: i64,
    heartbeat: i64,
    collective: Option<i64>,
}

/// One option.
struct Given<'a> {
    name: &'a str,
    value: &'a PJRT_NamedValue,
}

impl<'a> Given<'a> {
    fn is(&self, ty: PJRT_NamedValue_Type, what: &str) -> Result<()> {
        if self.value.r#type == ty {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "option `{}` must be {what}, got {}",
            self.name,
            type_name(self.value.r#type)
        )))
    }

    fn number(&self, from: i64, to: i64) -> Result<i64> {
        self.is(PJRT_NamedValue_Type::kInt64, "an integer")?;
        // SAFETY: the type says which member holds.
        match unsafe { self.value.value.int64_value } {
            n if (from..=to).contains(&n) => Ok(n),
            n => Err(Error::invalid(format!(
                "option `{}` must be from {from} to {to}, got {n}",
                self.name
            ))),
        }
    }

    fn flag(&self) -> Result<bool> {
        self.is(PJRT_NamedValue_Type::kBool, "true or false")?;
        // SAFETY: the type says which member holds.
        Ok(unsafe { self.value.value.bool_value })
    }

    /// # Safety
    /// The value is valid as the API says.
    unsafe fn text(&self) -> Result<&'a str> {
        self.is(PJRT_NamedValue_Type::kString, "a string")?;
        // SAFETY: the type says which member holds; by this function's contract.
        unsafe {
            text(
                self.value.value.string_value,
                self.value.value_size,
                self.name,
            )
        }
    }
}

/// So many threads XLA's pool has for each device, at least. A device waits in a collective on a thread of the pool, and begins
/// others that do not need its result on further ones: XLA has it use four, and more for a moment. Where devices that
/// wait hold all threads, the one that they wait for finds none, and nothing goes on.
const FOR_EACH_DEVICE: i64 = 8;

/// XLA makes no larger pool.
const MOST: i64 = 256;

impl Options {
    /// How many threads XLA's pool needs to be told; `None` where it shall have what XLA gives it.
    pub fn pool(&self) -> Option<i64> {
        if self.devices == 1 && self.mesh.is_none() {
            return self.threads;
        }
        let least = self.devices.saturating_mul(FOR_EACH_DEVICE).min(MOST);
        match self.threads {
            Some(threads) => Some(threads.max(least)),
            None => (threads_by_default() < least).then_some(least),
        }
    }

    /// # Safety
    /// The values are valid as the API says.
    pub unsafe fn read(values: &[PJRT_NamedValue]) -> Result<Self> {
        const SECONDS: i64 = 1_000_000;
        const PROCESSES: i64 = 100_000;
        let mut options = Self {
            devices: 1,
            threads: None,
            asynchronous: true,
            collective: Duration::from_secs(300),
            mesh: None,
        };
        let mut mesh = MeshOptions {
            coordinator: None,
            job: "",
            bind: None,
            address: None,
            processes: None,
            process: None,
            collectives: "gloo",
            startup: 300,
            heartbeat: 60,
            collective: None,
        };
        for value in values {
            // SAFETY: by this function's contract, here and below.
            let name = unsafe { text(value.name, value.name_size, "name of an option")? };
            let given = Given { name, value };
            // SAFETY: as above.
            let string = || unsafe { given.text() };
            match name {
                "cpu_device_count" => options.devices = given.number(1, 1024)?,
                "num_threads" => options.threads = Some(given.number(1, 1024)?),
                "asynchronous" => options.asynchronous = given.flag()?,
                "coordinator_address" => mesh.coordinator = Some(string()?),
                "job_name" => mesh.job = string()?,
                "bind_address" => mesh.bind = Some(string()?),
                "host_address" => mesh.address = Some(string()?),
                "num_nodes" => mesh.processes = Some(given.number(1, PROCESSES)?),
                "node_id" => mesh.process = Some(given.number(0, PROCESSES)?),
                "collectives" => mesh.collectives = string()?,
                "startup_timeout" => mesh.startup = given.number(1, SECONDS)?,
                "heartbeat_timeout" => mesh.heartbeat = given.number(2, SECONDS)?,
                "collective_timeout" => {
                    mesh.collective = Some(given.number(1, SECONDS)?);
                }
                _ => {
                    return Err(Error::invalid(format!(
                        "unknown option `{name}`; there are cpu_device_count, num_threads, asynchronous and \
                         collective_timeout, and for several processes coordinator_address, bind_address, host_address, \
                         num_nodes, node_id, job_name, collectives, startup_timeout and heartbeat_timeout"
                    )))
                }
            }
        }
        if let Some(seconds) = mesh.collective {
            options.collective = Duration::from_secs(seconds.unsigned_abs());
        }
        options.mesh = mesh.settings()?;
        Ok(options)
    }
}

impl MeshOptions<'_> {
    /// The mesh that they describe, if any.
    fn settings(&self) -> Result<Option<Settings>> {
        let (Some(coordinator), Some(processes), Some(process)) =
            (self.coordinator, self.processes, self.process)
        else {
            let given = [
                self.coordinator.is_some() || self.bind.is_some() || self.address.is_some(),
                self.processes.is_some() || self.process.is_some(),
            ];
            return if given.contains(&true) {
                Err(Error::invalid(
                    "several processes need the options coordinator_address, num_nodes and node_id",
                ))
            } else {
                Ok(None)
            };
        };
        if process >= processes {
            return Err(Error::invalid(format!(
                "option `node_id` must be from 0 to {}, got {process}",
                processes - 1
            )));
        }
        let collectives = match self.collectives {
            "gloo" => Collectives::Gloo,
            "mpi" => Collectives::Mpi,
            other => {
                return Err(Error::invalid(format!(
                    "option `collectives` must be gloo or mpi, got `{other}`"
                )))
            }
        };
        let seconds = |n: i64| Duration::from_secs(n.unsigned_abs());
        Ok(Some(Settings {
            coordinator: coordinator.to_owned(),
            job: self.job.to_owned(),
            bind: self.bind.map(str::to_owned),
            address: self.address.map(str::to_owned),
            process: process as u32,
            processes: processes as u32,
            collectives,
            limits: Limits {
                startup: seconds(self.startup),
                heartbeat: seconds(self.heartbeat),
                collective: seconds(self.collective.unwrap_or(1800)),
            },
        }))
    }
}

fn type_name(ty: PJRT_NamedValue_Type) -> &'static str {
    match ty {
        PJRT_NamedValue_Type::kString => "a string",
        PJRT_NamedValue_Type::kInt64 => "an integer",
        PJRT_NamedValue_Type::kInt64List => "a list of integers",
        PJRT_NamedValue_Type::kFloat => "a float",
        PJRT_NamedValue_Type::kBool => "a bool",
        _ => "something unknown",
    }
}

/// How many threads XLA's pool has where nothing is said, or less: what the variable says, else one for each processor.
fn threads_by_default() -> i64 {
    let said = std::env::var("NPROC").ok();
    let said = said.and_then(|said| said.trim().parse::<i64>().ok());
    said.filter(|said| *said > 0).unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, |n| i64::try_from(n.get()).unwrap_or(MOST))
    })
}
