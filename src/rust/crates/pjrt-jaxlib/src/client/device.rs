//! Devices, their descriptions, and memories. All of it is read once, when the client is made.

use crate::base::entry::{entry, object};
use crate::base::error::{Error, Result};
use crate::base::usage::Usage;
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use pjrt_api::{PJRT_Device, PJRT_DeviceDescription, PJRT_Memory};
use std::ffi::c_int;
use std::sync::OnceLock;

/// What a `PJRT_Device` is, and the `PJRT_DeviceDescription` of it too.
pub(crate) struct Device {
    id: c_int,
    local_id: c_int,
    process: c_int,
    is_here: bool,
    kind: String,
    debug: String,
    short: String,
    pub object: Object,
    /// jaxlib's list of this device only, and the sharding that puts arrays on it.
    pub list: Object,
    pub sharding: Object,
    memories: Box<[MemorySpace]>,
    memory_list: Box<[*mut PJRT_Memory]>,
    default_memory: usize,
    /// What its buffers hold.
    pub usage: Usage,
}

/// What a `PJRT_Memory` is.
pub(crate) struct MemorySpace {
    id: c_int,
    kind_id: c_int,
    kind: String,
    debug: String,
    short: String,
    /// The one device that uses it; known once the client's devices have their place.
    devices: OnceLock<[DevicePointer; 1]>,
}

#[repr(transparent)]
#[derive(Clone, Copy)]
struct DevicePointer(*mut PJRT_Device);
// SAFETY: leads to a device, which nobody changes.
unsafe impl Send for DevicePointer {}
// SAFETY: as above.
unsafe impl Sync for DevicePointer {}
// SAFETY: the pointers lead to memories of the same device, which nobody changes.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    pub fn new(gil: &Gil, jax: &Jaxlib, device: Object) -> Result<Self> {
        let facts = gil.call(&jax.device_facts, [&device])?.items(gil)?;
        let placement = gil.call(&jax.placement, [&device])?.items(gil)?;
        let ([id, local_id, kind, debug, short, process, is_here], [list, sharding]) =
            (&facts[..], &placement[..])
        else {
            return Err(Error::internal(
                "device_facts or placement gave the wrong number of facts",
            ));
        };
        let id = id.to_int(gil)? as c_int;
        let described = gil.call(&jax.memory_facts, [&device])?.items(gil)?;
        let count = described.len() as c_int;
        let mut default_memory = 0;
        let mut memories = Vec::new();
        for (i, memory) in described.iter().enumerate() {
            let facts = memory.items(gil)?;
            let [kind, debug, short, default] = &facts[..] else {
                return Err(Error::internal("memory_facts gave no four facts"));
            };
            if default.is_true(gil)? {
                default_memory = i;
            }
            memories.push(MemorySpace {
                id: id * count + i as c_int,
                kind_id: i as c_int,
                kind: kind.text(gil)?,
                debug: debug.text(gil)?,
                short: short.text(gil)?,
                devices: OnceLock::new(),
            });
        }
        let memories = memories.into_boxed_slice();
        Ok(Self {
            id,
            local_id: local_id.to_int(gil)? as c_int,
            process: process.to_int(gil)? as c_int,
            is_here: is_here.is_true(gil)?,
            kind: kind.text(gil)?,
            debug: debug.text(gil)?,
            short: short.text(gil)?,
            list: list.share(gil),
            sharding: sharding.share(gil),
            object: device,
            memory_list: memories.iter().map(|m| handle(m).cast()).collect(),
            memories,
            default_memory,
            usage: Usage::default(),
        })
    }

    /// Tells the memories of their device, once it has its place.
    pub fn link(&self) {
        for memory in &self.memories {
            memory
                .devices
                .get_or_init(|| [DevicePointer(self.handle())]);
        }
    }

    pub fn handle(&self) -> *mut PJRT_Device {
        handle(self).cast()
    }

    pub fn id(&self) -> i64 {
        self.id.into()
    }

    pub fn local_id(&self) -> c_int {
        self.local_id
    }

    /// The process that it belongs to.
    pub fn process(&self) -> c_int {
        self.process
    }

    /// Whether it is one of this process, which alone can put data on it.
    pub fn is_here(&self) -> bool {
        self.is_here
    }

    /// What users know it by.
    pub fn short(&self) -> &str {
        &self.short
    }

    pub fn memory_list(&self) -> &[*mut PJRT_Memory] {
        &self.memory_list
    }

    /// The device, if this process can use it.
    fn local(&self) -> Result<&Self> {
        match self.is_here {
            true => Ok(self),
            false => Err(Error::invalid(format!(
                "{} belongs to another process",
                self.short
            ))),
        }
    }

    pub fn default_memory(&self) -> Result<*mut PJRT_Memory> {
        self.memory_list
            .get(self.default_memory)
            .copied()
            .ok_or_else(|| {
                Error::invalid(format!(
                    "device {} belongs to process {}: its memory is out of reach here",
                    self.short, self.process
                ))
            })
    }
}

impl MemorySpace {
    /// The device that uses it, where it is that device's default memory.
    ///
    /// # Safety
    /// `memory` is NULL or a memory of this crate.
    pub unsafe fn device_of_default(memory: *mut PJRT_Memory) -> Result<*mut PJRT_Device> {
        // SAFETY: by this function's contract.
        let this = unsafe { object::<Self, _>(memory, "memory")? };
        let [DevicePointer(device)] = this
            .devices
            .get()
            .ok_or_else(|| Error::internal("the memory belongs to no device"))?;
        // SAFETY: the device lives as long as its memories.
        let default = unsafe { object::<Device, _>(*device, "device")? }.default_memory()?;
        if default == memory {
            Ok(*device)
        } else {
            Err(Error::unimplemented(format!(
                "buffers live in a device's default memory, not in `{}`",
                this.kind
            )))
        }
    }
}

fn handle<T>(of: &T) -> *mut T {
    std::ptr::from_ref(of).cast_mut()
}

/// # Safety
/// `device` is NULL or a device of this crate.
unsafe fn device<'a>(device: *mut PJRT_Device) -> Result<&'a Device> {
    // SAFETY: by this function's contract.
    unsafe { object(device, "device") }
}

/// # Safety
/// `description` is NULL or a description of this crate.
unsafe fn described<'a>(description: *mut PJRT_DeviceDescription) -> Result<&'a Device> {
    // SAFETY: by this function's contract.
    unsafe { object(description, "device_description") }
}

/// # Safety
/// `memory` is NULL or a memory of this crate.
unsafe fn memory<'a>(memory: *mut PJRT_Memory) -> Result<&'a MemorySpace> {
    // SAFETY: by this function's contract.
    unsafe { object(memory, "memory") }
}

/// Functions that answer one value of the object behind a handle.
macro_rules! answers {
    ($($name:ident($args:ident) = $of:ident($handle:ident) |$this:ident| {
        $($field:ident: $value:expr),* $(,)?
    };)*) => {$(
        entry!($name, $args, |args| {
            // SAFETY: the API's contract.
            let $this = unsafe { $of(args.$handle)? };
            $(args.$field = $value;)*
            Ok(())
        });
    )*};
}

answers! {
    description_id(PJRT_DeviceDescription_Id_Args) = described(device_description) |d| {
        id: d.id,
    };
    description_process_index(PJRT_DeviceDescription_ProcessIndex_Args) =
        described(device_description) |d| { process_index: d.process };
    description_attributes(PJRT_DeviceDescription_Attributes_Args) =
        described(device_description) |_d| { attributes: std::ptr::null(), num_attributes: 0 };
    description_kind(PJRT_DeviceDescription_Kind_Args) = described(device_description) |d| {
        device_kind: d.kind.as_ptr().cast(), device_kind_size: d.kind.len(),
    };
    description_debug(PJRT_DeviceDescription_DebugString_Args) = described(device_description) |d| {
        debug_string: d.debug.as_ptr().cast(), debug_string_size: d.debug.len(),
    };
    description_string(PJRT_DeviceDescription_ToString_Args) = described(device_description) |d| {
        to_string: d.short.as_ptr().cast(), to_string_size: d.short.len(),
    };
    get_description(PJRT_Device_GetDescription_Args) = device(device) |d| {
        device_description: handle(d).cast(),
    };
    is_addressable(PJRT_Device_IsAddressable_Args) = device(device) |d| { is_addressable: d.is_here };
    local_hardware_id(PJRT_Device_LocalHardwareId_Args) = device(device) |d| {
        local_hardware_id: d.local_id,
    };
    addressable_memories(PJRT_Device_AddressableMemories_Args) = device(device) |d| {
        memories: d.memory_list.as_ptr(), num_memories: d.memory_list.len(),
    };
    default_memory(PJRT_Device_DefaultMemory_Args) = device(device) |d| {
        memory: d.default_memory()?,
    };
    memory_stats(PJRT_Device_MemoryStats_Args) = device(device) |d| {
        bytes_in_use: d.local()?.usage.now(),
        peak_bytes_in_use: d.usage.most(), peak_bytes_in_use_is_set: true,
        num_allocs: d.usage.buffers(), num_allocs_is_set: true,
        largest_alloc_size: d.usage.largest(), largest_alloc_size_is_set: true,
    };
    memory_id(PJRT_Memory_Id_Args) = memory(memory) |m| { id: m.id };
    memory_kind(PJRT_Memory_Kind_Args) = memory(memory) |m| {
        kind: m.kind.as_ptr().cast(), kind_size: m.kind.len(),
    };
    memory_kind_id(PJRT_Memory_Kind_Id_Args) = memory(memory) |m| { kind_id: m.kind_id };
    memory_debug(PJRT_Memory_DebugString_Args) = memory(memory) |m| {
        debug_string: m.debug.as_ptr().cast(), debug_string_size: m.debug.len(),
    };
    memory_string(PJRT_Memory_ToString_Args) = memory(memory) |m| {
        to_string: m.short.as_ptr().cast(), to_string_size: m.short.len(),
    };
    memory_devices(PJRT_Memory_AddressableByDevices_Args) = memory(memory) |m| {
        devices: m.devices.get().map_or(std::ptr::null(), |d| d.as_ptr().cast()),
        num_devices: m.devices.get().map_or(0, |d| d.len()),
    };
}
