//! A custom op: what is registered.

use core::any::Any;
use core::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use xla_ffi::{Code, Error, Result};

use crate::bind::Sets;
use crate::body::cuda::Kernels;
use crate::call::attributes::{all_bytes, Decoded};
use crate::call::instance::Instance;
use crate::call::interface::{Interface, Threads};
use crate::call::states::States;
use crate::names::interned;
use crate::signature::Signature;

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
pub struct CustomOp {
    pub(crate) interface: Interface,
    pub(crate) instances: Vec<Instance>,
    /// Which of them has the element types of each instance of the plan.
    bodies: Vec<Option<usize>>,
    pub(crate) kernels: Option<Kernels>,
    pub(crate) digest: u64,
    pub(crate) common: u64,
    /// Of calls in programs that keep no state.
    states: States,
    _keep: Option<Box<dyn Any + Send>>,
}

// SAFETY: what is not so by itself are addresses of functions, which may be called from any thread:
// that is what whoever makes the op promises.
unsafe impl Send for CustomOp {}
// SAFETY: as above.
unsafe impl Sync for CustomOp {}

impl CustomOp {
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
    ) -> Result<Arc<CustomOp>> {
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
        let digest = digest(name, &signature.text, options.code.as_deref());
        let common = options.common.unwrap_or_default();
        let common = digest_of([name, &signature.text, &common]);
        Ok(Arc::new(CustomOp {
            interface: Interface::new(name, signature, sets, options.threads, options.whole),
            instances,
            bodies,
            kernels: options.kernels,
            digest,
            common,
            states: States::default(),
            _keep: options.keep,
        }))
    }

    /// The target of its calls.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.interface.name
    }

    /// What it takes and gives.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        self.interface.signature()
    }

    /// The element types that each variable of the signature may stand for.
    #[must_use]
    pub fn sets(&self) -> &Sets {
        self.interface.plan.sets()
    }

    /// Of name, signature and code: what programs mean this very op by.
    #[must_use]
    pub fn digest(&self) -> i64 {
        self.digest as i64
    }

    /// The state of a call in a program that keeps none. It lives as long as the op does.
    pub(crate) fn state(&self, instance: usize, attributes: &Decoded) -> Result<*mut c_void> {
        let signature = self.signature();
        let key = || all_bytes(&signature.attributes, attributes);
        self.states
            .get(signature, &self.instances, instance, key, attributes)
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
