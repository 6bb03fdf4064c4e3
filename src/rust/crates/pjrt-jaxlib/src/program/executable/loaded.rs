//! What was compiled, and what a host holds of it.

use super::origin::{Origin, MARK};
use super::runner::{described, Over, Runner};
use crate::array::shape::Shape;
use crate::base::entry::object;
use crate::base::error::{Error, Result};
use crate::client::device::Device;
use crate::client::Client;
use crate::cluster::mesh::{Launch, Mesh};
use crate::handlers::calls;
use crate::program::frame::Frames;
use crate::program::proto::{Module, Placement};
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::run::state::Info;
use pjrt_api::{PJRT_Buffer_Type, PJRT_Device, PJRT_Executable, PJRT_LoadedExecutable};
use std::ffi::c_char;
use std::sync::{Arc, Mutex, PoisonError};

/// What a `PJRT_Executable` is, and what a `PJRT_LoadedExecutable` shares with it.
pub(crate) struct Executable {
    pub client: Arc<Client>,
    pub object: Object,
    /// What it was loaded from, where it was not compiled: XLA's CPU client serialises a loaded program without its
    /// machine code, and runs such a one only up to the first function that is missing.
    pub serialized: Option<Box<[u8]>>,
    pub module: Module,
    /// Shapes of the results, shared with the buffers that hold them.
    pub results: Vec<Arc<Shape>>,
    /// Ids of the devices that it runs on, replica by replica.
    pub devices: Vec<i64>,
    /// Those of them that are devices of this process, in that order.
    pub local: Vec<i64>,
    /// What errors of runs over several devices tell of it.
    pub info: Arc<Info>,
    /// What processes tell each other of it, where it is for several of them.
    pub launch: Option<Launch>,
    pub(super) replicas: usize,
    pub(super) partitions: usize,
    pub(super) fingerprint: Vec<u8>,
    pub(super) device_list: Vec<*mut PJRT_Device>,
    pub(super) result_types: Vec<PJRT_Buffer_Type>,
    pub(super) result_dims: Vec<i64>,
    pub(super) result_ranks: Vec<usize>,
    pub(super) result_memories: Vec<*const c_char>,
    pub(super) result_memory_sizes: Vec<usize>,
}

// SAFETY: the pointers lead into `client`, or to constants; nobody changes what they lead to.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Whether it is for one device, in all processes together.
    pub fn over_one(&self) -> bool {
        self.devices.len() == 1
    }

    /// The mesh and what its processes tell each other, where it runs in several of them.
    pub fn mesh(&self) -> Option<(&Arc<Mesh>, &Launch)> {
        self.client.mesh.as_ref().zip(self.launch.as_ref())
    }

    /// The devices of this process that it runs on.
    pub fn local_devices(&self) -> Result<Vec<&Device>> {
        self.local
            .iter()
            .map(|&id| self.client.device(id))
            .collect()
    }
}

/// What a `PJRT_LoadedExecutable` is.
pub(crate) struct Loaded {
    pub executable: Arc<Executable>,
    /// `None` once deleted.
    pub(super) runner: Mutex<Option<Arc<Runner>>>,
}

/// What running the program needs of jaxlib.
fn made_runner(
    gil: &Gil,
    client: &Arc<Client>,
    object: &Object,
    placed: &Placement,
    module: &Module,
    results: &[Arc<Shape>],
) -> Result<Runner> {
    let jax = client.jax;
    let (handlers, over) = match placed.devices[..] {
        [id] => {
            let device = client.device(id)?;
            let handler = |shape: &Arc<Shape>| {
                let [dims, ty] = &described(gil, shape)?;
                gil.call(&jax.handler, [&device.sharding, dims, ty])
            };
            (results.iter().map(handler).collect::<Result<_>>()?, None)
        }
        ref ids => {
            let over = Over::new(gil, client, object, ids, &module.parameters)?;
            (Vec::new(), Some(over))
        }
    };
    Ok(Runner {
        execute: gil.call(&jax.executor, [object])?,
        handlers: gil.list(handlers.iter())?,
        frames: Frames::default(),
        over,
    })
}

/// What is known of the program where it runs over several devices.
fn info(client: &Client, placed: &Placement, module: &Module, runner: &Runner) -> Result<Info> {
    let name = |&id: &i64| {
        client
            .device(id)
            .map(|device| (id, device.short().to_owned()))
    };
    // By which handlers find their run.
    let has_ids = runner.over.as_ref().is_some_and(|over| over.takes_ids);
    Ok(Info {
        name: module.name.clone(),
        devices: placed.devices.iter().map(name).collect::<Result<_>>()?,
        collectives: module.collectives.clone(),
        calls_unseen: module
            .handlers
            .iter()
            .any(|name| !(has_ids && calls::is_seen(name))),
    })
}

/// What processes tell each other of it, where it runs in several of them.
fn launch(
    client: &Client,
    placed: &Placement,
    module: &Module,
    origin: &Origin<'_>,
) -> Result<Option<Launch>> {
    let parties = placed.devices.iter();
    let parties = parties.map(|&id| Ok(client.device(id)?.process() as u32));
    let mut parties = parties.collect::<Result<Vec<u32>>>()?;
    parties.sort_unstable();
    parties.dedup();
    Ok((parties.len() > 1).then(|| {
        let list = |shapes: &[Shape]| {
            let shapes: Vec<String> = shapes.iter().map(Shape::to_string).collect();
            shapes.join(", ")
        };
        let ids: Vec<String> = placed.devices.iter().map(i64::to_string).collect();
        Launch {
            devices: ids.join(","),
            parties,
            digest: origin.digest(placed.partitions),
            what: format!(
                "of ({}) -> ({})",
                list(&module.parameters),
                list(&module.results)
            ),
            calls: {
                let mut calls = module.calls.clone();
                calls.sort_unstable();
                calls.dedup();
                calls
            },
            exchanges: !module.collectives.is_empty(),
        }
    }))
}

impl Loaded {
    /// Wraps what jaxlib compiled or loaded.
    pub fn new(
        gil: &Gil,
        client: Arc<Client>,
        object: Object,
        placed: Placement,
        origin: Origin<'_>,
    ) -> Result<Self> {
        let jax = client.jax;
        let module = Module::read(&gil.call(&jax.module_proto, [&object])?.to_bytes(gil)?)?;
        let results: Vec<Arc<Shape>> = module.results.iter().cloned().map(Arc::new).collect();
        let local = gil.call(&jax.addressable_ids, [&object])?.items(gil)?;
        let local = local.iter().map(|id| id.to_int(gil));
        let local = local.collect::<Result<Vec<i64>>>()?;
        let runner = made_runner(gil, &client, &object, &placed, &module, &results)?;
        let info = info(&client, &placed, &module, &runner)?;
        const MEMORY: &str = "device";
        let device_list = local
            .iter()
            .map(|&id| client.device(id).map(|d| d.handle()))
            .collect::<Result<_>>()?;
        let launch = launch(&client, &placed, &module, &origin)?;
        let executable = Executable {
            launch,
            fingerprint: gil.call(&jax.fingerprint, [&object])?.to_bytes(gil)?,
            result_types: results.iter().map(|s| s.ty).collect(),
            result_dims: results
                .iter()
                .flat_map(|s| s.dims.iter().copied())
                .collect(),
            result_ranks: results.iter().map(|s| s.dims.len()).collect(),
            result_memories: vec![MEMORY.as_ptr().cast(); results.len()],
            result_memory_sizes: vec![MEMORY.len(); results.len()],
            device_list,
            devices: placed.devices,
            local,
            info: Arc::new(info),
            replicas: placed.replicas,
            partitions: placed.partitions,
            client,
            object,
            serialized: origin.serialized().map(Box::from),
            module,
            results,
        };
        Ok(Self {
            executable: Arc::new(executable),
            runner: Mutex::new(Some(Arc::new(runner))),
        })
    }

    /// What runs it, where it has not been deleted.
    pub fn runner(&self) -> Result<Arc<Runner>> {
        self.runner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .ok_or_else(|| Error::invalid("the executable has been deleted"))
    }

    pub fn into_raw(self) -> *mut PJRT_LoadedExecutable {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// # Safety
/// `handle` is NULL or a loaded executable of this crate.
pub(crate) unsafe fn loaded<'a>(handle: *mut PJRT_LoadedExecutable) -> Result<&'a Loaded> {
    // SAFETY: by this function's contract.
    unsafe { object(handle, "executable") }
}

/// # Safety
/// `handle` is NULL or an executable of this crate.
pub(crate) unsafe fn executable<'a>(handle: *const PJRT_Executable) -> Result<&'a Executable> {
    // SAFETY: by this function's contract.
    unsafe { object(handle, "executable") }
}

impl Executable {
    /// Bytes that `read_serialized` takes.
    pub fn serialize(&self, gil: &Gil) -> Result<Vec<u8>> {
        let code = match &self.serialized {
            Some(code) => code.to_vec(),
            None => gil
                .call(&self.client.jax.serialize, [&self.object])?
                .to_bytes(gil)?,
        };
        Ok(match &self.launch {
            Some(launch) => [MARK, &launch.digest.to_le_bytes(), &code[..]].concat(),
            None => code,
        })
    }
}
