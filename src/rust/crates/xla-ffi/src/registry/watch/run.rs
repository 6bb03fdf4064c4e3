//! One run of a handler, in memory of its own.

use core::mem;
use core::ptr;
use std::sync::Arc;

use super::check::Check;
use super::deferred;
use super::frame::{Buffer, Operands};
use super::outcome::Run;
use super::plan::Plan;
use super::scratch_source::ScratchSource;
use super::zone::{Zone, LEAST_ALIGNMENT};
use crate::error::{Code, Error};
use crate::sys;

impl Check<'_> {
    /// Runs the handler, and looks at what it did outside of its results.
    pub(super) fn run(&mut self, plan: Plan) -> Result<Run, Error> {
        let zone = |buffer: &Buffer, index: usize, array: usize| {
            if buffer.data.is_null() {
                return Ok(None);
            }
            let zone = Zone::new(
                buffer.size,
                plan.fill.array(array),
                plan.place,
                LEAST_ALIGNMENT,
            );
            zone.map(Some).ok_or_else(|| {
                let text = format!("no memory to check operand {} in", index + 1);
                Error::new(Code::ResourceExhausted, text)
            })
        };
        let Operands {
            args,
            rets,
            aliases,
        } = &self.operands;
        let aliases = match plan.shared {
            true => aliases.clone(),
            false => vec![None; rets.len()],
        };
        let mut run = Run {
            args: Vec::new(),
            rets: Vec::new(),
            aliases,
            scratch: Vec::new(),
            error: ptr::null_mut(),
        };
        for (index, arg) in args.iter().enumerate() {
            let mut zone = zone(arg, index, index)?;
            if let Some(zone) = &mut zone {
                // SAFETY: XLA's memory for this call; the handler never sees it.
                zone.inside_mut().copy_from_slice(unsafe { arg.bytes() });
            }
            run.args.push(zone);
        }
        for (index, (ret, alias)) in rets.iter().zip(&run.aliases).enumerate() {
            run.rets.push(match alias {
                None => zone(ret, index, args.len() + index)?,
                Some(_) => None,
            });
        }
        self.point_to(&mut run);
        let source = ScratchSource::new(plan, self.operands.args.len() + self.operands.rets.len());
        let error = deferred::within_check(Arc::clone(&source), || (self.handler)());
        let error = self.complete(error);
        // SAFETY: the call lasts, and its handler has returned.
        unsafe {
            let all = self.operands.args.iter().chain(&self.operands.rets);
            all.for_each(|buffer| buffer.point_to(buffer.data));
        }
        match error {
            Some(error) => run.error = error,
            None => {
                // It may still be written to.
                mem::forget(run);
                let text = "completes its call by a future that was made on a thread of its own, \
                            which checks cannot wait for";
                return Err(Error::new(Code::Unimplemented, text));
            }
        }
        run.scratch = source.spoilt();
        self.look_around(plan, &run);
        Ok(run)
    }

    /// Shows the handler that run's memory.
    fn point_to(&self, run: &mut Run) {
        let Operands { args, rets, .. } = &self.operands;
        // Each address is asked for once: results that share an operand's memory share its pointer.
        let address = |zone: &mut Option<Zone>| zone.as_mut().map(Zone::address);
        let of_args: Vec<_> = run.args.iter_mut().map(address).collect();
        let of_rets = run.rets.iter_mut().map(address).zip(&run.aliases);
        let of_rets = of_rets.map(|(own, alias)| alias.map_or(own, |arg| of_args[arg]));
        let all = args.iter().chain(rets);
        for (buffer, address) in all.zip(of_args.iter().copied().chain(of_rets)) {
            if let Some(address) = address {
                // SAFETY: the call lasts, and its handler does not run now.
                unsafe { buffer.point_to(address) };
            }
        }
    }

    /// Waits for what the handler left for later: the call's error or null, `None` where that
    /// cannot be waited for.
    fn complete(&self, error: *mut sys::XLA_FFI_Error) -> Option<*mut sys::XLA_FFI_Error> {
        const WITH_FUTURE: usize = mem::offset_of!(sys::XLA_FFI_CallFrame, future)
            + mem::size_of::<*mut sys::XLA_FFI_Future>();
        // SAFETY: XLA's frame; the size is looked at first.
        let future = unsafe {
            if (*self.frame).struct_size < WITH_FUTURE {
                return Some(error);
            }
            mem::replace(&mut (*self.frame).future, ptr::null_mut())
        };
        if future.is_null() {
            return Some(error);
        }
        let outcome = deferred::wait(future)?;
        Some(if error.is_null() { outcome } else { error })
    }
}
