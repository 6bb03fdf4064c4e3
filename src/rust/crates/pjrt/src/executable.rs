//! Compiled programs.

use crate::api::{call, slice, string, Api};
use crate::buffer::Buffer;
use crate::client::Client;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::program::Program;
use pjrt_api::*;
use std::ptr::null_mut;

/// How a program is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteOptions {
    /// Arguments (from 0) that must survive even if the program would reuse their memory.
    pub non_donatable: Vec<usize>,
    /// Tells launches apart in multi-host programs.
    pub launch_id: i32,
}

/// A compiled program, ready to run.
pub struct Executable {
    client: Client,
    loaded: *mut PJRT_LoadedExecutable,
    /// Owned too; NULL where the plugin could not give it.
    executable: *mut PJRT_Executable,
    num_outputs: usize,
    program: Program,
    /// Whether it may take the memory of an argument for a result.
    may_donate: bool,
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
            may_donate: program.may_donate(),
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
        Ok(this)
    }

    fn api(&self) -> Api {
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

    /// The devices that it runs on.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let mut args = PJRT_LoadedExecutable_AddressableDevices_Args::new();
        args.executable = self.loaded;
        // SAFETY: the executable is alive, and the list is copied at once.
        let raw = unsafe {
            call!(self.api(), PJRT_LoadedExecutable_AddressableDevices(args))?;
            slice(args.addressable_devices, args.num_addressable_devices)
        };
        Ok(self
            .client
            .raw_devices()
            .iter()
            .enumerate()
            .filter(|(_, d)| raw.contains(d))
            .map(|(index, _)| Device::new(&self.client, index))
            .collect())
    }

    /// Runs the program. It may still be running when this returns: the outputs' events tell,
    /// and reading waits. A program without outputs is waited for, so that its error is not lost.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for buffers of another client, deleted ones, or an index in
    /// `non_donatable` that is no argument; else what the plugin returns.
    pub fn execute(&self, arguments: &[&Buffer], options: &ExecuteOptions) -> Result<Vec<Buffer>> {
        if self.num_outputs > 0 {
            return self.launch(arguments, options, null_mut());
        }
        let (outputs, done) = self.execute_with_event(arguments, options)?;
        if let Some(done) = done {
            done.wait()?;
        }
        Ok(outputs)
    }

    /// As [`Executable::execute`], never waiting, and with an event for the whole run (`None`
    /// where the plugin gives none).
    ///
    /// # Errors
    /// As [`Executable::execute`].
    pub fn execute_with_event(
        &self,
        arguments: &[&Buffer],
        options: &ExecuteOptions,
    ) -> Result<(Vec<Buffer>, Option<Event>)> {
        let mut event: *mut PJRT_Event = null_mut();
        let outputs = self.launch(arguments, options, &mut event);
        // Taken over first, so that it is freed whatever became of the outputs.
        let event = Event::take(&self.client, event);
        Ok((outputs?, event))
    }

    fn launch(
        &self,
        arguments: &[&Buffer],
        options: &ExecuteOptions,
        event: *mut *mut PJRT_Event,
    ) -> Result<Vec<Buffer>> {
        Error::if_forked()?;
        self.check_arguments(arguments, options)?;
        // Memory that is being read must not be donated under the reader's feet.
        let (_locks, busy) = match self.may_donate {
            true => crate::buffer::lock_for_execution(arguments),
            false => Default::default(),
        };
        let keep: Vec<i64> = options
            .non_donatable
            .iter()
            .chain(&busy)
            .map(|&i| i as i64)
            .collect();
        let mut c_options = PJRT_ExecuteOptions::new();
        c_options.launch_id = options.launch_id;
        c_options.non_donatable_input_indices = keep.as_ptr();
        c_options.num_non_donatable_input_indices = keep.len();
        let inputs: Vec<*mut PJRT_Buffer> = arguments.iter().map(|b| b.raw()).collect();
        let input_list = inputs.as_ptr();
        let mut outputs = vec![null_mut::<PJRT_Buffer>(); self.num_outputs];
        let output_list = outputs.as_mut_ptr();
        let mut args = PJRT_LoadedExecutable_Execute_Args::new();
        args.executable = self.loaded;
        args.options = &mut c_options;
        args.argument_lists = &input_list;
        args.num_devices = 1;
        args.num_args = inputs.len();
        args.output_lists = &output_list;
        args.device_complete_events = event;
        // SAFETY: executable and buffers are alive; all lists outlive the call and have the
        // lengths that go with them.
        let outcome = unsafe { call!(self.api(), PJRT_LoadedExecutable_Execute(args)) };
        if let Err(e) = outcome {
            return Err(self.explain(e, arguments));
        }
        // All outputs are taken over before one of them may turn out to be unusable.
        let taken: Vec<Result<Buffer>> = outputs
            .into_iter()
            .map(|raw| Buffer::take(&self.client, raw))
            .collect();
        taken.into_iter().collect()
    }

    fn check_arguments(&self, arguments: &[&Buffer], options: &ExecuteOptions) -> Result<()> {
        for (i, buffer) in arguments.iter().enumerate() {
            if !buffer.client().is_same(&self.client) {
                return Err(Error::argument(format!(
                    "argument {} belongs to another client ({}) than the program ({})",
                    i + 1,
                    buffer.client().platform_name(),
                    self.client.platform_name()
                )));
            }
        }
        match options
            .non_donatable
            .iter()
            .find(|&&i| i >= arguments.len())
        {
            Some(i) => Err(Error::argument(format!(
                "non-donatable argument {} does not exist: there are {}",
                i + 1,
                arguments.len()
            ))),
            None => Ok(()),
        }
    }

    /// A plugin's complaint, or a clearer one where an argument is gone.
    fn explain(&self, error: Error, arguments: &[&Buffer]) -> Error {
        for (i, buffer) in arguments.iter().enumerate() {
            if buffer.is_deleted().unwrap_or(false) {
                return crate::buffer::deleted(&format!("argument {}: execution", i + 1));
            }
        }
        error
    }
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executable")
            .field("num_outputs", &self.num_outputs)
            .finish_non_exhaustive()
    }
}
