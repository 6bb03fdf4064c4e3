//! Running programs.

use crate::api::call;
use crate::buffer::Buffer;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::executable::Executable;
use pjrt_api::*;
use std::ptr::null_mut;

const CALL: &str = "PJRT_LoadedExecutable_Execute";

/// How a program is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteOptions {
    /// Arguments (from 0) that must survive even if the program would reuse their memory.
    pub non_donatable: Vec<usize>,
    /// Tells launches apart in multi-host programs.
    pub launch_id: i32,
}

impl Executable {
    /// Runs a program for one device. It may still be running when this returns: the outputs' events tell,
    /// and reading waits. A program without outputs is waited for, so that its error is not lost.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for buffers of another client, deleted ones, an index in `non_donatable` that is no argument,
    /// or a program for several devices; else what the plugin returns.
    pub fn execute(&self, arguments: &[&Buffer], options: &ExecuteOptions) -> Result<Vec<Buffer>> {
        if self.num_outputs > 0 {
            return self.launch(&[arguments], options, &mut []);
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
        let outputs = self.launch(&[arguments], options, std::slice::from_mut(&mut event));
        // Taken over first, so that it is freed whatever became of the outputs.
        let event = Event::take(&self.client, event);
        Ok((outputs?, event))
    }

    /// Runs the program on all of its devices that are in this process: `arguments` has a list for each, in the order
    /// of [`devices`](Self::devices), with the device's part of each argument, and so have the outputs. Otherwise as
    /// [`Executable::execute`].
    ///
    /// # Errors
    /// As [`Executable::execute`], and for lists that are too many, too few or not of one length.
    pub fn execute_on(
        &self,
        arguments: &[Vec<&Buffer>],
        options: &ExecuteOptions,
    ) -> Result<Vec<Vec<Buffer>>> {
        let lists: Vec<&[&Buffer]> = arguments.iter().map(Vec::as_slice).collect();
        if self.num_outputs > 0 {
            let mut outputs = self.launch(&lists, options, &mut [])?.into_iter();
            let lists = lists.iter();
            return Ok(lists
                .map(|_| outputs.by_ref().take(self.num_outputs).collect())
                .collect());
        }
        let mut events = vec![null_mut(); lists.len()];
        let outcome = self.launch(&lists, options, &mut events);
        let events: Vec<Option<Event>> = events
            .into_iter()
            .map(|event| Event::take(&self.client, event))
            .collect();
        outcome?;
        // All are waited for, so that none is running any more when an error is told.
        let outcomes: Vec<Result<()>> = events.iter().flatten().map(Event::wait).collect();
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(lists.iter().map(|_| Vec::new()).collect())
    }

    /// The outputs of all devices, one device after the other. `events` has a place for each device, or none.
    fn launch(
        &self,
        arguments: &[&[&Buffer]],
        options: &ExecuteOptions,
        events: &mut [*mut PJRT_Event],
    ) -> Result<Vec<Buffer>> {
        Error::if_forked()?;
        let num_args = self.check_arguments(arguments, options)?;
        let all: Vec<&Buffer> = arguments.concat();
        // Memory that is being read must not be donated under the reader's feet.
        let (_locks, busy) = match self.may_donate {
            true => crate::buffer::lock_for_execution(&all),
            false => Default::default(),
        };
        let keep: Vec<i64> = options
            .non_donatable
            .iter()
            .copied()
            .chain(busy.iter().map(|place| place % num_args))
            .map(|i| i as i64)
            .collect();
        let mut c_options = PJRT_ExecuteOptions::new();
        c_options.launch_id = options.launch_id;
        c_options.non_donatable_input_indices = keep.as_ptr();
        c_options.num_non_donatable_input_indices = keep.len();
        let inputs: Vec<*mut PJRT_Buffer> = all.iter().map(|b| b.raw()).collect();
        let input_lists: Vec<*const *mut PJRT_Buffer> = (0..self.num_devices)
            .map(|device| inputs[device * num_args..].as_ptr())
            .collect();
        let mut outputs = vec![null_mut::<PJRT_Buffer>(); self.num_devices * self.num_outputs];
        let first = outputs.as_mut_ptr();
        let output_lists: Vec<*mut *mut PJRT_Buffer> = (0..self.num_devices)
            .map(|device| first.wrapping_add(device * self.num_outputs))
            .collect();
        let mut args = PJRT_LoadedExecutable_Execute_Args::new();
        args.executable = self.loaded;
        args.options = &mut c_options;
        args.argument_lists = input_lists.as_ptr();
        args.num_devices = self.num_devices;
        args.num_args = num_args;
        args.output_lists = output_lists.as_ptr();
        if !events.is_empty() {
            args.device_complete_events = events.as_mut_ptr();
        }
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

    /// How many arguments there are for each device.
    fn check_arguments(&self, arguments: &[&[&Buffer]], options: &ExecuteOptions) -> Result<usize> {
        if arguments.len() != self.num_devices {
            return Err(Error::argument(format!(
                "the program runs on {} devices of this process, there are arguments for {}",
                self.num_devices,
                arguments.len()
            )));
        }
        let num_args = arguments.first().map_or(0, |list| list.len());
        for (device, list) in arguments.iter().enumerate() {
            if list.len() != num_args {
                return Err(Error::argument(format!(
                    "there are {num_args} arguments for the first device and {} for device {} of the program",
                    list.len(),
                    device + 1
                )));
            }
            for (i, buffer) in list.iter().enumerate() {
                if !buffer.client().is_same(&self.client) {
                    return Err(Error::argument(format!(
                        "{} belongs to another client ({}) than the program ({})",
                        self.argument(i, device),
                        buffer.client().platform_name(),
                        self.client.platform_name()
                    )));
                }
            }
        }
        match options.non_donatable.iter().find(|&&i| i >= num_args) {
            Some(i) => Err(Error::argument(format!(
                "non-donatable argument {} does not exist: there are {num_args}",
                i + 1
            ))),
            None => Ok(num_args),
        }
    }

    /// Compares the arguments of a program on one device with its parameters, for plugins that look at sizes only: there a
    /// transposed matrix, or one of another element type, passes for the right one. Where the plugin does not tell what
    /// the parameters are, everything fits.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for another number of arguments, and for one of another element type, shape or device.
    pub fn check_parameters(&self, arguments: &[&Buffer]) -> Result<()> {
        let Ok(shardings) = self.shardings() else {
            return Ok(());
        };
        let parameters = &shardings.parameter_parts;
        if parameters.is_empty() || parameters.iter().any(|part| part.dtype.is_none()) {
            return Ok(());
        }
        let wrong = |text| Err(Error::argument(format!("{CALL}: {text}")));
        if parameters.len() != arguments.len() {
            let name = self.name().unwrap_or_default();
            let (count, came) = (parameters.len(), arguments.len());
            return wrong(format!("`{name}` takes {count} argument(s), got {came}"));
        }
        let devices = match self.client.raw_devices() {
            [_] => Vec::new(),
            _ => self.devices()?,
        };
        for (i, (buffer, parameter)) in arguments.iter().zip(parameters).enumerate() {
            let argument = self.argument(i, 0);
            if parameter.dtype != Some(buffer.dtype()) || parameter.dims != buffer.dims() {
                let wanted = shown(parameter.dtype, &parameter.dims);
                let came = shown(Some(buffer.dtype()), buffer.dims());
                return wrong(format!(
                    "{argument} must have dtype and shape {wanted}, got {came}"
                ));
            }
            // Not every plugin tells where a buffer is.
            let [device] = &devices[..] else {
                continue;
            };
            match buffer.device() {
                Ok(on) if on.id()? != device.id()? => {
                    let (on, device) = (on.text()?, device.text()?);
                    return wrong(format!(
                        "{argument} is on device {on}, but the program was compiled for device {device}"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What errors call an argument, on the device at a place among the program's.
    pub fn argument(&self, i: usize, device: usize) -> String {
        let argument = format!("argument {}", i + 1);
        if !self.is_over_several() {
            return argument;
        }
        let devices = self.devices().unwrap_or_default();
        let label = devices.get(device).and_then(|device| device.text().ok());
        let label = label.unwrap_or_else(|| (device + 1).to_string());
        format!("{argument} on device {label}")
    }

    /// A plugin's complaint, or a clearer one where an argument is gone.
    fn explain(&self, error: Error, arguments: &[&[&Buffer]]) -> Error {
        for (device, list) in arguments.iter().enumerate() {
            for (i, buffer) in list.iter().enumerate() {
                if buffer.is_deleted().unwrap_or(false) {
                    let argument = self.argument(i, device);
                    return crate::buffer::deleted(&format!("{argument}: execution"));
                }
            }
        }
        error
    }
}

/// An array's type as XLA writes it, such as `f32[2,3]`.
fn shown(dtype: Option<DType>, dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    format!("{}[{}]", dtype.map_or("?", DType::name), dims.join(","))
}
