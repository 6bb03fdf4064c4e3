//! Transfers by parts of the fake plugin.

use super::objects::*;
use super::run::{later, row_major};
use pjrt_api::*;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

struct FakeTransfer {
    kind: PJRT_Buffer_Type,
    dims: Vec<i64>,
    data: Arc<Mutex<Vec<u8>>>,
    ready: FakeEvent,
}

/// How many parts were sent.
pub static SENT: AtomicUsize = AtomicUsize::new(0);

/// A table with them.
pub fn table() -> PJRT_Api {
    let mut t = super::table();
    t.PJRT_Device_DefaultMemory = Some(default_memory);
    t.PJRT_Client_CreateBuffersForAsyncHostToDevice = Some(create);
    t.PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer = Some(retrieve);
    t.PJRT_AsyncHostToDeviceTransferManager_TransferData = Some(send);
    t.PJRT_AsyncHostToDeviceTransferManager_Destroy = Some(destroy);
    t
}

functions! {
    fn default_memory(a: PJRT_Device_DefaultMemory_Args) -> *mut PJRT_Error {
        a.memory = 24 as *mut PJRT_Memory;
        null_mut()
    }
    fn create(a: PJRT_Client_CreateBuffersForAsyncHostToDevice_Args) -> *mut PJRT_Error {
        assert_eq!((a.num_shape_specs, a.num_device_layouts), (1, 0));
        assert_eq!(a.memory as usize, 24);
        // SAFETY: the host's shape is alive during the call.
        let (kind, dims) = unsafe {
            let spec = &*a.shape_specs;
            assert_eq!(spec.struct_size, PJRT_ShapeSpec::STRUCT_SIZE);
            (spec.element_type, std::slice::from_raw_parts(spec.dims, spec.num_dims).to_vec())
        };
        if dims[0] == 13 {
            return error(PJRT_Error_Code::RESOURCE_EXHAUSTED, "out of device memory");
        }
        let size = pjrt::DType::from_pjrt(kind).unwrap().size();
        let len = dims.iter().product::<i64>() as usize * size;
        a.transfer_manager = give(TRANSFER, FakeTransfer {
            kind,
            dims,
            data: Arc::new(Mutex::new(vec![0; len])),
            ready: FakeEvent::default(),
        });
        null_mut()
    }
    fn retrieve(a: PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args) -> *mut PJRT_Error {
        assert_eq!(a.buffer_index, 0);
        let t: &FakeTransfer = peek(a.transfer_manager);
        // Matrices of 17 columns are kept by columns, those of 19 in tiles.
        let layout = match t.dims[..] {
            [_, 17] => Placing::MinorToMajor(vec![0, 1]),
            [_, 19] => Placing::Tiled,
            _ => row_major(t.dims.len()),
        };
        a.buffer_out = FakeBuffer {
            kind: t.kind,
            dims: t.dims.clone(),
            layout,
            data: t.data.clone(),
            borrowed: None,
            ready: t.ready.clone(),
            deleted: Arc::default(),
        }
        .give();
        null_mut()
    }
    fn send(a: PJRT_AsyncHostToDeviceTransferManager_TransferData_Args) -> *mut PJRT_Error {
        let t: &FakeTransfer = peek(a.transfer_manager);
        SENT.fetch_add(1, Ordering::SeqCst);
        let (from, to, len) = (a.data as usize, a.offset as usize, a.transfer_size as usize);
        let (data, ready, is_last) = (t.data.clone(), t.ready.clone(), a.is_last_transfer);
        let fails = t.dims[0] == 11 && to > 0;
        let done = FakeEvent::default();
        a.done_with_h2d_transfer = done.give();
        later(move || {
            if fails {
                return done.set(Some((PJRT_Error_Code::INTERNAL, "the link is down".into())));
            }
            // SAFETY: the host keeps its memory until it is told.
            let from = unsafe { std::slice::from_raw_parts(from as *const u8, len) };
            data.lock().unwrap()[to..to + len].copy_from_slice(from);
            done.set(None);
            if is_last {
                ready.set(None);
            }
        });
        null_mut()
    }
    fn destroy(a: PJRT_AsyncHostToDeviceTransferManager_Destroy_Args) -> *mut PJRT_Error {
        drop(take::<FakeTransfer, _>(TRANSFER, a.transfer_manager));
        null_mut()
    }
}
