//! Devices and their memories.

use crate::api::{call, slice, string, Api};
use crate::client::Client;
use crate::error::Result;
use pjrt_api::*;

/// A device of a client. Cheap to clone.
#[derive(Clone)]
pub struct Device {
    client: Client,
    index: usize,
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.client.is_same(&other.client)
    }
}

impl Client {
    /// All devices: of several processes where these compute together.
    pub fn devices(&self) -> Vec<Device> {
        (0..self.raw_devices().len())
            .map(|index| Device::new(self, index))
            .collect()
    }

    /// The devices that this process can use.
    pub fn addressable_devices(&self) -> Vec<Device> {
        let mut devices = self.devices();
        devices.retain(Device::is_addressable);
        devices
    }
}

/// A text that the plugin has of a device or a memory.
macro_rules! text_function {
    (
        $(#[$doc:meta])*
        $name:ident($this:ident) = $function:ident, $args:ident { $handle:ident: $value:expr }, $api:expr,
        $text:ident, $size:ident
    ) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// What the plugin returns.
        pub fn $name(&$this) -> Result<String> {
            let mut args = $args::new();
            args.$handle = $value;
            // SAFETY: what is described is alive, and the text is copied at once.
            unsafe {
                call!($api, $function(args))?;
                Ok(string(args.$text, args.$size))
            }
        }
    };
}

impl Device {
    pub(crate) fn new(client: &Client, index: usize) -> Self {
        Self {
            client: client.clone(),
            index,
        }
    }

    pub(crate) fn raw(&self) -> *mut PJRT_Device {
        self.client.raw_devices()[self.index]
    }

    fn api(&self) -> Api {
        self.client.api()
    }

    fn description(&self) -> Result<*mut PJRT_DeviceDescription> {
        let mut args = PJRT_Device_GetDescription_Args::new();
        args.device = self.raw();
        // SAFETY: a device lives as long as its client.
        unsafe { call!(self.api(), PJRT_Device_GetDescription(args))? };
        Ok(args.device_description)
    }

    /// The client that it belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its place among the client's devices, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether this process can use it: put data on it and read them.
    pub fn is_addressable(&self) -> bool {
        self.client.is_addressable(self.raw())
    }

    /// The number of the process that it belongs to.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn process_index(&self) -> Result<i32> {
        let mut args = PJRT_DeviceDescription_ProcessIndex_Args::new();
        args.device_description = self.description()?;
        // SAFETY: a description lives as long as its device.
        unsafe { call!(self.api(), PJRT_DeviceDescription_ProcessIndex(args))? };
        Ok(args.process_index)
    }

    /// Its id, unique among all devices of the platform.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn id(&self) -> Result<i32> {
        let mut args = PJRT_DeviceDescription_Id_Args::new();
        args.device_description = self.description()?;
        // SAFETY: a description lives as long as its device.
        unsafe { call!(self.api(), PJRT_DeviceDescription_Id(args))? };
        Ok(args.id)
    }

    /// The hardware's own number, e.g. CUDA's ordinal; -1 where there is none.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn local_hardware_id(&self) -> Result<i32> {
        let mut args = PJRT_Device_LocalHardwareId_Args::new();
        args.device = self.raw();
        // SAFETY: a device lives as long as its client.
        unsafe { call!(self.api(), PJRT_Device_LocalHardwareId(args))? };
        Ok(args.local_hardware_id)
    }

    text_function! {
        /// The vendor's name of the kind of device.
        kind(self) = PJRT_DeviceDescription_Kind,
        PJRT_DeviceDescription_Kind_Args { device_description: self.description()? }, self.api(),
        device_kind, device_kind_size
    }
    text_function! {
        /// The plugin's short text for the device, e.g. `"CpuDevice(id=0)"`.
        text(self) = PJRT_DeviceDescription_ToString,
        PJRT_DeviceDescription_ToString_Args { device_description: self.description()? }, self.api(),
        to_string, to_string_size
    }
    text_function! {
        /// The plugin's long text for the device.
        debug_text(self) = PJRT_DeviceDescription_DebugString,
        PJRT_DeviceDescription_DebugString_Args { device_description: self.description()? }, self.api(),
        debug_string, debug_string_size
    }

    /// What the plugin tells of the device's memory.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn memory_stats(&self) -> Result<MemoryStats> {
        let mut args = PJRT_Device_MemoryStats_Args::new();
        args.device = self.raw();
        // SAFETY: a device lives as long as its client.
        unsafe { call!(self.api(), PJRT_Device_MemoryStats(args))? };
        Ok(MemoryStats::from_args(&args))
    }

    /// The memories that it can address.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn memories(&self) -> Result<Vec<Memory>> {
        let mut args = PJRT_Device_AddressableMemories_Args::new();
        args.device = self.raw();
        // SAFETY: a device lives as long as its client, and so does its list.
        unsafe {
            call!(self.api(), PJRT_Device_AddressableMemories(args))?;
            Ok(slice(args.memories, args.num_memories)
                .iter()
                .map(|&raw| Memory::new(&self.client, raw))
                .collect())
        }
    }

    /// The memory where its buffers go if nothing else is said.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn default_memory(&self) -> Result<Memory> {
        let mut args = PJRT_Device_DefaultMemory_Args::new();
        args.device = self.raw();
        // SAFETY: a device lives as long as its client.
        unsafe { call!(self.api(), PJRT_Device_DefaultMemory(args))? };
        Ok(Memory::new(&self.client, args.memory))
    }
}

macro_rules! memory_stats {
    ($($(#[$doc:meta])* $name:ident: $is_set:ident,)*) => {
        /// What a plugin tells of a device's memory, in bytes but for the number of allocations; `None` where it does not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct MemoryStats {
            /// In use now.
            pub bytes_in_use: i64,
            $($(#[$doc])* pub $name: Option<i64>,)*
        }

        impl MemoryStats {
            fn from_args(args: &PJRT_Device_MemoryStats_Args) -> Self {
                Self {
                    bytes_in_use: args.bytes_in_use,
                    $($name: args.$is_set.then_some(args.$name),)*
                }
            }

            /// All of it, with the names that the API has.
            pub fn entries(&self) -> Vec<(&'static str, Option<i64>)> {
                vec![
                    ("bytes_in_use", Some(self.bytes_in_use)),
                    $((stringify!($name), self.$name),)*
                ]
            }
        }
    };
}

memory_stats! {
    /// The most that was in use.
    peak_bytes_in_use: peak_bytes_in_use_is_set,
    /// How many pieces of memory were given out.
    num_allocs: num_allocs_is_set,
    /// The largest one.
    largest_alloc_size: largest_alloc_size_is_set,
    /// As much as may be in use.
    bytes_limit: bytes_limit_is_set,
    /// Reserved.
    bytes_reserved: bytes_reserved_is_set,
    /// The most that was reserved.
    peak_bytes_reserved: peak_bytes_reserved_is_set,
    /// As much as may be reserved.
    bytes_reservable_limit: bytes_reservable_limit_is_set,
    /// The largest piece that is free.
    largest_free_block_bytes: largest_free_block_bytes_is_set,
    /// The pool's.
    pool_bytes: pool_bytes_is_set,
    /// The most that the pool had.
    peak_pool_bytes: peak_pool_bytes_is_set,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({}, {})", self.client.platform_name(), self.index)
    }
}

/// A memory of a device.
#[derive(Clone)]
pub struct Memory {
    client: Client,
    raw: *mut PJRT_Memory,
}

// SAFETY: a memory is constant and lives as long as its client.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(client: &Client, raw: *mut PJRT_Memory) -> Self {
        Self {
            client: client.clone(),
            raw,
        }
    }

    pub(crate) fn raw(&self) -> *mut PJRT_Memory {
        self.raw
    }

    /// Its id, unique among the client's memories.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn id(&self) -> Result<i32> {
        let mut args = PJRT_Memory_Id_Args::new();
        args.memory = self.raw;
        // SAFETY: a memory lives as long as its client.
        unsafe { call!(self.client.api(), PJRT_Memory_Id(args))? };
        Ok(args.id)
    }

    text_function! {
        /// What kind of memory it is, e.g. `"device"`, `"pinned_host"`.
        kind(self) = PJRT_Memory_Kind, PJRT_Memory_Kind_Args { memory: self.raw }, self.client.api(), kind, kind_size
    }
    text_function! {
        /// The plugin's short text for the memory.
        text(self) = PJRT_Memory_ToString, PJRT_Memory_ToString_Args { memory: self.raw }, self.client.api(),
        to_string, to_string_size
    }
}
