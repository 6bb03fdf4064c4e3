//! `xlaffi_buffer`: an array on a device.

use std::sync::Arc;
use std::time::Duration;

use extendr_api::{GetSexp, Robj};
use extendr_ffi::{R_NilValue, Rboolean, Rf_isObject};
use pjrt::{Buffer, DType, HostData, Kind, Order, Source};

use crate::host::array;
use crate::host::contents::{size, wait};
use crate::host::device::{default_device, DeviceObject};
use crate::host::literal::literals;
use crate::r::argument::flag;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::memory::{self, Held};
use crate::r::object::is_null;
use crate::r::pointer::{class, get, has_own_class, wrap};
use crate::r::protected::Protected;
use crate::r::unwind::check_interrupt;
use crate::r::value::{named, IntoSexp, Value};
use crate::r::vector::{bytes, Vector};

/// An array on a device.
pub struct BufferObject {
    /// The array.
    pub buffer: Arc<Buffer>,
    /// Name of the platform.
    pub platform: Arc<str>,
    /// Whether it was made of R data with NA where XLA has none: the least integer, or TRUE. Programs with R's meaning
    /// do not take it.
    pub has_na: bool,
    _held: Held,
}

impl BufferObject {
    /// To be handed to R.
    pub fn new(buffer: Buffer, platform: &Arc<str>) -> Self {
        BufferObject {
            _held: Held::new(size(&buffer)),
            buffer: Arc::new(buffer),
            platform: platform.clone(),
            has_na: false,
        }
    }

    /// What is made of R data, or a copy of that.
    pub fn with_na(self, has_na: bool) -> Self {
        BufferObject { has_na, ..self }
    }
}

class!(
    BufferObject,
    c"xlaffi_buffer",
    "a buffer made by pjrt_buffer() or pjrt_execute()"
);

fn upload(on: &DeviceObject, host: HostData<'_>) -> Outcome<BufferObject> {
    let bytes = array::count(host.dims, host.dtype)? * host.dtype.size();
    array::look_for_interrupt(bytes);
    memory::expect(bytes);
    let buffer = memory::retried(|| {
        let uploaded = on
            .client
            .upload_with_pauses(host, Some(&on.device), &check_interrupt);
        uploaded.map_err(|error| match error.kind() {
            Kind::Argument => Failure::argument("data", error.message()),
            _ => error.into(),
        })
    })?;
    Ok(BufferObject::new(buffer, &on.platform))
}

/// An R vector or array, with the dimensions that it has, on a device.
pub fn upload_array(on: &DeviceObject, data: &Robj, dtype: DType) -> Outcome<BufferObject> {
    upload_shaped(on, data, Some(dtype), array::dims_of(data))
}

fn upload_shaped(
    on: &DeviceObject,
    data: &Robj,
    dtype: Option<DType>,
    dims: Vec<i64>,
) -> Outcome<BufferObject> {
    let given = Vector::new(data)?;
    let dtype = dtype.unwrap_or_else(|| given.default_dtype());
    let mut doubles = Vec::new();
    let vector = given.with_nan(dtype, &mut doubles)?;
    let has_na = vector.has_na(dtype);
    let count = array::count(&dims, dtype)?;
    let with = |source| HostData {
        source,
        dims: &dims,
        order: Order::ColumnMajor,
        dtype,
    };
    let made = if vector.len() == 1 && count != 1 {
        let filled = vector.repeat(count)?;
        upload(on, with(filled.source()))
    } else {
        upload(on, with(vector.source()))
    };
    Ok(made?.with_na(has_na))
}

/// An array of zeros, of which this side never has more than a part besides what the device has.
fn filled_with_zeros(on: &DeviceObject, dims: &[i64], dtype: DType) -> Outcome<Buffer> {
    const PART: usize = 1 << 20;
    let mut parts = on.client.parts(dims, dtype, Some(&on.device))?;
    let count = array::count(dims, dtype)?;
    let part = vec![0; PART.min(count * dtype.size())];
    let most = PART / dtype.size();
    while parts.done() < count {
        let next = most.min(count - parts.done()) * dtype.size();
        parts.put(
            Source::Bytes(&part[..next]),
            Order::RowMajor,
            &check_interrupt,
        )?;
    }
    Ok(parts.finish()?)
}

/// A buffer whose contents are there, with no printed text that is to be shown first, and without methods of a subclass.
fn there(buffer: &Robj) -> Outcome<Option<&BufferObject>> {
    if !has_own_class::<BufferObject>(buffer) || ops::print::is_waiting() {
        return Ok(None);
    }
    let object: &BufferObject = get(buffer, "x")?;
    let is_there = object.buffer.wait_timeout(Duration::ZERO)?;
    Ok(is_there.then_some(object))
}

/// An R vector or array on a device; `dtype` and `shape` may be NULL.
fn from_r(on: &DeviceObject, data: &Robj, dtype: &Robj, shape: &Robj) -> Outcome<BufferObject> {
    let dtype = match is_null(dtype) {
        true => None,
        false => Some(array::dtype(dtype)?),
    };
    let dims = match is_null(shape) {
        true => array::dims_of(data),
        false => array::dims(shape)?,
    };
    upload_shaped(on, data, dtype, dims)
}

routines! {
    // A buffer from an R vector or array. `dtype` and `shape` may be NULL; so may `device` once
    // the default platform has a client, else R has to make one: the result is NULL.
    fn buffer_from_r(data, dtype, device, shape) {
        let on: &DeviceObject = match is_null(device) {
            true => match default_device() {
                Some(device) => device,
                // SAFETY: a constant of R.
                None => return Ok(unsafe { R_NilValue }),
            },
            false => get(device, "device")?,
        };
        Ok(wrap(from_r(on, data, dtype, shape)?))
    }

    // As above, for data without a class that need no check, and a device that is there. Else, and where
    // anything is wrong, NULL.
    fn buffer_from_r_now(data, dtype, device, shape, check) or null {
        // SAFETY: an R object that R protects; a constant of R.
        let (is_object, not_now) = unsafe { (Rf_isObject(data.get()), R_NilValue) };
        let on = match is_null(device) {
            true => default_device(),
            false => Some(get(device, "device")?),
        };
        match on {
            Some(on) if is_object == Rboolean::FALSE && flag(check) == Some(false) => {
                Ok(wrap(from_r(on, data, dtype, shape)?))
            }
            _ => Ok(not_now),
        }
    }

    // A buffer from bytes that have the element type already.
    fn buffer_from_raw(data, dtype, device, shape, row_major: bool) {
        let on: &DeviceObject = get(device, "device")?;
        let dtype = array::dtype(dtype)?;
        let dims = array::dims(shape)?;
        let bytes = bytes(data)
            .ok_or_else(|| Failure::argument("data", "`data` must be a raw vector"))?;
        let needed = array::count(&dims, dtype)? * dtype.size();
        if bytes.len() != needed {
            return Err(Failure::argument(
                "data",
                format!(
                    "Raw data has {} bytes, but dtype {dtype} with shape {} requires {needed} bytes",
                    bytes.len(),
                    array::shape_text(&dims)
                ),
            ));
        }
        let host = HostData {
            source: Source::Bytes(bytes),
            dims: &dims,
            order: order(row_major),
            dtype,
        };
        Ok(wrap(upload(on, host)?))
    }

    // A buffer whose contents do not matter.
    fn buffer_empty(dtype, device, shape) {
        let on: &DeviceObject = get(device, "device")?;
        let dtype = array::dtype(dtype)?;
        let dims = array::dims(shape)?;
        memory::expect(array::count(&dims, dtype)? * dtype.size());
        let buffer = memory::retried(|| filled_with_zeros(on, &dims, dtype))?;
        Ok(wrap(BufferObject::new(buffer, &on.platform)))
    }

    // The R array of a buffer that needs nothing else: its contents are there, no printed text
    // waits to be shown before it, and no subclass has a method of its own. Else NULL.
    fn buffer_to_r_now(buffer) or null {
        match there(buffer)? {
            Some(object) => array::read(&object.buffer),
            // SAFETY: a constant of R.
            None => Ok(unsafe { R_NilValue }),
        }
    }

    // Such a buffer itself. Else NULL.
    fn buffer_if_there(buffer) or null {
        let is_there = there(buffer)?.is_some();
        // SAFETY: an R object that R protects, or a constant of R.
        Ok(unsafe { if is_there { buffer.get() } else { R_NilValue } })
    }

    // The R array, or NULL as long as the contents are not there.
    fn buffer_to_r(buffer) {
        let object: &BufferObject = get(buffer, "x")?;
        if !object.buffer.wait_timeout(Duration::ZERO)? {
            // SAFETY: a constant of R.
            return Ok(unsafe { R_NilValue });
        }
        array::read(&object.buffer)
    }

    // The bytes in the given order. Waits.
    fn buffer_to_raw(buffer, row_major: bool) {
        let object: &BufferObject = get(buffer, "x")?;
        array::read_raw(&object.buffer, order(row_major))
    }

    // Dtype, shape and platform, and whether it was made of data with NA where XLA has none.
    fn buffer_describe(buffer) {
        let object: &BufferObject = get(buffer, "x")?;
        Ok(named! {
            dtype = object.buffer.dtype().name(),
            shape = array::dims_to_r(object.buffer.dims())?,
            platform = &*object.platform,
            has_na = object.has_na,
        })
    }

    // The number of the client and the id of the device.
    fn buffer_device(buffer) {
        let object: &BufferObject = get(buffer, "x")?;
        Ok(named! {
            client = object.buffer.client().number() as i32,
            id = object.buffer.device()?.id()?,
        })
    }

    // Waits up to `seconds`; whether the contents are there. The error of their computation.
    fn buffer_wait(buffer, seconds: f64) {
        let object: &BufferObject = get(buffer, "x")?;
        let limit = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        Ok(Value::from(wait(&object.buffer, limit)?))
    }

    // A copy on another device; on one of another client through this process's memory.
    fn buffer_copy(buffer, device) {
        let object: &BufferObject = get(buffer, "buffer")?;
        let to: &DeviceObject = get(device, "device")?;
        let from = &object.buffer;
        let copy = if from.client().is_same(&to.client) {
            memory::expect(size(from));
            let copy = memory::retried(|| Ok(from.copy_to(&to.device)?))?;
            BufferObject::new(copy, &to.platform)
        } else {
            let bytes = array::read_bytes(from, Order::RowMajor)?;
            upload(to, HostData {
                source: Source::Bytes(&bytes),
                dims: from.dims(),
                order: Order::RowMajor,
                dtype: from.dtype(),
            })?
        };
        Ok(wrap(copy.with_na(object.has_na)))
    }

    // The lines that print() shows.
    fn buffer_lines(buffer, max_rows: f64, max_width: f64, max_rows_slice: f64) {
        let object: &BufferObject = get(buffer, "x")?;
        let options = ops::print::Options {
            max_rows: max_rows as i64,
            max_width: max_width as i64,
            max_rows_slice: max_rows_slice as i64,
        };
        let bytes = array::read_bytes(&object.buffer, Order::RowMajor)?;
        let dtype = object.buffer.dtype().info().dtype;
        let lines = ops::print::format_buffer(dtype, object.buffer.dims(), &bytes, &options)
            .map_err(|error| Failure::new("INTERNAL", error))?;
        Ok(Value::from(lines))
    }

    // The elements as StableHLO writes them, as an array.
    fn buffer_literals(buffer) {
        let object: &BufferObject = get(buffer, "buffer")?;
        let buffer = &object.buffer;
        let bytes = array::read_bytes(buffer, Order::ColumnMajor)?;
        let texts = Value::from(literals(buffer.dtype(), &bytes)).into_sexp();
        // SAFETY: R's thread; a fresh object.
        let texts = unsafe { Protected::new(texts) };
        array::set_dims(&texts, buffer.dims())?;
        Ok(texts.sexp())
    }

    // The canonical name of a dtype.
    fn dtype_parse(dtype) {
        Ok(Value::from(array::dtype(dtype)?.name()))
    }
}

pub fn order(row_major: bool) -> Order {
    match row_major {
        true => Order::RowMajor,
        false => Order::ColumnMajor,
    }
}
