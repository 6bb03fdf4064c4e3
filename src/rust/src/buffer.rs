//! `xlaffi_buffer`: an array on a device.

use std::sync::Arc;
use std::time::Duration;

use extendr_api::prelude::*;
use extendr_api::wrapper::symbol;
use extendr_ffi::R_NilValue;
use pjrt::{Buffer, DType, HostData, Order, Source};

use crate::device::{default_device, DeviceObject};
use crate::failure::{guard, Failure, Outcome};
use crate::fast::fast;
use crate::host;
use crate::literal::literals;
use crate::pointer::{class, get, has_own_class, wrap, wrap_sexp};
use crate::vector::Vector;

/// An array on a device.
pub struct BufferObject {
    /// The array.
    pub buffer: Arc<Buffer>,
    /// Name of the platform.
    pub platform: Arc<str>,
}

class!(
    BufferObject,
    c"xlaffi_buffer",
    "a buffer made by pjrt_buffer() or pjrt_execute()"
);

fn upload(on: &DeviceObject, host: HostData<'_>) -> Outcome<BufferObject> {
    Ok(BufferObject {
        buffer: Arc::new(on.client.upload(host, Some(&on.device))?),
        platform: on.platform.clone(),
    })
}

/// An R vector or array, with the dimensions that it has, on a device.
pub fn upload_array(on: &DeviceObject, data: &Robj, dtype: DType) -> Outcome<BufferObject> {
    upload_shaped(on, data, Some(dtype), host::dims_of(data))
}

fn upload_shaped(
    on: &DeviceObject,
    data: &Robj,
    dtype: Option<DType>,
    dims: Vec<i64>,
) -> Outcome<BufferObject> {
    let vector = Vector::new(data)?;
    let dtype = dtype.unwrap_or_else(|| vector.default_dtype());
    let count = host::count(&dims, dtype)?;
    let with = |source| HostData {
        source,
        dims: &dims,
        order: Order::ColumnMajor,
        dtype,
    };
    if vector.len() == 1 && count != 1 {
        let filled = vector.repeat(count)?;
        upload(on, with(filled.source()))
    } else {
        upload(on, with(vector.source()))
    }
}

fast! {
    // A buffer from an R vector or array. `dtype` and `shape` may be NULL; so may `device` once
    // the default platform has a client, else R has to make one: the result is NULL.
    fn buffer_from_r, wrap__buffer_from_r, meta__buffer_from_r (data, dtype, device, shape) {
        let on: &DeviceObject = match device.is_null() {
            true => match default_device() {
                Some(device) => device,
                // SAFETY: a constant of R.
                None => return Ok(unsafe { R_NilValue }),
            },
            false => get(device, "device")?,
        };
        let dtype = match dtype.is_null() {
            true => None,
            false => Some(host::dtype(dtype)?),
        };
        let dims = match shape.is_null() {
            true => host::dims_of(data),
            false => host::dims(shape)?,
        };
        Ok(wrap_sexp(upload_shaped(on, data, dtype, dims)?))
    }

    // The R array of a buffer that needs nothing else: its contents are there, no printed text
    // waits to be shown before it, and no subclass has a method of its own. Else NULL.
    fn buffer_to_r_now, wrap__buffer_to_r_now, meta__buffer_to_r_now (buffer) or null {
        // SAFETY: a constant of R.
        let not_now = Ok(unsafe { R_NilValue });
        if !has_own_class::<BufferObject>(buffer) || ops::print::is_waiting() {
            return not_now;
        }
        let object: &BufferObject = get(buffer, "x")?;
        match object.buffer.wait_timeout(Duration::ZERO) {
            Ok(true) => host::read(&object.buffer).or(not_now),
            _ => not_now,
        }
    }

    // The R array, or NULL as long as the contents are not there.
    fn buffer_to_r, wrap__buffer_to_r, meta__buffer_to_r (buffer) {
        let object: &BufferObject = get(buffer, "x")?;
        if !object.buffer.wait_timeout(Duration::ZERO)? {
            // SAFETY: a constant of R.
            return Ok(unsafe { R_NilValue });
        }
        host::read(&object.buffer)
    }

    // Waits up to `seconds`; whether the contents are there. The error of their computation.
    fn buffer_wait, wrap__buffer_wait, meta__buffer_wait (buffer, seconds) {
        let object: &BufferObject = get(buffer, "x")?;
        let limit = Duration::from_secs_f64(seconds.as_real().unwrap_or(0.0).max(0.0));
        // What is waited for may need Python's lock, which reticulate makes R's thread keep.
        let done = pjrt_jaxlib::python::blocking(|| object.buffer.wait_timeout(limit))?;
        // SAFETY: R's thread; TRUE and FALSE are constants of R.
        Ok(unsafe { Robj::from(done).get() })
    }
}

// A buffer from bytes that have the element type already.
#[extendr]
fn buffer_from_raw(data: Robj, dtype: Robj, device: Robj, shape: Robj, row_major: bool) -> Robj {
    guard(|| {
        let on: &DeviceObject = get(&device, "device")?;
        let dtype = host::dtype(&dtype)?;
        let dims = host::dims(&shape)?;
        let bytes = data
            .as_raw_slice()
            .ok_or_else(|| Failure::argument("data", "`data` must be a raw vector"))?;
        let needed = host::count(&dims, dtype)? * dtype.size();
        if bytes.len() != needed {
            return Err(Failure::argument(
                "data",
                format!(
                    "Raw data has {} bytes, but dtype {dtype} with shape {} requires {needed} bytes",
                    bytes.len(),
                    host::shape_text(&dims)
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
    })
}

// A buffer whose contents do not matter.
#[extendr]
fn buffer_empty(dtype: Robj, device: Robj, shape: Robj) -> Robj {
    guard(|| {
        let on: &DeviceObject = get(&device, "device")?;
        let dtype = host::dtype(&dtype)?;
        let dims = host::dims(&shape)?;
        let bytes = host::zeros(host::count(&dims, dtype)? * dtype.size())?;
        let host = HostData {
            source: Source::Bytes(&bytes),
            dims: &dims,
            order: Order::RowMajor,
            dtype,
        };
        Ok(wrap(upload(on, host)?))
    })
}

// The bytes in the given order. Waits.
#[extendr]
fn buffer_to_raw(buffer: Robj, row_major: bool) -> Robj {
    guard(|| {
        let object: &BufferObject = get(&buffer, "x")?;
        host::read_raw(&object.buffer, order(row_major))
    })
}

// Dtype, shape and platform.
#[extendr]
fn buffer_describe(buffer: Robj) -> Robj {
    guard(|| {
        let object: &BufferObject = get(&buffer, "x")?;
        Ok(list!(
            dtype = object.buffer.dtype().name(),
            shape = host::dims_to_r(object.buffer.dims())?,
            platform = &*object.platform
        ))
    })
}

// Platform and id of the device.
#[extendr]
fn buffer_device(buffer: Robj) -> Robj {
    guard(|| {
        let object: &BufferObject = get(&buffer, "x")?;
        Ok(list!(
            platform = &*object.platform,
            id = object.buffer.device()?.id()?
        ))
    })
}

// A copy on another device of the same platform.
#[extendr]
fn buffer_copy(buffer: Robj, device: Robj) -> Robj {
    guard(|| {
        let object: &BufferObject = get(&buffer, "buffer")?;
        let to: &DeviceObject = get(&device, "device")?;
        Ok(wrap(BufferObject {
            buffer: Arc::new(object.buffer.copy_to(&to.device)?),
            platform: to.platform.clone(),
        }))
    })
}

// The lines that print() shows.
#[extendr]
fn buffer_lines(buffer: Robj, max_rows: f64, max_width: f64, max_rows_slice: f64) -> Robj {
    guard(|| {
        let object: &BufferObject = get(&buffer, "x")?;
        let options = ops::print::Options {
            max_rows: max_rows as i64,
            max_width: max_width as i64,
            max_rows_slice: max_rows_slice as i64,
        };
        let bytes = host::read_bytes(&object.buffer, Order::RowMajor)?;
        let dtype = object.buffer.dtype().info().dtype;
        let lines = ops::print::format_buffer(dtype, object.buffer.dims(), &bytes, &options)
            .map_err(|error| Failure::new("INTERNAL", error))?;
        Ok(Robj::from(lines))
    })
}

// The elements as StableHLO writes them, as an array.
#[extendr]
fn buffer_literals(buffer: Robj) -> Robj {
    guard(|| {
        let object: &BufferObject = get(&buffer, "buffer")?;
        let buffer = &object.buffer;
        let bytes = host::read_bytes(buffer, Order::ColumnMajor)?;
        let mut texts = Robj::from(literals(buffer.dtype(), &bytes));
        if !buffer.dims().is_empty() {
            let dims = Robj::from(host::dims_to_r(buffer.dims())?);
            texts
                .set_attrib(symbol::dim_symbol(), dims)
                .map_err(|error| Failure::new("INTERNAL", error))?;
        }
        Ok(texts)
    })
}

// The canonical name of a dtype.
#[extendr]
fn dtype_parse(dtype: Robj) -> Robj {
    guard(|| Ok(Robj::from(host::dtype(&dtype)?.name())))
}

fn order(row_major: bool) -> Order {
    match row_major {
        true => Order::RowMajor,
        false => Order::ColumnMajor,
    }
}

extendr_module! {
    mod buffer;
    fn buffer_from_r;
    fn buffer_from_raw;
    fn buffer_empty;
    fn buffer_to_r_now;
    fn buffer_to_r;
    fn buffer_to_raw;
    fn buffer_describe;
    fn buffer_device;
    fn buffer_wait;
    fn buffer_copy;
    fn buffer_lines;
    fn buffer_literals;
    fn dtype_parse;
}
