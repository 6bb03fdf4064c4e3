//! One call of an R function by a program: on the handler's thread.

use std::sync::Arc;

use custom_ops::BoundCall;
use main_thread::{Patience, Refusal};
use xla_ffi::{Code, Error, Result};

use crate::callback::array::{Array, Place};
use crate::callback::attribute::Attribute;
use crate::callback::function::Callback;
use crate::callback::request::Request;
use crate::runtime::abandon::abandoned;
use crate::runtime::contained::contained;
use crate::runtime::serve::interrupt_again;
use crate::runtime::worker;

impl Callback {
    /// The body of the op. On a thread of XLA's it does not wait: programs that the R function runs
    /// need those.
    pub fn run(self: &Arc<Self>, call: &mut BoundCall<'_>) -> Result<()> {
        let request = request(self, call)?;
        if main_thread::is_here() {
            return here(request);
        }
        let patience = Patience {
            cancelled: abandoned(call.run_id()),
            limit: Some(self.patience),
        };
        if worker::is_here() {
            return ask(request, &patience);
        }
        let Ok(promise) = call.pending() else {
            return ask(request, &patience);
        };
        let waits = move || {
            promise.complete(ask(request, &patience));
            Ok(())
        };
        match worker::start(waits) {
            Ok(_) => Ok(()),
            Err(failure) => Err(Error::new(Code::ResourceExhausted, failure.message)),
        }
    }
}

fn request(callback: &Arc<Callback>, call: &mut BoundCall<'_>) -> Result<Request> {
    let signature = call.signature();
    let mut operands = Vec::with_capacity(call.operands());
    for at in 0..call.operands() {
        let in_batch = (call.batch_rank(at), call.strides(at));
        let Some(array) = call.operand(at) else {
            continue;
        };
        let place = Place(array.bytes.as_ptr().cast_mut());
        let mut known = signature.operands.iter();
        let several = known.any(|known| known.array.name == array.name && known.count.is_some());
        operands.push(Array::new(&array, several, in_batch, place)?);
    }
    let mut results = Vec::with_capacity(call.results());
    for at in 0..call.results() {
        let behind = call.operands() + at;
        let in_batch = (call.batch_rank(behind), call.strides(behind));
        let array = call.result(at);
        let place = Place(array.bytes.as_mut_ptr());
        let mut known = signature.results.iter();
        let several = known.any(|known| known.array.name == array.name && known.count.is_some());
        results.push(Array::new(&array, several, in_batch, place)?);
    }
    let attributes = 0..signature.attributes.len();
    Ok(Request {
        callback: callback.clone(),
        operands,
        results,
        attributes: attributes
            .map(|at| Attribute::of(&call.attribute(at)))
            .collect::<Result<_>>()?,
        sizes: call.batch_sizes().to_vec(),
    })
}

/// On R's own thread, below frames of XLA's: no jump must leave this.
fn here(request: Request) -> Result<()> {
    let mut outcome = None;
    contained(|| outcome = Some(request.serve()));
    interrupt_again();
    outcome.unwrap_or_else(|| Err(left()))
}

fn ask(request: Request, patience: &Patience) -> Result<()> {
    let (code, text) = match main_thread::ask(move || request.serve(), patience) {
        Ok(outcome) => return outcome,
        Err(Refusal::Left) => return Err(left()),
        Err(Refusal::Cancelled) => (
            Code::Cancelled,
            "R waits for the program no more, and does not call its functions".to_owned(),
        ),
        Err(Refusal::Closed) => (
            Code::Unavailable,
            "R ended, or xlaffi was unloaded, before the R function was called".to_owned(),
        ),
        Err(Refusal::Alone(limit)) => (
            Code::DeadlineExceeded,
            format!(
                "R did not come to call the R function for {} s: it is busy, or waits for this \
                 very program in another package (option `xlaffi.callback_wait`)",
                limit.as_secs_f64()
            ),
        ),
    };
    Err(Error::new(code, text))
}

fn left() -> Error {
    Error::new(
        Code::Cancelled,
        "the R function was interrupted, or left for another place in R",
    )
}
