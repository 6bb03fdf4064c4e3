//! The body, called for each element of a batch.

use core::ffi::c_void;
use core::mem;
use core::ops::Range;
use core::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use xla_ffi::registry::CheckedScratch;
use xla_ffi::{Context, DataType, Error, Promise, Result};

use crate::abi;
use crate::call::Ready;
use crate::flat::Pair;
use crate::host::BoundCall;
use crate::op::{Body, Threads};
use crate::room::{self, Work};
use crate::signature::AttributeKind;
use crate::words::{Cell, Number, Word};

/// A call, ready to run: what all threads share.
pub(crate) struct Plan<'a> {
    pub(crate) call: Ready<'a>,
    pub(crate) context: &'a Context<'a>,
    /// Makes the call one that is completed after the handler has returned.
    pub(crate) later: &'a dyn Fn() -> Result<Promise>,
}

// SAFETY: threads run bodies on different elements of the batch, whose results lie apart; all else
// is read, but for `later`, which only bodies of whole batches ask: those run on one thread. Bodies may be called from any thread, as whoever makes an op promises.
unsafe impl Sync for Plan<'_> {}

/// An error, and of which element.
type Outcome = std::result::Result<(), (usize, Error)>;

/// Runs the body for all elements of the batch.
pub(crate) fn run(plan: &Plan<'_>, work: &mut Work) -> Result<()> {
    let count = plan.call.layout.sizes.iter().product::<usize>();
    if plan.call.op.whole {
        return plan.whole(work, count);
    }
    if count == 1 {
        return plan.range(work, 0..1).map_err(|(_, error)| error);
    }
    let outcome = match plan.call.op.threads {
        Threads::Auto if plan.context.num_threads() > 1 => plan.on_threads(work, count),
        _ => plan.range(work, 0..count),
    };
    outcome.map_err(|(at, error)| {
        let text = format!("{error} (element {} of the batch of {count})", at + 1);
        Error::new(error.code(), text)
    })
}

/// A body that may throw.
type Unwinding = unsafe extern "C-unwind" fn(*const abi::Call) -> i32;

/// What is worth another thread.
const WORTH: Duration = Duration::from_micros(100);
/// What tells how long an element takes: the first ones find cold caches, and the clock is read
/// between them.
const SURE: Duration = Duration::from_micros(10);
/// What a thread takes at a time.
const TURN: Duration = Duration::from_micros(30);

impl Plan<'_> {
    /// Runs some elements, and those that are left on other threads as well if they take long
    /// enough for that.
    fn on_threads(&self, work: &mut Work, count: usize) -> Outcome {
        let start = Instant::now();
        let (mut done, mut step) = (0, 1);
        while done < count {
            let end = count.min(done + step);
            self.range(work, done..end)?;
            done = end;
            let elapsed = start.elapsed();
            if elapsed < SURE {
                step *= 2;
                continue;
            }
            let each = elapsed / u32::try_from(done).unwrap_or(u32::MAX);
            step = (TURN.as_nanos() / each.as_nanos().max(1)).max(1) as usize;
            if each * u32::try_from(count - done).unwrap_or(u32::MAX) > WORTH {
                return self.in_turns(done..count, step);
            }
        }
        Ok(())
    }

    fn in_turns(&self, elements: Range<usize>, step: usize) -> Outcome {
        let first = AtomicUsize::new(usize::MAX);
        let failed = Mutex::new(None);
        self.context.parallel_for(elements.len(), step, |range| {
            let range = elements.start + range.start..elements.start + range.end;
            // The error that is told is that of the first element, whatever the threads.
            if range.start > first.load(Ordering::Relaxed) {
                return;
            }
            let outcome = room::with(|room| self.range(&mut room.work, range));
            if let Err((at, error)) = outcome {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if at < first.load(Ordering::Relaxed) {
                    first.store(at, Ordering::Relaxed);
                    *failed = Some((at, error));
                }
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), Err)
    }

    /// Gives the body the whole batch.
    fn whole(&self, work: &mut Work, count: usize) -> Result<()> {
        if !self.call.copies.is_empty() && count > 0 {
            self.start(work, 0)?;
            for element in 0..count {
                if element > 0 {
                    self.step(work);
                }
                self.copy(work);
            }
        }
        let _scratch = self.start(work, 0)?;
        self.one(work, 0)
    }

    /// Runs elements one after the other on this thread.
    fn range(&self, work: &mut Work, range: Range<usize>) -> Outcome {
        if range.is_empty() {
            return Ok(());
        }
        let first = range.start;
        let started = self.start(work, first);
        let _scratch = started.map_err(|error| (first, error))?;
        for element in range {
            if element != first {
                self.step(work);
            }
            self.copy(work);
            self.one(work, element).map_err(|error| (element, error))?;
        }
        Ok(())
    }

    /// Sets the addresses for an element; scratch memory that is not the room's must live as long as
    /// they are used.
    fn start(&self, work: &mut Work, element: usize) -> Result<Vec<CheckedScratch>> {
        let count = self.call.flats.len();
        work.at.clear();
        work.at.resize(self.call.layout.sizes.len(), 0);
        let mut rest = element;
        for (at, &size) in work.at.iter_mut().zip(&self.call.layout.sizes).rev() {
            // Of an empty batch there is no element.
            *at = rest % size.max(1);
            rest /= size.max(1);
        }
        let scratch =
            self.call.flats.len() - self.call.copies.len() - self.call.op.signature().scratch.len();
        let mut checked = self.checked_scratch()?;
        let memory = match checked.is_empty() {
            true => work.scratch.at_least(self.call.scratch)?,
            false => ptr::null_mut(),
        };
        work.flat.clear();
        for (at, flat) in self.call.flats.iter().enumerate() {
            let is_scratch = at >= scratch && at < scratch + self.call.op.signature().scratch.len();
            let base = match (is_scratch, checked.get_mut(at.wrapping_sub(scratch))) {
                (true, Some(own)) => own.as_mut_ptr(),
                (true, None) => memory.wrapping_add(flat.base as usize),
                (false, _) => flat.base,
            };
            let steps = work.at.iter().enumerate();
            let offset: isize = steps
                .map(|(axis, &step)| self.call.layout.strides[axis * count + at] * step as isize)
                .sum();
            work.flat.push(base.wrapping_offset(offset).cast());
        }
        if self.call.op.many.is_some() {
            self.gather(work);
        }
        Ok(checked)
    }

    /// Goes on to the next element.
    #[inline]
    fn step(&self, work: &mut Work) {
        let count = self.call.flats.len();
        for axis in (0..self.call.layout.sizes.len()).rev() {
            let strides = &self.call.layout.strides[axis * count..][..count];
            work.at[axis] += 1;
            if work.at[axis] < self.call.layout.sizes[axis] {
                for (address, &stride) in work.flat.iter_mut().zip(strides) {
                    *address = address.wrapping_byte_offset(stride);
                }
                break;
            }
            // Back to the beginning of this axis, and on along the one before it.
            work.at[axis] = 0;
            let back = self.call.layout.sizes[axis] as isize - 1;
            for (address, &stride) in work.flat.iter_mut().zip(strides) {
                *address = address.wrapping_byte_offset(-stride * back);
            }
        }
        if self.call.op.many.is_some() {
            self.gather(work);
        }
    }

    /// What the body gets, where an operand comes several times.
    fn gather(&self, work: &mut Work) {
        work.buffers.clear();
        let flat = work.flat.as_mut_ptr();
        let mut at = 0;
        for several in self.call.op.counts() {
            let here = flat.wrapping_add(at);
            if several {
                work.buffers.push(here.cast());
                at += self.call.layout.count;
            } else {
                // SAFETY: there is an address for each array, counted as often as it comes.
                work.buffers.push(unsafe { *here });
                at += 1;
            }
        }
    }

    /// Copies operands to the results where the body works on them, for this element.
    #[inline]
    fn copy(&self, work: &Work) {
        let copied = self.call.flats.len() - self.call.copies.len();
        for (from, &Pair { to, .. }) in (copied..).zip(self.call.copies) {
            let bytes = self.call.flats[to].bytes;
            if bytes > 0 {
                let (source, result) = (work.flat[from].cast::<u8>(), work.flat[to].cast());
                // SAFETY: this element of an operand and a result of one type, that do not overlap.
                unsafe { ptr::copy_nonoverlapping(source, result, bytes) };
            }
        }
    }

    fn one(&self, work: &mut Work, element: usize) -> Result<()> {
        let buffers = if self.call.op.many.is_some() {
            work.buffers.as_ptr()
        } else {
            work.flat.as_ptr()
        };
        match &self.call.instance.body {
            Body::C(body) => self.compiled(work, buffers, element, |call| {
                // SAFETY: the op's function with what its signature says.
                Ok(unsafe { body(call) })
            }),
            Body::Foreign(body, barrier) => self.compiled(work, buffers, element, |call| {
                // SAFETY: as above; types that differ in what may leave the function, and a call that
                // has nothing to drop.
                unsafe {
                    let body = mem::transmute::<abi::Body, Unwinding>(*body);
                    barrier.catch(|| body(call))
                }
            }),
            Body::Words(words) => {
                // SAFETY: as above.
                let status = unsafe { words.call(|word| self.word(word, buffers)) }?;
                match status {
                    0 => Ok(()),
                    status => Err(Error::internal(format!("the function returned {status}"))),
                }
            }
            Body::Host(body) => body(&mut BoundCall::new(self, &work.flat, element)),
        }
    }

    /// Calls a body for an element by way of `enter`.
    #[inline(always)]
    fn compiled(
        &self,
        work: &mut Work,
        buffers: *const *mut c_void,
        element: usize,
        enter: impl FnOnce(&abi::Call) -> Result<i32>,
    ) -> Result<()> {
        let (message, message_size) = work.message.room();
        let call = abi::Call {
            size: size_of::<abi::Call>(),
            buffers,
            dims: self.call.layout.bound.dims().as_ptr(),
            attributes: self.call.attributes.all.as_ptr(),
            state: self.call.state,
            batch: element as i64,
            message,
            message_size,
        };
        let code = enter(&call)?;
        // SAFETY: the body wrote its text as `xlaffi.h` says.
        unsafe { work.message.outcome(code) }
    }

    /// What stands for a word of a function's arguments.
    fn word(&self, word: Word, buffers: *const *mut c_void) -> Result<Cell> {
        let number = |number| match number {
            Number::Dim(dim) => self.call.layout.bound.dims()[dim],
            Number::Attribute(at) => self.call.attributes.numbers[at],
        };
        let int = |value: i64| match i32::try_from(value) {
            Ok(value) => Ok(Cell::int(value)),
            Err(_) => Err(Error::invalid_argument(format!(
                "{value} does not fit into an int, as the function takes it"
            ))),
        };
        match word {
            // SAFETY: there are as many as the signature has arrays.
            Word::Array(at) => Ok(Cell::Word(unsafe { *buffers.add(at) } as usize)),
            Word::Value(value) => Ok(Cell::Word(number(value) as usize)),
            Word::I32(value) => int(number(value)),
            Word::I64(value) => Ok(Cell::Behind(number(value) as u64)),
            Word::F64(Number::Attribute(at)) => Ok(Cell::Behind(self.double(at).to_bits())),
            Word::F64(value) => Ok(Cell::Behind((number(value) as f64).to_bits())),
            Word::Attribute(at) => Ok(Cell::Word(self.call.attributes.all[at].data as usize)),
            Word::Length(at) => int(self.call.attributes.all[at].length as i64),
            Word::Size(at) => {
                let flat = &self.call.flats[self.flat_of(at)];
                int((flat.bytes / flat.dtype.size().unwrap_or(1)) as i64)
            }
        }
    }

    /// A scalar attribute as a double.
    fn double(&self, at: usize) -> f64 {
        let data = self.call.attributes.all[at].data;
        match self.call.op.signature().attributes[at].kind {
            // SAFETY: a scalar of this type, aligned.
            AttributeKind::Scalar(DataType::F64) => unsafe { data.cast::<f64>().read() },
            // SAFETY: as above.
            AttributeKind::Scalar(DataType::F32) => f64::from(unsafe { data.cast::<f32>().read() }),
            _ => self.call.attributes.numbers[at] as f64,
        }
    }

    /// The place of the first array of the signature's, by its place in what the body gets.
    fn flat_of(&self, buffer: usize) -> usize {
        let counts = self.call.op.counts().take(buffer);
        counts
            .map(|several| if several { self.call.layout.count } else { 1 })
            .sum()
    }
}
