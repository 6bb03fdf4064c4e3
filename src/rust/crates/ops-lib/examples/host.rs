//! Our own host on any PJRT plugin, with our handlers: `host [PLUGIN PLATFORM]`, for instance
//! `host xla_cuda_plugin.so cuda`. Without a plugin it takes the one made from jaxlib, on the CPU.
//!
//! Registers every handler of the platform, compiles and runs a few programs, checks their results
//! and says what was done; the status tells whether all was well. On a machine without the plugin's
//! device it ends with the plugin's own error.

use pjrt::{
    compile_options, Client, DType, Dest, ExecuteOptions, HostData, Order, Plugin, Program,
    ProgramFormat, Source, Value,
};
use std::error::Error;
use std::ffi::c_void;
use std::path::Path;

type Outcome = Result<(), Box<dyn Error>>;

const LU: &str = r#"func.func @main(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>) {
  %0:2 = stablehlo.custom_call @lu(%a) {api_version = 4 : i32,
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3x3xf64>, tensor<3xi32>
}"#;

const EIGH: &str = r#"func.func @main(%a: tensor<3x3xf64>) -> tensor<3xf64> {
  %0:2 = stablehlo.custom_call @eigh(%a) {api_version = 4 : i32,
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>)
  return %0#1 : tensor<3xf64>
}"#;

const KEPLER: &str = r#"func.func @main(%m: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %e = stablehlo.constant dense<0.5> : tensor<3xf64>
  %0:2 = stablehlo.custom_call @kepler(%m, %e) {api_version = 4 : i32}
    : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#0, %0#1 : tensor<3xf64>, tensor<3xf64>
}"#;

const PRINT: &str = r#"func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  stablehlo.custom_call @print_tensor(%x) {api_version = 4 : i32, has_side_effect = true}
    : (tensor<3xf64>) -> ()
  return %x : tensor<3xf64>
}"#;

/// Symmetric, its eigenvalues 2 - √2, 2 and 2 + √2.
const MATRIX: [f64; 9] = [2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0];

/// Runs a program of one argument; its f64 results.
fn run(
    client: &Client,
    source: &str,
    x: &[f64],
    dims: &[i64],
    results: &[usize],
) -> Result<Vec<Vec<f64>>, pjrt::Error> {
    let data = HostData {
        source: Source::F64(x),
        dims,
        order: Order::ColumnMajor,
        dtype: DType::F64,
    };
    let argument = client.upload(data, None)?;
    let program = client.compile(
        &Program::new(source, ProgramFormat::Mlir),
        &compile_options(None),
    )?;
    let buffers = program.execute(&[&argument], &ExecuteOptions::default())?;
    let mut values = Vec::new();
    for (buffer, &len) in buffers.iter().zip(results) {
        let mut read = vec![0.0; len];
        buffer.read(Dest::F64(&mut read), Order::ColumnMajor)?;
        values.push(read);
    }
    Ok(values)
}

fn expect(what: &str, got: &[f64], want: &[f64]) -> Outcome {
    let close = |(got, want): (&f64, &f64)| (got - want).abs() < 1e-14;
    if got.len() == want.len() && got.iter().zip(want).all(close) {
        println!("{what}: right");
        return Ok(());
    }
    Err(format!("{what}: {got:?}, not {want:?}").into())
}

fn matrix() -> HostData<'static> {
    HostData {
        source: Source::F64(&MATRIX),
        dims: &[3, 3],
        order: Order::ColumnMajor,
        dtype: DType::F64,
    }
}

/// A compiled program that went through bytes, its runs under way at once.
fn stored(client: &Client) -> Outcome {
    let (program, options) = (
        Program::new(EIGH, ProgramFormat::Mlir),
        compile_options(None),
    );
    let bytes = client.compile(&program, &options)?.serialize()?;
    let again = client.load(&bytes, &program, &options)?;
    let argument = client.upload(matrix(), None)?;
    let runs: Result<Vec<_>, _> = (0..64)
        .map(|_| again.execute(&[&argument], &ExecuteOptions::default()))
        .collect();
    let root = std::f64::consts::SQRT_2;
    for results in runs? {
        let mut values = [0.0; 3];
        results[0].read(Dest::F64(&mut values), Order::ColumnMajor)?;
        if values
            .iter()
            .zip([2.0 - root, 2.0, 2.0 + root])
            .any(|(x, y)| (x - y).abs() > 1e-14)
        {
            return Err(format!("a stored program: {values:?}").into());
        }
    }
    println!("{} bytes of a program, 64 runs of it: right", bytes.len());
    Ok(())
}

/// A call that our handler refuses ends its program, with our words, and no other one.
fn failing(client: &Client) -> Outcome {
    let wrong = EIGH.replace("tensor<3xf64>", "tensor<2xf64>");
    let message = match run(client, &wrong, &MATRIX, &[3, 3], &[2]) {
        Ok(values) => return Err(format!("eigh with 2 of 3 values: {values:?}").into()),
        Err(error) => error.to_string(),
    };
    if !message.contains("eigh: ") {
        return Err(format!("the handler's words are not in {message:?}").into());
    }
    run(client, EIGH, &MATRIX, &[3, 3], &[3])?;
    println!("refused as it should be: {message}");
    Ok(())
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (plugin, platform) = match arguments.as_slice() {
        [path, platform] => (Plugin::load(Path::new(path))?, platform.as_str()),
        // SAFETY: the table is that of a linked crate.
        _ => (
            unsafe { Plugin::from_api(pjrt_jaxlib::GetPjrtApi(), "pjrt-jaxlib")? },
            "host",
        ),
    };
    let mut registered = 0;
    for entry in ops::table() {
        let Some(handler) = entry.handler(platform) else {
            continue;
        };
        // SAFETY: handlers live as long as this program.
        unsafe { plugin.register_ffi_handler(entry.target, platform, handler as *const c_void) }?;
        registered += 1;
    }
    println!("{registered} handlers registered for {platform}");
    // Others use the same GPU meanwhile.
    let options = [("preallocate".to_owned(), Value::Bool(false))];
    let client = plugin.client(if platform == "cuda" { &options } else { &[] })?;
    println!("client: {}", client.platform_name());

    let lu = run(
        &client,
        LU,
        &[1.0, 2.0, 4.0, 2.0, 1.0, 3.0, 3.0, 5.0, 9.0],
        &[3, 3],
        &[9, 3],
    )?;
    // The first pivot is 4, in the third row; the second one is in the third row, too.
    expect("lu", &lu[0][..3], &[4.0, 0.25, 0.5])?;
    expect("pivots", &lu[1][..1], &[3.0])?;
    let eigh = run(&client, EIGH, &MATRIX, &[3, 3], &[3])?;
    let root = std::f64::consts::SQRT_2;
    expect("eigh", &eigh[0], &[2.0 - root, 2.0, 2.0 + root])?;
    let anomaly = [0.3_f64, 1.0, 2.5];
    let mean = anomaly.map(|e| e - 0.5 * e.sin());
    let kepler = run(&client, KEPLER, &mean, &[3], &[3, 3])?;
    expect("kepler, sines", &kepler[0], &anomaly.map(f64::sin))?;
    expect("kepler, cosines", &kepler[1], &anomaly.map(f64::cos))?;
    run(&client, PRINT, &anomaly, &[3], &[3])?;
    stored(&client)?;
    failing(&client)?;
    println!("all right");
    Ok(())
}
