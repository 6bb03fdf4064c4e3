//! A client on real XLA, and short forms of what tests do with it.

use pjrt::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub const ADD: &str =
    "func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}";

/// Two devices, shared by all tests. Needs the Python with jaxlib that `tools/setup.sh test` installs. Where
/// `XLAFFI_TEST_PLUGIN` names another plugin, it is that one's client: `tools/gpu/check` runs such tests on CUDA's.
pub fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        if let Some(path) = other_plugin() {
            // Others use the same GPU meanwhile.
            let options = [("preallocate".to_string(), Value::Bool(false))];
            return Plugin::load(&path).unwrap().client(&options).unwrap();
        }
        if std::env::var_os("XLAFFI_PYTHON").is_none() {
            let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../.venv/bin/python");
            std::env::set_var("XLAFFI_PYTHON", venv);
        }
        // SAFETY: the table is that of a linked crate.
        let plugin = unsafe { Plugin::from_api(pjrt_jaxlib::GetPjrtApi(), "pjrt-jaxlib") };
        let options = [("cpu_device_count".to_string(), Value::Int(2))];
        plugin.unwrap().client(&options).unwrap()
    })
}

/// What `XLAFFI_TEST_PLUGIN` names.
pub fn other_plugin() -> Option<PathBuf> {
    std::env::var_os("XLAFFI_TEST_PLUGIN").map(PathBuf::from)
}

pub fn compile(client: &Client, code: &str) -> Executable {
    let program = Program::new(code, ProgramFormat::Mlir);
    client.compile(&program, &compile_options(None)).unwrap()
}

pub fn upload(client: &Client, x: &[f64], dims: &[i64], dtype: DType) -> Buffer {
    let host = HostData {
        source: Source::F64(x),
        dims,
        order: Order::ColumnMajor,
        dtype,
    };
    client.upload(host, None).unwrap()
}

pub fn read(buffer: &Buffer) -> Result<Vec<f64>> {
    let mut out = vec![f64::NAN; buffer.num_elements()];
    buffer
        .read(Dest::F64(&mut out), Order::ColumnMajor)
        .map(|()| out)
}
