//! Compiled programs.

use crate::client::Client;
use crate::device::Device;
use crate::entry::{entry, object};
use crate::error::{Error, Result};
use crate::frame::Frames;
use crate::mesh::{self, Launch, Mesh};
use crate::proto::{Module, Placement};
use crate::python::{gil::Gil, object::Object};
use crate::run::Names;
use crate::shape::{facts, Shape};
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
    /// Ids and names of all of them.
    pub names: Names,
    /// What processes tell each other of it, where it is for several of them.
    pub launch: Option<Launch>,
    replicas: usize,
    partitions: usize,
    fingerprint: Vec<u8>,
    device_list: Vec<*mut PJRT_Device>,
    result_types: Vec<PJRT_Buffer_Type>,
    result_dims: Vec<i64>,
    result_ranks: Vec<usize>,
    result_memories: Vec<*const c_char>,
    result_memory_sizes: Vec<usize>,
}

// SAFETY: the pointers lead into `client`, or to constants; nobody changes what they lead to.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

/// What running a program needs of jaxlib.
pub(crate) struct Runner {
    /// `execute_sharded` of the executable.
    pub execute: Object,
    /// What makes arrays of the results.
    pub handlers: Object,
    pub frames: Frames,
    /// What a program for more than one device needs.
    pub over: Option<Over>,
}

/// What makes arrays over several devices.
pub(crate) struct Over {
    pub sharding: Object,
    /// What an array of each parameter is.
    pub parameters: Object,
    /// Whether runs can be given an id.
    pub takes_ids: bool,
}

/// A shape as Python gets it: sizes and the name of the dtype.
fn described(gil: &Gil, shape: &Shape) -> Result<[Object; 2]> {
    let dims = shape.dims.iter().map(|&d| gil.int(d));
    let dims = dims.collect::<Result<Vec<Object>>>()?;
    Ok([gil.list(dims.iter())?, gil.string(facts(shape.ty)?.numpy)?])
}

impl Over {
    fn new(
        gil: &Gil,
        client: &Client,
        executable: &Object,
        devices: &[i64],
        parameters: &[Shape],
    ) -> Result<Self> {
        let parameters = parameters
            .iter()
            .map(|shape| gil.list(described(gil, shape)?.iter()))
            .collect::<Result<Vec<Object>>>()?;
        let devices = client.python_devices(gil, devices)?;
        let made = gil.call(
            &client.jax.over_devices,
            [executable, &devices, &gil.list(parameters.iter())?],
        )?;
        let mut made = made.items(gil)?.into_iter();
        match (made.next(), made.next()) {
            (Some(sharding), Some(parameters)) => Ok(Self {
                sharding,
                parameters,
                takes_ids: client.jax.takes_launch_ids.is_true(gil)?,
            }),
            _ => Err(Error::internal("over_devices gave no two objects")),
        }
    }
}

impl Executable {
    /// Whether it is for one device, in all processes together.
    pub fn over_one(&self) -> bool {
        self.devices.len() == 1
    }

    /// The mesh and what its processes tell each other, where it runs in several of them.
    pub fn mesh(&self) -> Option<(&Arc<Mesh>, &Launch)> {
        self.client.mesh.as_ref().zip(self.launch.as_ref())
    }

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

    /// The devices of this process that it runs on.
    pub fn local_devices(&self) -> Result<Vec<&Device>> {
        self.local
            .iter()
            .map(|&id| self.client.device(id))
            .collect()
    }
}

/// What a program was made of.
pub(crate) enum Origin<'a> {
    Compiled(&'a [u8]),
    /// As jaxlib serialised it, and the digest of what had been compiled, where that is known.
    Serialized(&'a [u8], Option<u64>),
}

/// What stands before a serialised program over several processes, and before the digest of what was compiled: one
/// process may have compiled what another one loads.
const MARK: &[u8; 8] = b"xlaffi\0\x01";

/// What jaxlib serialised, and the digest, of what `Executable::serialize` gave, or jaxlib.
pub(crate) fn read_serialized(bytes: &[u8]) -> (&[u8], Option<u64>) {
    let rest = bytes.strip_prefix(MARK);
    match rest.and_then(|rest| rest.split_first_chunk::<8>()) {
        Some((digest, code)) => (code, Some(u64::from_le_bytes(*digest))),
        None => (bytes, None),
    }
}

impl<'a> Origin<'a> {
    fn serialized(&self) -> Option<&'a [u8]> {
        match self {
            Self::Compiled(_) => None,
            Self::Serialized(code, _) => Some(code),
        }
    }

    /// The same in all processes.
    fn digest(&self, partitions: usize) -> u64 {
        match self {
            Self::Serialized(_, Some(digest)) => *digest,
            Self::Compiled(code) | Self::Serialized(code, None) => mesh::digest(code, partitions),
        }
    }
}

/// What a `PJRT_LoadedExecutable` is.
pub(crate) struct Loaded {
    pub executable: Arc<Executable>,
    /// `None` once deleted.
    runner: Mutex<Option<Arc<Runner>>>,
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
                let over = Over::new(gil, &client, &object, ids, &module.parameters)?;
                (Vec::new(), Some(over))
            }
        };
        let runner = Runner {
            execute: gil.call(&jax.executor, [&object])?,
            handlers: gil.list(handlers.iter())?,
            frames: Frames::default(),
            over,
        };
        let name = |&id: &i64| {
            client
                .device(id)
                .map(|device| (id, device.short().to_owned()))
        };
        let names = placed.devices.iter().map(name).collect::<Result<_>>()?;
        const MEMORY: &str = "device";
        let device_list = local
            .iter()
            .map(|&id| client.device(id).map(|d| d.handle()))
            .collect::<Result<_>>()?;
        let parties = placed.devices.iter();
        let parties = parties.map(|&id| Ok(client.device(id)?.process() as u32));
        let mut parties = parties.collect::<Result<Vec<u32>>>()?;
        parties.sort_unstable();
        parties.dedup();
        let launch = (parties.len() > 1).then(|| {
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
                exchanges: module.exchanges,
            }
        });
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
            names,
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

entry!(loaded_destroy, PJRT_LoadedExecutable_Destroy_Args, |args| {
    if !args.executable.is_null() {
        // SAFETY: every one handed out is a boxed `Loaded`, and it is destroyed once.
        drop(unsafe { Box::from_raw(args.executable.cast::<Loaded>()) });
    }
    Ok(())
});

entry!(loaded_delete, PJRT_LoadedExecutable_Delete_Args, |args| {
    // SAFETY: the API's contract.
    let runner = &unsafe { loaded(args.executable)? }.runner;
    let taken = runner.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(taken);
    Ok(())
});

entry!(
    loaded_is_deleted,
    PJRT_LoadedExecutable_IsDeleted_Args,
    |args| {
        // SAFETY: the API's contract.
        args.is_deleted = unsafe { loaded(args.executable)? }.runner().is_err();
        Ok(())
    }
);

entry!(
    get_executable,
    PJRT_LoadedExecutable_GetExecutable_Args,
    |args| {
        // SAFETY: the API's contract.
        let executable = Arc::clone(&unsafe { loaded(args.loaded_executable)? }.executable);
        args.executable = Arc::into_raw(executable).cast_mut().cast();
        Ok(())
    }
);

entry!(
    loaded_devices,
    PJRT_LoadedExecutable_AddressableDevices_Args,
    |args| {
        // SAFETY: the API's contract.
        let list = &unsafe { loaded(args.executable)? }.executable.device_list;
        (args.addressable_devices, args.num_addressable_devices) = (list.as_ptr(), list.len());
        Ok(())
    }
);

entry!(
    loaded_fingerprint,
    PJRT_LoadedExecutable_Fingerprint_Args,
    |args| {
        // SAFETY: the API's contract.
        let text = &unsafe { loaded(args.executable)? }.executable.fingerprint;
        (
            args.executable_fingerprint,
            args.executable_fingerprint_size,
        ) = (text.as_ptr().cast(), text.len());
        Ok(())
    }
);

entry!(destroy, PJRT_Executable_Destroy_Args, |args| {
    if !args.executable.is_null() {
        // SAFETY: every one handed out came from `Arc::into_raw`, and it is destroyed once.
        drop(unsafe { Arc::from_raw(args.executable.cast_const().cast::<Executable>()) });
    }
    Ok(())
});

/// Functions that answer what is known of an executable.
macro_rules! answers {
    ($($name:ident($args:ident) |$this:ident| { $($field:ident: $value:expr),* $(,)? };)*) => {$(
        entry!($name, $args, |args| {
            // SAFETY: the API's contract.
            let $this = unsafe { executable(args.executable)? };
            $(args.$field = $value;)*
            Ok(())
        });
    )*};
}

answers! {
    name(PJRT_Executable_Name_Args) |e| {
        executable_name: e.module.name.as_ptr().cast(), executable_name_size: e.module.name.len(),
    };
    fingerprint(PJRT_Executable_Fingerprint_Args) |e| {
        executable_fingerprint: e.fingerprint.as_ptr().cast(),
        executable_fingerprint_size: e.fingerprint.len(),
    };
    num_replicas(PJRT_Executable_NumReplicas_Args) |e| { num_replicas: e.replicas };
    num_partitions(PJRT_Executable_NumPartitions_Args) |e| { num_partitions: e.partitions };
    num_outputs(PJRT_Executable_NumOutputs_Args) |e| { num_outputs: e.results.len() };
    code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args) |_e| { size_in_bytes: -1 };
    output_types(PJRT_Executable_OutputElementTypes_Args) |e| {
        output_types: e.result_types.as_ptr().cast_mut(), num_output_types: e.result_types.len(),
    };
    output_dims(PJRT_Executable_OutputDimensions_Args) |e| {
        num_outputs: e.results.len(),
        dims: e.result_dims.as_ptr(),
        dim_sizes: e.result_ranks.as_ptr(),
    };
    output_memories(PJRT_Executable_OutputMemoryKinds_Args) |e| {
        num_outputs: e.results.len(),
        memory_kinds: e.result_memories.as_ptr(),
        memory_kind_sizes: e.result_memory_sizes.as_ptr(),
    };
}
