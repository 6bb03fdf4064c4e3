//! State that an op keeps for each of its calls in a program, and the stages that make and use it.

use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

use crate::context::{api_fn, service, Context};
use crate::entry::{enter, handler, OpEntry};
use crate::error::{Error, Result};
use crate::io::Io;
use crate::op::{Dispatch, Op, Platform};
use crate::state_type::drop_state;
use crate::version::asked_metadata;
use crate::{sys, CallFrame};

/// An op that keeps something for each of its calls in a program: made when the program is, read by
/// [`Context::state`] in every call, dropped with the program.
///
/// ```
/// use xla_ffi::{bundle, io, Arg, Attr, Context, Cx, Floats, Host, Kernel, Op, Result, Ret, Scalar, Stateful};
///
/// io! {
///     struct SetupIo<'f> { sizes: Attr<&'f [i64]> }
/// }
///
/// io! {
///     struct SumIo<'f, T> { x: Arg<'f, T>, y: Ret<'f, T>, sizes: Attr<&'f [i64]> }
/// }
///
/// struct Sum;
///
/// impl Op for Sum {
///     const TARGET: &'static str = "sum";
///     type Dtypes = Floats;
/// }
///
/// struct Plan { steps: Vec<i64> }
///
/// impl Stateful<Host> for Sum {
///     type State = Plan;
///     type Setup<'f> = SetupIo<'f>;
///
///     fn instantiate(setup: SetupIo<'_>, _: &Context<'_>) -> Result<Plan> {
///         Ok(Plan { steps: setup.sizes.to_vec() }) // what takes long goes here
///     }
/// }
///
/// impl<T: Scalar> Kernel<Host, T> for Sum {
///     type Io<'f> = SumIo<'f, T>;
///
///     fn run(io: SumIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
///         let plan: &Plan = cx.state()?;
///         assert_eq!(plan.steps.len(), io.sizes.len());
///         Ok(())
///     }
/// }
///
/// let for_xla = bundle::<Sum, Host>();
/// assert!(for_xla.instantiate.is_some() && for_xla.execute.is_some());
/// ```
///
/// The library of a type of state must stay loaded for as long as there are programs that call the
/// op: XLA drops their states.
pub trait Stateful<P: Platform>: Op {
    /// What is kept. Calls read it from any thread, several at a time.
    type State: Send + Sync + 'static;

    /// The attributes that it is made from, declared by [`io!`](crate::io); there are no operands
    /// yet. What the body does not take itself belongs into
    /// [`IGNORED_ATTRS`](Op::IGNORED_ATTRS).
    type Setup<'f>: Io<'f>;

    /// Whether XLA shall call [`prepare`](Self::prepare).
    const PREPARES: bool = false;

    /// Whether XLA shall call [`initialize`](Self::initialize).
    const INITIALIZES: bool = false;

    /// Makes the state, once for each call in a program.
    ///
    /// # Errors
    /// The program cannot be made.
    fn instantiate(setup: Self::Setup<'_>, context: &Context<'_>) -> Result<Self::State>;

    /// Runs before each execution of the program, to ask XLA for resources.
    ///
    /// # Errors
    /// The execution fails.
    fn prepare(_state: &Self::State, _context: &Context<'_>) -> Result<()> {
        Ok(())
    }

    /// Runs before each execution of the program, when it has its resources.
    ///
    /// # Errors
    /// The execution fails.
    fn initialize(_state: &Self::State, _context: &Context<'_>) -> Result<()> {
        Ok(())
    }
}

/// The functions of a stateful op, one for each stage, for XLA or for
/// [`Handlers`](crate::registry::Handlers).
#[must_use]
pub fn bundle<O, P>() -> sys::XLA_FFI_Handler_Bundle
where
    O: Stateful<P>,
    P: Platform,
    O::Dtypes: Dispatch<O, P>,
{
    sys::XLA_FFI_Handler_Bundle {
        instantiate: Some(instantiate::<O, P>),
        prepare: O::PREPARES.then_some(prepare::<O, P>),
        initialize: O::INITIALIZES.then_some(initialize::<O, P>),
        execute: Some(handler::<O, P>),
    }
}

const fn entry<O: Op>(
    stage: sys::XLA_FFI_ExecutionStage,
    run: fn(&mut CallFrame<'_>) -> Result<()>,
) -> OpEntry {
    OpEntry {
        target: || O::TARGET,
        traits: O::TRAITS.bits(),
        // In these stages there are no operands to look at.
        host_memory: false,
        stage,
        run,
    }
}

unsafe extern "C" fn instantiate<O: Stateful<P>, P: Platform>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    let run = |frame: &mut CallFrame<'_>| {
        let context = frame.context();
        let state = O::instantiate(O::Setup::decode(frame)?, &context)?;
        context.set_state(state)
    };
    let entry = entry::<O>(sys::XLA_FFI_ExecutionStage_INSTANTIATE, run);
    // SAFETY: by contract.
    unsafe { enter_instantiate::<O::State>(frame, &entry) }
}

/// The way into a function that [sets a state](Context::set_state) of type `S`.
///
/// # Safety
/// As [`enter`].
pub unsafe fn enter_instantiate<S: Send + Sync + 'static>(
    frame: *mut sys::XLA_FFI_CallFrame,
    entry: &OpEntry,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: by contract.
    unsafe {
        let error = enter(frame, entry);
        if error.is_null() && !frame.is_null() {
            tell_type::<S>(frame);
        }
        error
    }
}

unsafe extern "C" fn prepare<O: Stateful<P>, P: Platform>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    let run = |frame: &mut CallFrame<'_>| O::prepare(frame.context().state()?, &frame.context());
    // SAFETY: by contract.
    unsafe { enter(frame, &entry::<O>(sys::XLA_FFI_ExecutionStage_PREPARE, run)) }
}

unsafe extern "C" fn initialize<O: Stateful<P>, P: Platform>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    let run = |frame: &mut CallFrame<'_>| O::initialize(frame.context().state()?, &frame.context());
    // SAFETY: by contract.
    unsafe {
        enter(
            frame,
            &entry::<O>(sys::XLA_FFI_ExecutionStage_INITIALIZE, run),
        )
    }
}

/// Adds to an answer about metadata which type the state has.
///
/// # Safety
/// `frame` is XLA's.
unsafe fn tell_type<S: Send + Sync + 'static>(frame: *mut sys::XLA_FFI_CallFrame) {
    // SAFETY: by contract; the first fields of every frame and table.
    unsafe {
        let (Some(metadata), Some(api)) = (asked_metadata(frame), (*frame).api.as_ref()) else {
            return;
        };
        let version = (api.api_version.major_version, api.api_version.minor_version);
        // XLA's `struct_size` ends before the field, whether it has it or not.
        if metadata.is_null() || version < (0, HAS_STATE_TYPE) {
            return;
        }
        let context = Context::from_raw((*frame).api, (*frame).ctx, false);
        if let Ok(id) = context.type_of_state::<S>() {
            (*metadata).state_type_id = id;
        }
    }
}

/// The minor version of the FFI whose metadata have the type of the state.
const HAS_STATE_TYPE: i32 = 2;

impl<'f> Context<'f> {
    /// The state of this call, made by [`Stateful::instantiate`].
    ///
    /// # Errors
    /// There is none, or it is of another type, or this XLA is too old.
    pub fn state<S: Send + Sync + 'static>(&self) -> Result<&'f S> {
        let mut type_id = self.type_of_state::<S>()?;
        if self.has_one_state() {
            return self.only_state(&mut type_id);
        }
        let args = service!(
            self,
            XLA_FFI_State_Get,
            XLA_FFI_State_Get_Args {
                stage: sys::XLA_FFI_ExecutionStage_INSTANTIATE,
                type_id: &mut type_id,
                state: ptr::null_mut(),
            }
        )?;
        // SAFETY: set by `set_state` with this type; XLA keeps it for longer than the call.
        unsafe { args.state.cast::<S>().as_ref() }
            .ok_or_else(|| Error::internal("XLA gave no state"))
    }

    /// Gives XLA the state of this call in a program, in the instantiate stage: XLA drops it with
    /// the program. What is declared by [`Stateful`] does so itself.
    ///
    /// # Errors
    /// There is one already, or this XLA is too old.
    pub fn set_state<S: Send + Sync + 'static>(&self, state: S) -> Result<()> {
        self.share_state(Arc::new(state))
    }

    /// As [`set_state`](Self::set_state), of what others keep as well.
    ///
    /// # Errors
    /// As there.
    pub fn share_state<S: Send + Sync + 'static>(&self, state: Arc<S>) -> Result<()> {
        let mut type_id = self.type_of_state::<S>()?;
        let state = Arc::into_raw(state);
        let done = match self.has_one_state() {
            true => self.set_only_state(&mut type_id, state),
            false => service!(
                self,
                XLA_FFI_State_Set,
                XLA_FFI_State_Set_Args {
                    stage: sys::XLA_FFI_ExecutionStage_INSTANTIATE,
                    type_id: &mut type_id,
                    state: state.cast_mut().cast(),
                }
            )
            .map(drop),
        };
        if done.is_err() {
            // SAFETY: XLA did not take it, so it is still ours.
            drop(unsafe { Arc::from_raw(state) });
        }
        done
    }

    /// Whether XLA keeps one state for a call, and not one for each stage.
    fn has_one_state(&self) -> bool {
        // SAFETY: null or a live table, whose first fields are in every version.
        let api = unsafe { self.api.as_ref() };
        api.is_some_and(|api| {
            let version = (api.api_version.major_version, api.api_version.minor_version);
            version < (0, HAS_STATE_OF_STAGES)
        })
    }

    fn set_only_state<S: Send + Sync + 'static>(
        &self,
        type_id: *mut sys::XLA_FFI_TypeId,
        state: *const S,
    ) -> Result<()> {
        const CALL: &str = "XLA_FFI_State_Set";
        let set = api_fn!(self.api, XLA_FFI_State_Set).ok_or_else(|| self.missing(CALL))?;
        let mut args = OnlyStateSetArgs {
            struct_size: size_of::<OnlyStateSetArgs>(),
            extension_start: ptr::null_mut(),
            ctx: self.ctx,
            type_id,
            state: state.cast_mut().cast(),
            deleter: drop_state::<S>,
        };
        // SAFETY: the struct of that version; `ctx` is this call's, and the error ours.
        unsafe { self.take_error(CALL, set(ptr::from_mut(&mut args).cast())) }
    }

    fn only_state<S>(&self, type_id: *mut sys::XLA_FFI_TypeId) -> Result<&'f S> {
        const CALL: &str = "XLA_FFI_State_Get";
        let get = api_fn!(self.api, XLA_FFI_State_Get).ok_or_else(|| self.missing(CALL))?;
        let mut args = OnlyStateGetArgs {
            struct_size: size_of::<OnlyStateGetArgs>(),
            extension_start: ptr::null_mut(),
            ctx: self.ctx,
            type_id,
            state: ptr::null_mut(),
        };
        // SAFETY: as above; the state is one that was set with this type, and lives longer than the call.
        unsafe {
            self.take_error(CALL, get(ptr::from_mut(&mut args).cast()))?;
            args.state.cast::<S>().as_ref()
        }
        .ok_or_else(|| Error::internal("XLA gave no state"))
    }
}

/// The minor version of the FFI whose services for states name a stage.
const HAS_STATE_OF_STAGES: i32 = 3;

/// What `XLA_FFI_State_Set` takes before that version.
#[repr(C)]
struct OnlyStateSetArgs {
    struct_size: usize,
    extension_start: *mut sys::XLA_FFI_Extension_Base,
    ctx: *mut sys::XLA_FFI_ExecutionContext,
    type_id: *mut sys::XLA_FFI_TypeId,
    state: *mut c_void,
    deleter: unsafe extern "C" fn(*mut c_void),
}

/// The same for `XLA_FFI_State_Get`.
#[repr(C)]
struct OnlyStateGetArgs {
    struct_size: usize,
    extension_start: *mut sys::XLA_FFI_Extension_Base,
    ctx: *mut sys::XLA_FFI_ExecutionContext,
    type_id: *mut sys::XLA_FFI_TypeId,
    state: *mut c_void,
}
