//! Clients: a plugin's connection to its devices.

use crate::api::{call, slice, string, Api};
use crate::error::{Error, Result};
use crate::plugin::Plugin;
use crate::value::{self, Value};
use pjrt_api::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// A client. Cheap to clone; destroyed when the last object made from it is gone.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    plugin: Plugin,
    raw: *mut PJRT_Client,
    number: u32,
    platform_name: String,
    /// All devices, of all processes.
    devices: Vec<*mut PJRT_Device>,
    /// Those of this process.
    addressable: Vec<*mut PJRT_Device>,
}

// SAFETY: the API allows calls on a client from any thread; the rest is constant.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut args = PJRT_Client_Destroy_Args::new();
        args.client = self.raw;
        // SAFETY: buffers, executables and events hold this object, so none of them is left.
        // An error at destruction has nobody to go to.
        let _ = unsafe { call!(self.plugin.api(), PJRT_Client_Destroy(args)) };
    }
}

/// The number of the next client.
static NUMBERS: AtomicU32 = AtomicU32::new(1);

impl Plugin {
    /// Creates a client. Options are the plugin's own.
    ///
    /// # Errors
    /// What the plugin returns, for instance where there is no such hardware.
    pub fn client(&self, options: &[(String, Value)]) -> Result<Client> {
        Client::create(self, options)
    }
}

impl Client {
    fn create(plugin: &Plugin, options: &[(String, Value)]) -> Result<Self> {
        Error::if_forked()?;
        fork::started();
        let options = value::to_c(options);
        let mut args = PJRT_Client_Create_Args::new();
        args.create_options = options.as_ptr();
        args.num_options = options.len();
        // SAFETY: the options outlive the call.
        unsafe { call!(plugin.api(), PJRT_Client_Create(args))? };
        // From here on the client is destroyed on every path.
        let mut inner = Inner {
            plugin: plugin.clone(),
            raw: args.client,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            platform_name: String::new(),
            devices: Vec::new(),
            addressable: Vec::new(),
        };
        let mut name = PJRT_Client_PlatformName_Args::new();
        name.client = inner.raw;
        let mut addressable = PJRT_Client_AddressableDevices_Args::new();
        addressable.client = inner.raw;
        let mut all = PJRT_Client_Devices_Args::new();
        all.client = inner.raw;
        // SAFETY: the client is alive, and what it lends is copied at once.
        unsafe {
            call!(plugin.api(), PJRT_Client_PlatformName(name))?;
            inner.platform_name = string(name.platform_name, name.platform_name_size);
            call!(plugin.api(), PJRT_Client_AddressableDevices(addressable))?;
            inner.addressable = slice(
                addressable.addressable_devices,
                addressable.num_addressable_devices,
            )
            .to_vec();
            // A plugin that cannot tell has no others.
            inner.devices = match call!(plugin.api(), PJRT_Client_Devices(all)) {
                Ok(_) => slice(all.devices, all.num_devices).to_vec(),
                Err(_) => inner.addressable.clone(),
            };
        }
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    pub(crate) fn api(&self) -> Api {
        self.inner.plugin.api()
    }

    pub(crate) fn raw(&self) -> *mut PJRT_Client {
        self.inner.raw
    }

    pub(crate) fn raw_devices(&self) -> &[*mut PJRT_Device] {
        &self.inner.devices
    }

    /// Whether device memory is ordinary memory of this process.
    pub(crate) fn on_host(&self) -> bool {
        self.inner.platform_name == "cpu"
    }

    /// The plugin that it was made from.
    pub fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// XLA's name of the platform, e.g. `"cpu"`, `"cuda"`.
    pub fn platform_name(&self) -> &str {
        &self.inner.platform_name
    }

    /// What the plugin says about its version; free text.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn platform_version(&self) -> Result<String> {
        let mut args = PJRT_Client_PlatformVersion_Args::new();
        args.client = self.raw();
        // SAFETY: the client is alive, and the text is copied at once.
        unsafe {
            call!(self.api(), PJRT_Client_PlatformVersion(args))?;
            Ok(string(args.platform_version, args.platform_version_size))
        }
    }

    pub(crate) fn is_addressable(&self, device: *mut PJRT_Device) -> bool {
        self.inner.addressable.contains(&device)
    }

    /// The number of this process among those that compute together.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn process_index(&self) -> Result<i32> {
        let mut args = PJRT_Client_ProcessIndex_Args::new();
        args.client = self.raw();
        // SAFETY: the client is alive.
        unsafe { call!(self.api(), PJRT_Client_ProcessIndex(args))? };
        Ok(args.process_index)
    }

    /// Its number among the clients of this process, which no other one gets.
    pub fn number(&self) -> u32 {
        self.inner.number
    }

    /// Whether both are the same client.
    pub fn is_same(&self, other: &Client) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The first device, which is where data goes if nothing else is said.
    pub(crate) fn first_device(&self) -> Result<*mut PJRT_Device> {
        self.inner.addressable.first().copied().ok_or_else(|| {
            Error::argument(format!(
                "the {} client has no device that this process can use",
                self.platform_name()
            ))
        })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("platform_name", &self.platform_name())
            .field("devices", &self.inner.devices.len())
            .finish()
    }
}
