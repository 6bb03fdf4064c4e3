//! Stages and state: made once, read by every call, dropped with the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use xla_ffi::registry::Registry;
use xla_ffi::testing::{metadata, Call, Frame};
use xla_ffi::{
    bundle, handler, io, sys, Attr, Code, Context, Cx, Error, Host, Kernel, Op, Result, Ret,
    Stateful, Untyped,
};

static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// What the op keeps.
struct Plan {
    factor: i64,
    prepared: AtomicUsize,
    initialized: AtomicUsize,
}

impl Drop for Plan {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

io! {
    struct SetupIo { factor: Attr<i64> }
}

io! {
    struct TimesIo<'f> { out: Ret<'f, i64>, factor: Attr<i64> }
}

struct Times;

impl Op for Times {
    const TARGET: &'static str = "times";
    type Dtypes = Untyped;
}

impl Stateful<Host> for Times {
    type State = Plan;
    type Setup<'f> = SetupIo;
    const PREPARES: bool = true;
    const INITIALIZES: bool = true;

    fn instantiate(setup: SetupIo, _: &Context<'_>) -> Result<Plan> {
        match *setup.factor {
            0 => return Err(Error::invalid_argument("must not be 0")),
            13 => panic!("no such factor"),
            _ => {}
        }
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Ok(Plan {
            factor: *setup.factor,
            prepared: AtomicUsize::new(0),
            initialized: AtomicUsize::new(0),
        })
    }

    fn prepare(plan: &Plan, _: &Context<'_>) -> Result<()> {
        plan.prepared.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn initialize(plan: &Plan, _: &Context<'_>) -> Result<()> {
        plan.initialized.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl Kernel<Host> for Times {
    type Io<'f> = TimesIo<'f>;

    fn run(mut io: TimesIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
        let plan: &Plan = cx.state()?;
        let other = cx.state::<String>().expect_err("of another type");
        assert_eq!(other.code(), Code::InvalidArgument);
        assert_eq!(plan.factor, *io.factor);
        let out = io.out.as_mut_slice()?;
        out[0] = plan.factor;
        out[1] = plan.prepared.load(Ordering::SeqCst) as i64;
        out[2] = plan.initialized.load(Ordering::SeqCst) as i64;
        Ok(())
    }
}

const STAGES: [sys::XLA_FFI_ExecutionStage; 4] = [
    sys::XLA_FFI_ExecutionStage_INSTANTIATE,
    sys::XLA_FFI_ExecutionStage_PREPARE,
    sys::XLA_FFI_ExecutionStage_INITIALIZE,
    sys::XLA_FFI_ExecutionStage_EXECUTE,
];

fn call(factor: i64) -> Frame {
    Call::new().ret::<i64>(&[3]).attr("factor", factor).build()
}

#[test]
fn a_state_is_made_once_and_read_by_every_call() {
    // SAFETY: handlers of this program.
    let done = unsafe {
        Registry::global().register_handlers("times", "host", bundle::<Times, Host>().into(), None)
    };
    let trampoline = done.expect("a slot").trampoline;
    let mut frame = call(7);
    for stage in STAGES {
        frame.set_stage(stage);
        frame
            .call(trampoline)
            .expect("every stage has its function");
    }
    assert_eq!(frame.ret::<i64>(0), [7, 1, 1]);
    for stage in &STAGES[1..] {
        frame.set_stage(*stage);
        frame.call(trampoline).expect("again");
    }
    assert_eq!(frame.ret::<i64>(0), [7, 2, 2]);

    let mut failing = call(0);
    failing.set_stage(STAGES[0]);
    let failure = failing.call(trampoline).expect_err("an error");
    assert_eq!(
        failure.to_string(),
        "INVALID_ARGUMENT: times: must not be 0"
    );
    let mut failing = call(13);
    failing.set_stage(STAGES[0]);
    let failure = failing.call(trampoline).expect_err("a panic");
    assert_eq!(
        failure.to_string(),
        "INTERNAL: times: panicked: no such factor"
    );

    // Without a state there is an error, and nothing else.
    let failure = call(7).call(trampoline).expect_err("no state");
    assert_eq!(
        failure.to_string(),
        "NOT_FOUND: times: XLA_FFI_State_Get failed: there is no state"
    );
    assert_eq!(ALIVE.load(Ordering::SeqCst), 1);
    drop(frame);
    assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "it goes with the program");

    let answer = metadata(trampoline).expect("an answer");
    assert_eq!(answer.version, xla_ffi::REPORTED_VERSION);
    let plain = handler::<Times, Host>;
    assert_eq!(
        metadata(plain).map(|answer| answer.traits),
        Some(answer.traits)
    );
}

/// The services of an XLA before version 0.3: one state for a call, whatever the stage.
mod early {
    use std::ffi::c_void;
    use std::mem::size_of;
    use std::ptr::null_mut;
    use std::sync::Mutex;

    use super::*;

    #[repr(C)]
    struct SetArgs {
        struct_size: usize,
        extension_start: *mut sys::XLA_FFI_Extension_Base,
        ctx: *mut sys::XLA_FFI_ExecutionContext,
        type_id: *mut sys::XLA_FFI_TypeId,
        state: *mut c_void,
        deleter: Option<unsafe extern "C" fn(*mut c_void)>,
    }

    #[repr(C)]
    struct GetArgs {
        struct_size: usize,
        extension_start: *mut sys::XLA_FFI_Extension_Base,
        ctx: *mut sys::XLA_FFI_ExecutionContext,
        type_id: *mut sys::XLA_FFI_TypeId,
        state: *mut c_void,
    }

    type Deleter = unsafe extern "C" fn(*mut c_void);

    static KEPT: Mutex<Option<(i64, usize, Deleter)>> = Mutex::new(None);

    unsafe extern "C" fn set(args: *mut sys::XLA_FFI_State_Set_Args) -> *mut sys::XLA_FFI_Error {
        // SAFETY: what a caller of this version passes.
        let args = unsafe { &*args.cast::<SetArgs>() };
        assert_eq!(args.struct_size, size_of::<SetArgs>());
        // SAFETY: as above.
        let id = unsafe { (*args.type_id).type_id };
        *KEPT.lock().unwrap() = Some((id, args.state as usize, args.deleter.unwrap()));
        null_mut()
    }

    unsafe extern "C" fn get(args: *mut sys::XLA_FFI_State_Get_Args) -> *mut sys::XLA_FFI_Error {
        // SAFETY: as above.
        let args = unsafe { &mut *args.cast::<GetArgs>() };
        assert_eq!(args.struct_size, size_of::<GetArgs>());
        let (id, state, _) = KEPT.lock().unwrap().unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { (*args.type_id).type_id }, id);
        args.state = state as *mut c_void;
        null_mut()
    }

    struct Early;

    impl Op for Early {
        const TARGET: &'static str = "early";
        type Dtypes = Untyped;
    }

    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    struct Factor(i64);

    impl Drop for Factor {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Stateful<Host> for Early {
        type State = Factor;
        type Setup<'f> = SetupIo;

        fn instantiate(setup: SetupIo, _: &Context<'_>) -> Result<Factor> {
            Ok(Factor(*setup.factor))
        }
    }

    impl Kernel<Host> for Early {
        type Io<'f> = TimesIo<'f>;

        fn run(mut io: TimesIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
            io.out.as_mut_slice()?.fill(cx.state::<Factor>()?.0);
            Ok(())
        }
    }

    #[test]
    fn an_earlier_xla_has_one_state() {
        let mut frame = call(5);
        // SAFETY: the frame's own table.
        let mut api = unsafe { *frame.as_raw().api };
        api.api_version.minor_version = 2;
        api.XLA_FFI_State_Set = Some(set);
        api.XLA_FFI_State_Get = Some(get);
        frame.as_raw().api = &api;
        let stages = bundle::<Early, Host>();
        frame.set_stage(STAGES[0]);
        frame.call(stages.instantiate.unwrap()).expect("a state");
        frame.set_stage(STAGES[3]);
        frame.call(stages.execute.unwrap()).expect("the state");
        assert_eq!(frame.ret::<i64>(0), [5, 5, 5]);
        let (_, state, deleter) = KEPT.lock().unwrap().take().unwrap();
        // SAFETY: as XLA does once.
        unsafe { deleter(state as *mut c_void) };
        assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
    }
}
