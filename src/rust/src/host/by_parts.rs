//! `xlaffi_parts`: an array that comes to a device part by part, and `xlaffi_stored`: one that lies in a file.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;

use pjrt::{Kind, Order, Parts, Source, Stored};

use crate::host::array;
use crate::host::buffer::{order, BufferObject};
use crate::host::device::DeviceObject;
use crate::r::argument::counts;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::memory;
use crate::r::object::is_null;
use crate::r::pointer::{class, get, wrap};
use crate::r::unwind::check_interrupt;
use crate::r::value::{named, Value};
use crate::r::vector::{bytes, Vector};

/// An array under way; `None` when it has come or was given up.
struct PartsObject {
    parts: RefCell<Option<Parts>>,
    has_na: Cell<bool>,
    platform: Arc<str>,
}

class!(PartsObject, c"xlaffi_parts", "an array under way");

/// An array in a file.
struct StoredObject(RefCell<Stored>);

class!(StoredObject, c"xlaffi_stored", "an array in a file");

impl PartsObject {
    fn with<T>(&self, work: impl FnOnce(&mut Parts) -> Outcome<T>) -> Outcome<T> {
        match self.parts.borrow_mut().as_mut() {
            Some(parts) => work(parts),
            None => Err(Failure::new(
                "FAILED_PRECONDITION",
                "the array has come or was given up",
            )),
        }
    }
}

routines! {
    // An array of that shape to be filled; where `open` says so, `shape` is that of one row.
    fn parts_new(dtype, device, shape, open: bool) {
        let on: &DeviceObject = get(device, "device")?;
        let (dtype, dims) = (array::dtype(dtype)?, array::dims(shape)?);
        let bytes = array::count(&dims, dtype)? * dtype.size();
        memory::expect(bytes);
        let parts = memory::retried(|| {
            Ok(match open {
                true => on.client.open_parts(&dims, dtype, Some(&on.device))?,
                false => on.client.parts(&dims, dtype, Some(&on.device))?,
            })
        })?;
        Ok(wrap(PartsObject {
            parts: RefCell::new(Some(parts)),
            has_na: Cell::new(false),
            platform: on.platform.clone(),
        }))
    }

    // Puts the next part: an R vector or array, or bytes in row-major order.
    fn parts_put(parts, data) {
        let object: &PartsObject = get(parts, "parts")?;
        let mut doubles = Vec::new();
        let (source, order) = match bytes(data) {
            Some(bytes) => (Source::Bytes(bytes), Order::RowMajor),
            None => {
                let dtype = object.with(|parts| Ok(parts.dtype()))?;
                let vector = Vector::new(data)?.with_nan(dtype, &mut doubles)?;
                object.has_na.set(object.has_na.get() || vector.has_na(dtype));
                (vector.source(), Order::ColumnMajor)
            }
        };
        object.with(|parts| {
            let parts = RefCell::new(parts);
            memory::retried(|| refused(parts.borrow_mut().put(source, order, &check_interrupt)))
        })
    }

    // Puts what is read next from a file; whether there is more.
    fn parts_step(parts, stored) {
        let (object, stored): (&PartsObject, &StoredObject) = (get(parts, "parts")?, get(stored, "stored")?);
        let more = object.with(|parts| {
            let parts = RefCell::new(parts);
            let step = || stored.0.borrow_mut().step(&mut parts.borrow_mut(), &check_interrupt);
            memory::retried(|| refused(step()))
        })?;
        Ok(Value::from(more))
    }

    // Bytes that are there, and of the whole (NA where nobody knows).
    fn parts_bytes(parts) {
        let object: &PartsObject = get(parts, "parts")?;
        object.with(|parts| {
            let size = parts.dtype().size() as f64;
            let total = parts.total().map_or(f64::NAN, |total| total as f64 * size);
            Ok(Value::Numbers(vec![parts.done() as f64 * size, total]))
        })
    }

    // The buffer.
    fn parts_finish(parts) {
        let object: &PartsObject = get(parts, "parts")?;
        let buffer = object.with(|parts| {
            let parts = RefCell::new(parts);
            memory::retried(|| refused(parts.borrow_mut().finish()))
        })?;
        object.parts.replace(None);
        Ok(wrap(BufferObject::new(buffer, &object.platform).with_na(object.has_na.get())))
    }

    // Frees what has come.
    fn parts_give_up(parts) {
        let object: &PartsObject = get(parts, "parts")?;
        drop(object.parts.replace(None));
        Ok(())
    }

    // An array in a file, from the byte `offset` on. `rows` are the first one, from 0, and the one after the last, or NULL.
    fn stored_open(path: &str, offset: f64, dtype, shape, row_major: bool, swapped: bool, rows) {
        let (dtype, dims) = (array::dtype(dtype)?, array::dims(shape)?);
        let rows = match (is_null(rows), counts(rows).as_deref()) {
            (true, _) => None,
            (false, Some(&[first, end])) => Some(first as usize..end as usize),
            _ => return Err(Failure::argument("rows", "`rows` must be two numbers")),
        };
        let (array, lies) = ((&dims[..], dtype), (order(row_major), swapped));
        let stored = Stored::open(Path::new(path), offset as u64, array, lies, rows)?;
        Ok(wrap(StoredObject(RefCell::new(stored))))
    }

    // Dtype and shape of what is read.
    fn stored_describe(stored) {
        let object: &StoredObject = get(stored, "stored")?;
        let stored = object.0.borrow();
        let dims = stored.dims().iter().map(|&d| d as f64).collect();
        Ok(named! {
            dtype = stored.dtype().name(),
            shape = Value::Numbers(dims),
        })
    }
}

/// A failure that is about the data names them.
fn refused<T>(result: pjrt::Result<T>) -> Outcome<T> {
    result.map_err(|error| match error.kind() {
        Kind::Argument => Failure::argument("data", error.message()),
        _ => error.into(),
    })
}
