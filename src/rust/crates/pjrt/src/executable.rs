//! Compiled programs.

use crate::api::{call, slice, string, Api};
use crate::client::Client;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::program::{Program, ProgramFormat};
use crate::sharding::{Sharding, Shardings};
use pjrt_api::*;
use proto_wire::Fields;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// A compiled program, ready to run.
pub struct Executable {
    pub(crate) client: Client,
    pub(crate) loaded: *mut PJRT_LoadedExecutable,
    /// Owned too; NULL where the plugin could not give it.
    executable: *mut PJRT_Executable,
    pub(crate) num_outputs: usize,
    /// How many of its devices this process can use.
    pub(crate) num_devices: usize,
    is_over_several: bool,
    shardings: OnceLock<Shardings>,
    program: Program,
    /// Whether it may take the memory of an argument for a result.
    pub(crate) may_donate: bool,
    /// What it was loaded from, where it may donate: XLA of 2026-06 writes such an executable, if it was itself loaded, as one
    /// that refuses to run.
    loaded_from: Option<Vec<u8>>,
}

// SAFETY: the API allows calls on an executable from any thread.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Drop for Executable {
    fn drop(&mut self) {
        if !self.executable.is_null() {
            let mut args = PJRT_Executable_Destroy_Args::new();
            args.executable = self.executable;
            // SAFETY: ours, given up here. An error has nobody to go to.
            let _ = unsafe { call!(self.api(), PJRT_Executable_Destroy(args)) };
        }
        let mut args = PJRT_LoadedExecutable_Destroy_Args::new();
        args.executable = self.loaded;
        // SAFETY: as above; the client is still alive.
        let _ = unsafe { call!(self.api(), PJRT_LoadedExecutable_Destroy(args)) };
    }
}

impl Executable {
    /// Takes over a loaded executable of `client`, which was made of `program`.
    pub(crate) fn new(
        client: &Client,
        loaded: *mut PJRT_LoadedExecutable,
        program: &Program,
    ) -> Result<Self> {
        let mut this = Self {
            client: client.clone(),
            loaded,
            executable: null_mut(),
            num_outputs: 0,
            num_devices: 1,
            is_over_several: false,
            shardings: OnceLock::new(),
            may_donate: program.may_donate(),
            loaded_from: None,
            program: program.clone(),
        };
        let mut get = PJRT_LoadedExecutable_GetExecutable_Args::new();
        get.loaded_executable = loaded;
        // SAFETY: the executable is alive.
        unsafe { call!(this.api(), PJRT_LoadedExecutable_GetExecutable(get))? };
        this.executable = get.executable;
        let mut count = PJRT_Executable_NumOutputs_Args::new();
        count.executable = this.executable;
        // SAFETY: as above.
        unsafe { call!(this.api(), PJRT_Executable_NumOutputs(count))? };
        this.num_outputs = count.num_outputs;
        // One that cannot tell has no others.
        if let Ok(devices) = this.raw_devices() {
            this.num_devices = devices.len();
        }
        let copies = this.num_replicas().unwrap_or(1);
        let parts = this.num_partitions().unwrap_or(1);
        this.is_over_several = this.num_devices != 1 || copies * parts != 1;
        Ok(this)
    }

    /// Notes what it was loaded from.
    pub(crate) fn note_source(&mut self, bytes: &[u8]) {
        self.loaded_from = self.may_donate.then(|| bytes.to_vec());
    }

    pub(crate) fn api(&self) -> Api {
        self.client.api()
    }

    /// The client that compiled it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What it was compiled from.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The compiled program as bytes, which [`Client::load`] makes an executable of: with the same version of the
    /// same plugin, on a machine like this one.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        if let Some(bytes) = &self.loaded_from {
            return Ok(bytes.clone());
        }
        let mut args = PJRT_Executable_Serialize_Args::new();
        args.executable = self.executable;
        // SAFETY: the executable is alive. The bytes are the plugin's until its deleter is called, and are
        // copied before.
        unsafe {
            call!(self.api(), PJRT_Executable_Serialize(args))?;
            let bytes = slice(
                args.serialized_bytes.cast::<u8>(),
                args.serialized_bytes_size,
            )
            .to_vec();
            if let Some(free) = args.serialized_executable_deleter {
                free(args.serialized_executable);
            }
            Ok(bytes)
        }
    }

    /// Number of arrays that it returns.
    pub fn num_outputs(&self) -> usize {
        self.num_outputs
    }

    /// The program's name.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn name(&self) -> Result<String> {
        let mut args = PJRT_Executable_Name_Args::new();
        args.executable = self.executable;
        // SAFETY: the executable is alive, and the text is copied at once.
        unsafe {
            call!(self.api(), PJRT_Executable_Name(args))?;
            Ok(string(args.executable_name, args.executable_name_size))
        }
    }

    /// Element types of the outputs; `None` for one that this host does not support.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn output_dtypes(&self) -> Result<Vec<Option<DType>>> {
        let mut args = PJRT_Executable_OutputElementTypes_Args::new();
        args.executable = self.executable;
        // SAFETY: the executable is alive, and the list is copied at once.
        unsafe {
            call!(self.api(), PJRT_Executable_OutputElementTypes(args))?;
            Ok(slice(args.output_types, args.num_output_types)
                .iter()
                .map(|&t| DType::from_pjrt(t))
                .collect())
        }
    }

    /// Shapes of the outputs.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn output_dims(&self) -> Result<Vec<Vec<i64>>> {
        let mut args = PJRT_Executable_OutputDimensions_Args::new();
        args.executable = self.executable;
        // SAFETY: the executable is alive; `dims` holds the shapes one after the other, each as
        // long as `dim_sizes` says.
        unsafe {
            call!(self.api(), PJRT_Executable_OutputDimensions(args))?;
            let sizes = slice(args.dim_sizes, args.num_outputs);
            let mut all = slice(args.dims, sizes.iter().sum());
            Ok(sizes
                .iter()
                .map(|&n| {
                    let (shape, rest) = all.split_at(n);
                    all = rest;
                    shape.to_vec()
                })
                .collect())
        }
    }

    fn raw_devices(&self) -> Result<&[*mut PJRT_Device]> {
        let mut args = PJRT_LoadedExecutable_AddressableDevices_Args::new();
        args.executable = self.loaded;
        // SAFETY: the executable is alive, and with it the list.
        unsafe {
            call!(self.api(), PJRT_LoadedExecutable_AddressableDevices(args))?;
            Ok(slice(
                args.addressable_devices,
                args.num_addressable_devices,
            ))
        }
    }

    /// How many devices of this process it runs on.
    pub fn num_devices(&self) -> usize {
        self.num_devices
    }

    /// The devices of this process that it runs on, in the order of the device assignment: that of
    /// [`execute_on`](Self::execute_on).
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let known = self.client.raw_devices();
        let devices = self.raw_devices()?.iter();
        Ok(devices
            .filter_map(|raw| known.iter().position(|device| device == raw))
            .map(|index| Device::new(&self.client, index))
            .collect())
    }

    /// Whether it runs on several devices, be they of this process or of others.
    pub fn is_over_several(&self) -> bool {
        self.is_over_several
    }

    /// How many copies of the program run side by side.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn num_replicas(&self) -> Result<usize> {
        let mut args = PJRT_Executable_NumReplicas_Args::new();
        args.executable = self.executable;
        // SAFETY: the executable is alive.
        unsafe { call!(self.api(), PJRT_Executable_NumReplicas(args))? };
        Ok(args.num_replicas)
    }

    /// Over how many devices each copy is partitioned.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn num_partitions(&self) -> Result<usize> {
        let mut args = PJRT_Executable_NumPartitions_Args::new();
        args.executable = self.executable;
        // SAFETY: the executable is alive.
        unsafe { call!(self.api(), PJRT_Executable_NumPartitions(args))? };
        Ok(args.num_partitions)
    }

    /// How XLA split parameters and results of a partitioned program over its devices. Of one that was not partitioned
    /// the module says nothing.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn shardings(&self) -> Result<&Shardings> {
        if let Some(known) = self.shardings.get() {
            return Ok(known);
        }
        let module = self.optimized_program()?;
        let read = match module.format() {
            ProgramFormat::Hlo => Shardings::read(module.code()),
            ProgramFormat::Mlir => Shardings::default(),
        };
        Ok(self.shardings.get_or_init(|| read))
    }

    /// How each result is split; [`Sharding::Unknown`] where the module does not tell.
    ///
    /// # Errors
    /// As [`shardings`](Self::shardings).
    pub fn result_shardings(&self) -> Result<Vec<Sharding>> {
        let known = &self.shardings()?.results;
        Ok(match known.len() == self.num_outputs {
            true => known.clone(),
            false => vec![Sharding::Unknown; self.num_outputs],
        })
    }

    /// The program as the compiler left it.
    ///
    /// # Errors
    /// What the plugin returns; `UNIMPLEMENTED` where it cannot tell.
    pub fn optimized_program(&self) -> Result<Program> {
        let mut program = PJRT_Program::new();
        let mut args = PJRT_Executable_OptimizedProgram_Args::new();
        (args.executable, args.program) = (self.executable, &mut program);
        // SAFETY: the executable is alive. The first call, without memory, tells how much is needed; the second writes
        // into memory of that size. The format's name is the plugin's, and copied.
        let (code, format) = unsafe {
            call!(self.api(), PJRT_Executable_OptimizedProgram(args))?;
            let mut code = vec![0_u8; program.code_size];
            program.code = code.as_mut_ptr().cast();
            call!(self.api(), PJRT_Executable_OptimizedProgram(args))?;
            code.truncate(program.code_size);
            (code, string(program.format, program.format_size))
        };
        Ok(match format.as_str() {
            "mlir" => Program::new(code, ProgramFormat::Mlir),
            // An `HloModuleProtoWithConfig`, whose first field is the module.
            "hlo_with_config" => {
                let module = Fields(&code).find(|(number, _)| *number == 1);
                let module = module.map_or_else(Vec::new, |(_, module)| module.bytes().to_vec());
                Program::new(module, ProgramFormat::Hlo)
            }
            _ => Program::new(code, ProgramFormat::Hlo),
        })
    }
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executable")
            .field("num_outputs", &self.num_outputs)
            .finish_non_exhaustive()
    }
}
