//! An op of the user's own: what is registered, and what a call needs to know of it.

use core::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use xla_ffi::registry::Barrier;
use xla_ffi::{Code, DataType, Error, Result};

use crate::abi;
use crate::attributes::Stored;
use crate::bind::{Plan, Sets};
use crate::host::BoundCall;
use crate::kernel::Kernels;
use crate::names::interned;
use crate::signature::Signature;
use crate::state::{Shared, States};
use crate::words::Words;

/// What computes.
pub enum Body {
    /// A function that takes `xlaffi_call` of `xlaffi.h`.
    C(abi::Body),
    /// The same from a library that somebody else has compiled: what it throws is caught.
    Foreign(abi::Body, &'static Barrier),
    /// A function of pointers and integers.
    Words(Words),
    /// A function of this process's host. It may be dropped on any thread.
    Host(HostBody),
}

/// The body of [`Body::Host`]. Its errors do not name the op.
pub type HostBody = Box<dyn Fn(&mut BoundCall<'_>) -> Result<()> + Send + Sync>;

/// The body for one choice of element types.
pub struct Instance {
    /// One for each variable of the signature.
    pub dtypes: Vec<DataType>,
    /// What computes.
    pub body: Body,
    /// Makes the state of a compiled program.
    pub init: Option<abi::Init>,
    /// Frees it.
    pub cleanup: Option<abi::Cleanup>,
}

impl Instance {
    /// Without state.
    #[must_use]
    pub fn new(dtypes: Vec<DataType>, body: Body) -> Self {
        Instance {
            dtypes,
            body,
            init: None,
            cleanup: None,
        }
    }
}

/// On which threads the elements of a batch are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// On those of XLA's pool, where that pays.
    #[default]
    Auto,
    /// On that of the call.
    One,
}

/// How an op is called.
#[derive(Default)]
pub struct Options {
    /// Says what its code is; without it the op is unlike any other.
    pub code: Option<String>,
    /// The same where what differs between machines is left out: processes that compute together compare it.
    pub common: Option<String>,
    /// On which threads.
    pub threads: Threads,
    /// Whether the body is given whole batches.
    pub whole: bool,
    /// What computes on CUDA.
    pub kernels: Option<Kernels>,
    /// What must outlive the op, such as the libraries of its functions.
    pub keep: Option<Box<dyn Any + Send>>,
}

/// An op: its signature, and its bodies.
pub struct OwnOp {
    pub(crate) name: &'static str,
    pub(crate) plan: Plan,
    pub(crate) instances: Vec<Instance>,
    /// Which of them has the element types of each instance of the plan.
    bodies: Vec<Option<usize>>,
    pub(crate) threads: Threads,
    pub(crate) whole: bool,
    pub(crate) kernels: Option<Kernels>,
    pub(crate) digest: u64,
    pub(crate) common: u64,
    pub(crate) defaults: Vec<Option<Stored>>,
    /// The operand that comes any number of times.
    pub(crate) many: Option<usize>,
    /// Of calls in programs that keep no state.
    pub(crate) states: States,
    pub(crate) shared: Shared,
    _keep: Option<Box<dyn Any + Send>>,
}

// SAFETY: what is not so by itself are addresses of functions, which may be called from any thread:
// that is what whoever makes the op promises.
unsafe impl Send for OwnOp {}
// SAFETY: as above.
unsafe impl Sync for OwnOp {}

impl OwnOp {
    /// An op, not registered yet.
    ///
    /// # Errors
    /// Element types or instances that do not belong to the signature.
    ///
    /// # Safety
    /// The instances' functions are as the signature says, may be called from any thread, and stay
    /// where they are for as long as `options.keep` lives.
    pub unsafe fn new(
        name: &str,
        signature: Signature,
        sets: Sets,
        instances: Vec<Instance>,
        options: Options,
    ) -> Result<Arc<OwnOp>> {
        let name = interned(name);
        let refuse = |text: String| Err(Error::invalid_argument(text).with_op(name));
        let mut bodies = vec![None; sets.instances()];
        for (at, instance) in instances.iter().enumerate() {
            let Some(place) = sets.find(&instance.dtypes) else {
                let names: Vec<_> = instance.dtypes.iter().map(|dtype| dtype.name()).collect();
                return refuse(format!(
                    "a body for dtypes ({}) does not fit the signature's variables",
                    names.join(", ")
                ));
            };
            if bodies[place].replace(at).is_some() {
                return refuse("there are two bodies for the same dtypes".to_owned());
            }
        }
        if instances.is_empty() && options.kernels.is_none() {
            return refuse("there is no body".to_owned());
        }
        let attributes = signature.attributes.iter();
        let defaults = attributes.map(Stored::default_of).collect();
        let many = signature
            .operands
            .iter()
            .position(|operand| operand.count.is_some());
        let digest = digest(name, &signature.text, options.code.as_deref());
        let common = options.common.unwrap_or_default();
        let common = digest_of([name, &signature.text, &common]);
        Ok(Arc::new(OwnOp {
            name,
            plan: Plan::new(signature, sets),
            instances,
            bodies,
            threads: options.threads,
            whole: options.whole,
            kernels: options.kernels,
            digest,
            common,
            defaults,
            many,
            states: States::default(),
            shared: Shared::default(),
            _keep: options.keep,
        }))
    }

    /// The target of its calls.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it takes and gives.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        self.plan.signature()
    }

    /// The element types that each variable of the signature may stand for.
    #[must_use]
    pub fn sets(&self) -> &Sets {
        self.plan.sets()
    }

    /// Of name, signature and code: what programs mean this very op by.
    #[must_use]
    pub fn digest(&self) -> i64 {
        self.digest as i64
    }

    /// For each array that a body gets, whether it comes several times.
    pub(crate) fn counts(&self) -> impl Iterator<Item = bool> + '_ {
        let operands = self
            .signature()
            .operands
            .iter()
            .map(|operand| operand.count);
        let results = self.signature().results.iter().map(|result| result.count);
        let scratch = self.signature().scratch.iter().map(|_| None);
        let all = operands.chain(results).chain(scratch);
        all.map(|count| count.is_some())
    }

    /// The place of an operand among the arrays of a call in which `*k` comes `count` times.
    pub(crate) fn first_flat(&self, operand: usize, count: usize) -> usize {
        match self.many {
            Some(many) if many < operand => operand - 1 + count,
            _ => operand,
        }
    }

    /// How often that operand comes that comes several times, in a call with so many.
    pub(crate) fn count_of(&self, operands: usize) -> usize {
        match self.many {
            Some(_) => (operands + 1).saturating_sub(self.signature().operands.len()),
            None => 1,
        }
    }

    /// The body for an instance of the plan.
    pub(crate) fn body_of(&self, instance: usize) -> Result<usize> {
        self.bodies[instance].ok_or_else(|| {
            if self.instances.is_empty() {
                let text = "it has a kernel for CUDA and no body for the CPU";
                return Error::new(Code::Unimplemented, text);
            }
            let dtypes = self.sets().instance(instance);
            let named = self.signature().dtypes.iter().zip(dtypes);
            let named: Vec<_> = named
                .map(|(name, dtype)| format!("`{name}` = {dtype}"))
                .collect();
            Error::invalid_argument(format!("there is no body for {}", named.join(", ")))
        })
    }
}

/// 64 bits of everything (FNV-1a), the same in each process where the code is told.
fn digest(name: &str, signature: &str, code: Option<&str>) -> u64 {
    static UNLIKE: AtomicU64 = AtomicU64::new(0);
    let unlike;
    let code = match code {
        Some(code) => code,
        None => {
            let now = std::time::SystemTime::UNIX_EPOCH.elapsed();
            unlike = format!(
                "{} {} {}",
                std::process::id(),
                now.map_or(0, |now| now.as_nanos()),
                UNLIKE.fetch_add(1, Ordering::Relaxed)
            );
            &unlike
        }
    };
    digest_of([name, signature, code])
}

fn digest_of(parts: [&str; 3]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        let length = (part.len() as u64).to_le_bytes();
        for &byte in length.iter().chain(part.as_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
