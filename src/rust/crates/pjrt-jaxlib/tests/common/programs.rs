//! Programs: compiled, executed, serialised.

use super::*;
use crate::call;

/// What an execution may be told.
#[derive(Default)]
pub struct How<'a> {
    pub kept: &'a [i64],
    pub device: Option<*mut PJRT_Device>,
}

pub fn executable_of(program: *mut PJRT_LoadedExecutable) -> *mut PJRT_Executable {
    call!(
        PJRT_LoadedExecutable_GetExecutable,
        PJRT_LoadedExecutable_GetExecutable_Args {
            loaded_executable: program
        }
    )
    .unwrap()
    .executable
}

pub fn destroy_unloaded(executable: *mut PJRT_Executable) {
    call!(
        PJRT_Executable_Destroy,
        PJRT_Executable_Destroy_Args { executable }
    )
    .unwrap();
}

pub fn number_of_results(program: *mut PJRT_LoadedExecutable) -> usize {
    let executable = executable_of(program);
    let n = call!(
        PJRT_Executable_NumOutputs,
        PJRT_Executable_NumOutputs_Args { executable }
    )
    .unwrap()
    .num_outputs;
    destroy_unloaded(executable);
    n
}

/// Runs a program on one device: its results and its event.
pub fn execute_with(
    executable: *mut PJRT_LoadedExecutable,
    arguments: &[*mut PJRT_Buffer],
    how: How<'_>,
) -> Answer<(Vec<*mut PJRT_Buffer>, *mut PJRT_Event)> {
    let n = number_of_results(executable);
    let mut options = PJRT_ExecuteOptions::new();
    options.non_donatable_input_indices = how.kept.as_ptr();
    options.num_non_donatable_input_indices = how.kept.len();
    let mut outputs = vec![null_mut(); n];
    let lists = [arguments.as_ptr()];
    let places = [outputs.as_mut_ptr()];
    let mut event = [null_mut()];
    call!(
        PJRT_LoadedExecutable_Execute,
        PJRT_LoadedExecutable_Execute_Args {
            executable,
            options: &mut options,
            argument_lists: lists.as_ptr(),
            num_devices: 1,
            num_args: arguments.len(),
            output_lists: places.as_ptr(),
            device_complete_events: event.as_mut_ptr(),
            execute_device: how.device.unwrap_or(null_mut()),
        }
    )?;
    Ok((outputs, event[0]))
}

/// Runs a program and waits for it.
pub fn execute(
    executable: *mut PJRT_LoadedExecutable,
    arguments: &[*mut PJRT_Buffer],
) -> Answer<Vec<*mut PJRT_Buffer>> {
    let (outputs, event) = execute_with(executable, arguments, How::default())?;
    let outcome = wait(event);
    destroy_event(event);
    match outcome {
        Ok(()) => Ok(outputs),
        Err(failure) => {
            outputs.into_iter().for_each(destroy);
            Err(failure)
        }
    }
}

pub const ADD: &str =
    "func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}";

/// The compiled program, which can be compiled as `hlo`.
pub fn optimized(program: *mut PJRT_LoadedExecutable) -> Vec<u8> {
    let executable = executable_of(program);
    let mut hlo = PJRT_Program::new();
    let mut code = Vec::<u8>::new();
    for _ in 0..2 {
        call!(
            PJRT_Executable_OptimizedProgram,
            PJRT_Executable_OptimizedProgram_Args {
                executable,
                program: &mut hlo
            }
        )
        .unwrap();
        code.resize(hlo.code_size, 0);
        hlo.code = code.as_mut_ptr().cast();
    }
    destroy_unloaded(executable);
    code
}

pub fn serialized(program: *mut PJRT_LoadedExecutable) -> Vec<u8> {
    let of = executable_of(program);
    let s = call!(
        PJRT_Executable_Serialize,
        PJRT_Executable_Serialize_Args { executable: of }
    )
    .unwrap();
    let bytes = unsafe {
        let bytes = s.serialized_bytes.cast::<u8>();
        std::slice::from_raw_parts(bytes, s.serialized_bytes_size).to_vec()
    };
    unsafe { s.serialized_executable_deleter.unwrap()(s.serialized_executable) };
    destroy_unloaded(of);
    bytes
}

pub fn deserialized(client: *mut PJRT_Client, bytes: &[u8]) -> *mut PJRT_LoadedExecutable {
    call!(
        PJRT_Executable_DeserializeAndLoad,
        PJRT_Executable_DeserializeAndLoad_Args {
            client,
            serialized_executable: bytes.as_ptr().cast(),
            serialized_executable_size: bytes.len(),
        }
    )
    .unwrap()
    .loaded_executable
}

/// The bytes with another word, which is as long, in place of one that they have.
pub fn replaced(bytes: &[u8], word: &[u8], by: &[u8]) -> Vec<u8> {
    assert_eq!(word.len(), by.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<_> = (0..=bytes.len() - word.len())
        .filter(|&place| bytes[place..].starts_with(word))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + by.len()].copy_from_slice(by);
    }
    bytes
}

pub fn compile_with(
    client: *mut PJRT_Client,
    code: &[u8],
    format: &str,
    options: &[u8],
) -> Answer<*mut PJRT_LoadedExecutable> {
    let mut program = PJRT_Program::new();
    program.code = code.as_ptr().cast_mut().cast();
    program.code_size = code.len();
    program.format = format.as_ptr().cast();
    program.format_size = format.len();
    call!(
        PJRT_Client_Compile,
        PJRT_Client_Compile_Args {
            client,
            program: &program,
            compile_options: options.as_ptr().cast(),
            compile_options_size: options.len(),
        }
    )
    .map(|a| a.executable)
}

pub fn compile(client: *mut PJRT_Client, code: &str) -> *mut PJRT_LoadedExecutable {
    compile_with(client, code.as_bytes(), "mlir", b"").unwrap()
}
