//! What a library calls in place of `posix_memalign()` and `free()`.

mod elf;
mod kept;
mod limit;

use std::ffi::{c_int, c_void};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use elf::replace;
use kept::Kept;
use limit::limit;

/// From this size on: smaller blocks the C library keeps itself.
const LEAST: usize = 256 << 10;

/// The alignment that XLA asks for. Blocks of the C library that were not aligned are not: it has 16 bytes before them.
const ALIGNMENT: usize = 64;

/// How long a block is kept, and how often that is looked at.
const AGE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(500);

struct State {
    kept: Kept,
    /// Whether the thread that gives blocks back waits for the next one.
    sleeps: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    kept: Kept::new(0),
    sleeps: false,
});
static WAKE: Condvar = Condvar::new();

/// The C library's functions. By their addresses, as the entries of this library may be replaced, too.
struct C {
    posix_memalign: PosixMemalign,
    free: Free,
}

type PosixMemalign = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void);

static C: OnceLock<Option<C>> = OnceLock::new();

impl C {
    /// Finds them, and starts the thread that gives back what is old. None where nothing is to be kept.
    fn start() -> Option<Self> {
        let limit = limit();
        // SAFETY: names that end with zero.
        let [posix_memalign, free] = [c"posix_memalign", c"free"]
            .map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
        if limit == 0 || posix_memalign.is_null() || free.is_null() {
            return None;
        }
        fork::started();
        stay_loaded();
        state().kept = Kept::new(limit);
        let thread = std::thread::Builder::new().name("xlaffi-memory".into());
        thread.spawn(return_old).ok()?;
        // SAFETY: the types of these functions of the C library.
        unsafe {
            Some(C {
                posix_memalign: std::mem::transmute::<*mut c_void, PosixMemalign>(posix_memalign),
                free: std::mem::transmute::<*mut c_void, Free>(free),
            })
        }
    }
}

/// Keeps this library, which other libraries call from now on, loaded for as long as the process. A program is so anyway.
fn stay_loaded() {
    // SAFETY: the struct is filled in, or stays empty; the name is the loader's. What is loaded already is not loaded again.
    unsafe {
        let mut here: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(aligned as *const c_void, &mut here) != 0 {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(here.dli_fname, flags);
        }
    }
}

/// Frees a block of the C library's.
///
/// # Safety
/// Once for each.
unsafe fn free(block: *mut c_void) {
    if let Some(Some(c)) = C.get() {
        // SAFETY: the caller's promise.
        unsafe { (c.free)(block) };
    }
}

/// Gives blocks back to the system for as long as there is a next one, while nobody has to wait for the lock; whether
/// there was one.
fn free_each(next: impl Fn(&mut Kept) -> Option<usize>) -> bool {
    let mut had_some = false;
    loop {
        let block = next(&mut state().kept);
        let Some(block) = block else {
            return had_some;
        };
        had_some = true;
        // SAFETY: a block that was kept, and that nobody has.
        unsafe { free(block as *mut c_void) };
    }
}

/// Keeps large blocks of the libraries that are loaded now and whose paths are meant. To be called again after others were
/// loaded.
pub fn attach(is_meant: impl Fn(&str) -> bool) {
    if C.get_or_init(C::start).is_none() {
        return;
    }
    let replacements = [
        (c"posix_memalign", aligned as *const c_void),
        (c"free", released as *const c_void),
    ];
    // SAFETY: both do what the C library's do, and this library stays loaded.
    unsafe { replace(&is_meant, &replacements) };
}

/// Gives all that is kept back to the system; whether there was anything.
pub fn give_back() -> bool {
    !fork::is_child() && free_each(|kept| kept.older(Duration::ZERO, Instant::now()))
}

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread does.
fn return_old() {
    loop {
        let mut state = state();
        if state.kept.is_empty() {
            state.sleeps = true;
            drop(WAKE.wait(state));
        } else {
            drop(WAKE.wait_timeout(state, LOOK));
        }
        free_each(|kept| kept.older(AGE, Instant::now()));
    }
}

/// `posix_memalign()`
unsafe extern "C" fn aligned(to: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    if bytes >= LEAST && alignment >= ALIGNMENT && !fork::is_child() {
        if let Some(block) = state().kept.take(bytes, alignment) {
            // SAFETY: the caller's place for a pointer.
            unsafe { *to = block as *mut c_void };
            return 0;
        }
    }
    let allocate = || match C.get() {
        // SAFETY: the caller's promise.
        Some(Some(c)) => unsafe { (c.posix_memalign)(to, alignment, bytes) },
        _ => libc::ENOMEM,
    };
    let failure = allocate();
    if failure == libc::ENOMEM && give_back() {
        return allocate();
    }
    failure
}

/// `free()`
unsafe extern "C" fn released(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    if block as usize % ALIGNMENT == 0 && !fork::is_child() {
        // SAFETY: a block of the C library, as it is about to be freed.
        let bytes = unsafe { libc::malloc_usable_size(block) };
        if bytes >= LEAST {
            return keep(block as usize, bytes);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { free(block) };
}

fn keep(block: usize, bytes: usize) {
    let mut state = state();
    state.kept.put(block, bytes, Instant::now());
    if std::mem::take(&mut state.sleeps) {
        WAKE.notify_one();
    }
    drop(state);
    free_each(Kept::excess);
}
