//! Clients.

use crate::base::entry::{entry, list_entries, object, slice};
use crate::base::environment::Variables;
use crate::base::error::{Error, Result};
use crate::client::device::Device;
use crate::client::options::Options;
use crate::cluster::launch::{Launches, Limit};
use crate::cluster::mesh;
use crate::cluster::mesh::Mesh;
use crate::handlers::jaxlib::jaxlib;
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use pjrt_api::{PJRT_Client, PJRT_Device, PJRT_Memory};
use std::ffi::c_int;
use std::sync::Arc;

/// What a `PJRT_Client` is. Buffers and executables keep it alive, whatever is destroyed first.
pub(crate) struct Client {
    pub jax: &'static Jaxlib,
    pub object: Object,
    platform: String,
    version: String,
    process: c_int,
    /// All devices, of all processes.
    pub devices: Box<[Device]>,
    device_list: Box<[*mut PJRT_Device]>,
    /// Those of this process.
    addressable_list: Box<[*mut PJRT_Device]>,
    /// The processes that the devices belong to, where there are several.
    pub mesh: Option<Arc<Mesh>>,
    memory_list: Box<[*mut PJRT_Memory]>,
    /// Of programs over several devices.
    pub launches: Launches,
}

// SAFETY: the pointers lead into `devices`, which nobody changes.
unsafe impl Send for Client {}
// SAFETY: as above.
unsafe impl Sync for Client {}

impl Client {
    fn new(options: &Options) -> Result<Arc<Self>> {
        if let Some(settings) = &options.mesh {
            // Where XLA is loaded already, it keeps what it was told then.
            mesh::collectives_wait(settings.limits.collective.as_secs());
        }
        let jax = jaxlib()?;
        // XLA sizes its pool by this, once, when the client is made.
        let threads = options
            .pool()
            .map(|threads| Variables::set(&[("NPROC", &threads.to_string())]));
        let (object, mesh) = match &options.mesh {
            Some(settings) => {
                let (client, mesh) =
                    mesh::start(jax, settings, options.devices, options.asynchronous)?;
                (client, Some(mesh))
            }
            None => {
                let gil = jax.gil()?;
                let client = gil.call(
                    &jax.make_client,
                    [&gil.int(options.devices)?, &gil.bool(options.asynchronous)?],
                )?;
                (client, None)
            }
        };
        drop(threads);
        let limit = match &mesh {
            // XLA ends waits for other processes, and devices of one process wait there in the same way.
            Some(mesh) => Limit::Gone(Arc::clone(mesh)),
            None => Limit::Quiet(options.collective),
        };
        let gil = jax.gil()?;
        let facts = gil.call(&jax.client_facts, [&object])?.items(&gil)?;
        let [platform, version, process] = &facts[..] else {
            return Err(Error::internal("client_facts gave no three facts"));
        };
        let devices: Box<[Device]> = gil
            .call(&jax.devices, [&object])?
            .items(&gil)?
            .into_iter()
            .map(|device| Device::new(&gil, jax, device))
            .collect::<Result<_>>()?;
        devices.iter().for_each(Device::link);
        Ok(Arc::new(Self {
            jax,
            platform: platform.text(&gil)?,
            version: format!("jaxlib {} ({})", jax.version, version.text(&gil)?),
            process: process.to_int(&gil)? as c_int,
            device_list: devices.iter().map(Device::handle).collect(),
            addressable_list: here(&devices).map(Device::handle).collect(),
            memory_list: devices
                .iter()
                .flat_map(|d| d.memory_list().iter().copied())
                .collect(),
            mesh,
            object,
            devices,
            launches: Launches::new(jax, limit),
        }))
    }

    /// One more owner of the client behind a handle.
    ///
    /// # Safety
    /// `client` is NULL or a client of this crate.
    pub unsafe fn share(client: *mut PJRT_Client) -> Result<Arc<Self>> {
        // SAFETY: every client handed out came from `Arc::into_raw`.
        unsafe {
            let client = std::ptr::from_ref(object::<Self, _>(client, "client")?);
            Arc::increment_strong_count(client);
            Ok(Arc::from_raw(client))
        }
    }

    /// The device with this id.
    pub fn device(&self, id: i64) -> Result<&Device> {
        self.devices.iter().find(|d| d.id() == id).ok_or_else(|| {
            Error::invalid(format!(
                "no device has the id {id}; the client has {} device(s), from 0 on",
                self.devices.len()
            ))
        })
    }

    /// Whether all devices with these ids are this process's.
    pub fn has_all(&self, ids: &[i64]) -> Result<bool> {
        let mut here = ids.iter().map(|&id| Ok(self.device(id)?.is_here()));
        here.try_fold(true, |all, here| Ok(all & here?))
    }

    /// The device behind a handle, where it is one of this client's.
    pub fn own_device(&self, device: *const PJRT_Device) -> Result<&Device> {
        let device = self
            .devices
            .iter()
            .find(|d| std::ptr::eq(d.handle(), device));
        let device =
            device.ok_or_else(|| Error::invalid("`device` is not a device of this client"))?;
        if device.is_here() {
            return Ok(device);
        }
        Err(Error::invalid(format!(
            "device {} belongs to process {}, this is process {}: data and programs of one device go to \
             those of the own process",
            device.short(),
            device.process(),
            self.process
        )))
    }

    /// The devices of this process.
    pub fn own_devices(&self) -> impl Iterator<Item = &Device> {
        here(&self.devices)
    }

    /// Where a program for so many devices goes if nothing is said: those of this process where they are enough.
    pub fn default_devices(&self, wanted: usize) -> Vec<i64> {
        let own = self.own_devices().count();
        let devices = self.devices.iter();
        let devices = devices.filter(|d| wanted > own || d.is_here());
        devices.map(Device::id).take(wanted).collect()
    }

    /// The jaxlib devices as a Python list.
    pub fn python_devices(&self, gil: &Gil, ids: &[i64]) -> Result<Object> {
        let devices = ids
            .iter()
            .map(|&id| self.device(id))
            .collect::<Result<Vec<&Device>>>()?;
        gil.list(devices.iter().map(|d| &d.object))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(mesh) = &self.mesh {
            mesh::part(mesh);
        }
        if !self.launches.close() {
            // XLA would wait here for the threads of its client.
            if let Ok(gil) = self.jax.gil() {
                std::mem::forget(self.object.share(&gil));
            }
        }
    }
}

/// Those of this process.
fn here(devices: &[Device]) -> impl Iterator<Item = &Device> {
    devices.iter().filter(|d| d.is_here())
}

/// # Safety
/// `client` is NULL or a client of this crate.
unsafe fn client<'a>(client: *mut PJRT_Client) -> Result<&'a Client> {
    // SAFETY: by this function's contract.
    unsafe { object(client, "client") }
}

entry!(create, PJRT_Client_Create_Args, |args| {
    // SAFETY: the API's contract.
    let options = unsafe {
        Options::read(slice(
            args.create_options,
            args.num_options,
            "create_options",
        )?)?
    };
    args.client = Arc::into_raw(Client::new(&options)?).cast_mut().cast();
    Ok(())
});

entry!(destroy, PJRT_Client_Destroy_Args, |args| {
    if !args.client.is_null() {
        // SAFETY: every client handed out came from `Arc::into_raw`; it is destroyed once.
        drop(unsafe { Arc::from_raw(args.client.cast_const().cast::<Client>()) });
    }
    Ok(())
});

list_entries! {
    platform_name, PJRT_Client_PlatformName_Args,
    |args| client(args.client)?.platform => platform_name, platform_name_size;
    platform_version, PJRT_Client_PlatformVersion_Args,
    |args| client(args.client)?.version => platform_version, platform_version_size;
    devices, PJRT_Client_Devices_Args,
    |args| client(args.client)?.device_list => devices, num_devices;
    addressable_devices, PJRT_Client_AddressableDevices_Args,
    |args| client(args.client)?.addressable_list => addressable_devices, num_addressable_devices;
    addressable_memories, PJRT_Client_AddressableMemories_Args,
    |args| client(args.client)?.memory_list => addressable_memories, num_addressable_memories;
}

entry!(process_index, PJRT_Client_ProcessIndex_Args, |args| {
    // SAFETY: the API's contract.
    args.process_index = unsafe { client(args.client)? }.process;
    Ok(())
});

entry!(lookup_device, PJRT_Client_LookupDevice_Args, |args| {
    // SAFETY: the API's contract.
    args.device = unsafe { client(args.client)? }
        .device(args.id.into())?
        .handle();
    Ok(())
});

entry!(
    lookup_addressable_device,
    PJRT_Client_LookupAddressableDevice_Args,
    |args| {
        let id = args.local_hardware_id;
        // SAFETY: the API's contract.
        let device = unsafe { client(args.client)? }
            .own_devices()
            .find(|d| d.local_id() == id);
        args.addressable_device = device
            .ok_or_else(|| Error::invalid(format!("no device has the local hardware id {id}")))?
            .handle();
        Ok(())
    }
);

entry!(
    default_device_assignment,
    PJRT_Client_DefaultDeviceAssignment_Args,
    |args| {
        // SAFETY: the API's contract.
        let client = unsafe { client(args.client)? };
        let wanted = usize::try_from(args.num_replicas)
            .ok()
            .zip(usize::try_from(args.num_partitions).ok())
            .and_then(|(r, p)| r.checked_mul(p))
            .filter(|n| *n > 0 && *n <= client.devices.len() && *n <= args.default_assignment_size);
        let Some(wanted) = wanted.filter(|_| !args.default_assignment.is_null()) else {
            return Err(Error::invalid(format!(
                "cannot place {} replica(s) of {} partition(s) on {} device(s)",
                args.num_replicas,
                args.num_partitions,
                client.devices.len()
            )));
        };
        for (i, id) in client.default_devices(wanted).into_iter().enumerate() {
            // SAFETY: the caller's array holds at least `wanted` numbers.
            unsafe { args.default_assignment.add(i).write(id as c_int) };
        }
        Ok(())
    }
);
