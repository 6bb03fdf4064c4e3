//! The functions of the API that take an executable.

use super::loaded::{executable, loaded, Executable, Loaded};
use crate::base::entry::{entry, list_entries};
use std::sync::{Arc, PoisonError};

entry!(loaded_destroy, PJRT_LoadedExecutable_Destroy_Args, |args| {
    if !args.executable.is_null() {
        // SAFETY: every one handed out is a boxed `Loaded`, and it is destroyed once.
        drop(unsafe { Box::from_raw(args.executable.cast::<Loaded>()) });
    }
    Ok(())
});

entry!(loaded_delete, PJRT_LoadedExecutable_Delete_Args, |args| {
    // SAFETY: the API's contract.
    let runner = &unsafe { loaded(args.executable)? }.runner;
    let taken = runner.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(taken);
    Ok(())
});

entry!(
    loaded_is_deleted,
    PJRT_LoadedExecutable_IsDeleted_Args,
    |args| {
        // SAFETY: the API's contract.
        args.is_deleted = unsafe { loaded(args.executable)? }.runner().is_err();
        Ok(())
    }
);

entry!(
    get_executable,
    PJRT_LoadedExecutable_GetExecutable_Args,
    |args| {
        // SAFETY: the API's contract.
        let executable = Arc::clone(&unsafe { loaded(args.loaded_executable)? }.executable);
        args.executable = Arc::into_raw(executable).cast_mut().cast();
        Ok(())
    }
);

list_entries! {
    loaded_devices, PJRT_LoadedExecutable_AddressableDevices_Args,
    |args| loaded(args.executable)?.executable.device_list => addressable_devices, num_addressable_devices;
    loaded_fingerprint, PJRT_LoadedExecutable_Fingerprint_Args,
    |args| loaded(args.executable)?.executable.fingerprint => executable_fingerprint, executable_fingerprint_size;
}

entry!(destroy, PJRT_Executable_Destroy_Args, |args| {
    if !args.executable.is_null() {
        // SAFETY: every one handed out came from `Arc::into_raw`, and it is destroyed once.
        drop(unsafe { Arc::from_raw(args.executable.cast_const().cast::<Executable>()) });
    }
    Ok(())
});

/// Functions that answer what is known of an executable.
macro_rules! answers {
    ($($name:ident($args:ident) |$this:ident| { $($field:ident: $value:expr),* $(,)? };)*) => {$(
        entry!($name, $args, |args| {
            // SAFETY: the API's contract.
            let $this = unsafe { executable(args.executable)? };
            $(args.$field = $value;)*
            Ok(())
        });
    )*};
}

answers! {
    name(PJRT_Executable_Name_Args) |e| {
        executable_name: e.module.name.as_ptr().cast(), executable_name_size: e.module.name.len(),
    };
    fingerprint(PJRT_Executable_Fingerprint_Args) |e| {
        executable_fingerprint: e.fingerprint.as_ptr().cast(),
        executable_fingerprint_size: e.fingerprint.len(),
    };
    num_replicas(PJRT_Executable_NumReplicas_Args) |e| { num_replicas: e.replicas };
    num_partitions(PJRT_Executable_NumPartitions_Args) |e| { num_partitions: e.partitions };
    num_outputs(PJRT_Executable_NumOutputs_Args) |e| { num_outputs: e.results.len() };
    code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args) |_e| { size_in_bytes: -1 };
    output_types(PJRT_Executable_OutputElementTypes_Args) |e| {
        output_types: e.result_types.as_ptr().cast_mut(), num_output_types: e.result_types.len(),
    };
    output_dims(PJRT_Executable_OutputDimensions_Args) |e| {
        num_outputs: e.results.len(),
        dims: e.result_dims.as_ptr(),
        dim_sizes: e.result_ranks.as_ptr(),
    };
    output_memories(PJRT_Executable_OutputMemoryKinds_Args) |e| {
        num_outputs: e.results.len(),
        memory_kinds: e.result_memories.as_ptr(),
        memory_kind_sizes: e.result_memory_sizes.as_ptr(),
    };
}
