//! Programs that become executables of a client.

use crate::api::call;
use crate::client::Client;
use crate::error::Result;
use crate::executable::Executable;
use crate::program::Program;
use pjrt_api::*;

impl Client {
    /// Compiles a program. `options` is a serialised `CompileOptionsProto`, for instance of
    /// [`compile_options`](crate::compile_options).
    ///
    /// # Errors
    /// What the plugin returns, mostly what the compiler has to say about the program.
    pub fn compile(&self, program: &Program, options: &[u8]) -> Result<Executable> {
        let format = program.format().name();
        let mut c_program = PJRT_Program::new();
        c_program.code = program.code().as_ptr().cast_mut().cast();
        c_program.code_size = program.code().len();
        c_program.format = format.as_ptr().cast();
        c_program.format_size = format.len();
        let mut args = PJRT_Client_Compile_Args::new();
        args.client = self.raw();
        args.program = &c_program;
        args.compile_options = options.as_ptr().cast();
        args.compile_options_size = options.len();
        // SAFETY: the client is alive; program and options outlive the call, which only reads
        // them (the program's `code` is mutable in the API for plugins that write into it).
        unsafe { call!(self.api(), PJRT_Client_Compile(args))? };
        Executable::new(self, args.executable, program)
    }

    /// Loads what [`Executable::serialize`] gave for an executable of `program`. The bytes must be just those: plugins
    /// trust them. `options` are for where it is to run, as those of [`Client::compile`].
    ///
    /// # Errors
    /// What the plugin returns, for instance where nobody answers a custom call of the program; `UNIMPLEMENTED` where
    /// it cannot load any.
    pub fn load(&self, bytes: &[u8], program: &Program, options: &[u8]) -> Result<Executable> {
        let mut args = PJRT_Executable_DeserializeAndLoad_Args::new();
        args.client = self.raw();
        args.serialized_executable = bytes.as_ptr().cast();
        args.serialized_executable_size = bytes.len();
        args.overridden_serialized_compile_options = options.as_ptr().cast();
        args.overridden_serialized_compile_options_size = options.len();
        // SAFETY: the client is alive; bytes and options outlive the call, which only reads them.
        unsafe { call!(self.api(), PJRT_Executable_DeserializeAndLoad(args))? };
        let mut executable = Executable::new(self, args.loaded_executable, program)?;
        executable.note_source(bytes);
        Ok(executable)
    }
}
