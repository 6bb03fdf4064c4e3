//! What a round trip costs, and whether anything leaks.
//!
//! `cargo run --release -p pjrt --example cycle [cycles] [plugin.so]` times 2×2 additions and
//! 2000×2000 transfers, then runs `cycles` (default 1000) more additions and prints how much
//! resident memory grew. Without a plugin's path it uses the one made from jaxlib, on the Python
//! that `XLAFFI_PYTHON` names.

use pjrt::*;
use std::path::Path;
use std::time::Instant;

const ADD: &str = "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}";

fn upload(client: &Client, x: &[f64], dims: &[i64], dtype: DType) -> Result<Buffer> {
    let host = HostData {
        source: Source::F64(x),
        dims,
        order: Order::ColumnMajor,
        dtype,
    };
    client.upload(host, None)
}

/// Median and least of `times` runs, in microseconds.
fn time<T>(times: usize, mut f: impl FnMut() -> Result<T>) -> Result<(f64, f64)> {
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        let result = f()?;
        all.push(start.elapsed().as_secs_f64() * 1e6);
        drop(result);
    }
    all.sort_by(f64::total_cmp);
    Ok((all[times / 2], all[0]))
}

fn show(what: &str, (median, least): (f64, f64)) {
    println!("{what:<42} median {median:>9.1} µs, least {least:>9.1} µs");
}

/// Resident memory in KiB; 0 where the system does not tell in this way.
fn resident() -> usize {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|s| {
            let line = s.lines().find(|l| l.starts_with("VmRSS:"))?.to_string();
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}

fn small(client: &Client) -> Result<()> {
    let program = Program::new(ADD, ProgramFormat::Mlir);
    let add = client.compile(&program, &compile_options(None))?;
    let options = ExecuteOptions::default();
    let x = [1.0, 2.0, 3.0, 4.0];
    let mut out = [0.0; 4];
    show(
        "2×2 f32: upload",
        time(3000, || upload(client, &x, &[2, 2], DType::F32))?,
    );
    let (a, b) = (
        upload(client, &x, &[2, 2], DType::F32)?,
        upload(client, &x, &[2, 2], DType::F32)?,
    );
    show(
        "2×2 f32: execute",
        time(3000, || add.execute(&[&a, &b], &options))?,
    );
    show(
        "2×2 f32: execute, read",
        time(3000, || {
            add.execute(&[&a, &b], &options)?[0].read(Dest::F64(&mut out), Order::ColumnMajor)
        })?,
    );
    let cycle = || {
        let a = upload(client, &x, &[2, 2], DType::F32)?;
        let b = upload(client, &x, &[2, 2], DType::F32)?;
        let c = add.execute(&[&a, &b], &options)?;
        let mut out = [0.0; 4];
        c[0].read(Dest::F64(&mut out), Order::ColumnMajor)?;
        assert_eq!(out, [2.0, 4.0, 6.0, 8.0]);
        Ok(())
    };
    show("2×2 f32: two uploads, execute, read", time(3000, cycle)?);
    let cycles = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1000);
    println!("resident memory: {} KiB", resident());
    for quarter in 1..=4 {
        (0..cycles / 4).try_for_each(|_| cycle())?;
        println!("after {} cycles: {} KiB", cycles / 4 * quarter, resident());
    }
    Ok(())
}

fn large(client: &Client) -> Result<()> {
    let n = 2000usize;
    let dims = [n as i64, n as i64];
    let x: Vec<f64> = (0..n * n).map(|i| i as f64).collect();
    for dtype in [DType::F64, DType::F32] {
        show(
            &format!("2000×2000 f64 → {dtype}: upload"),
            time(30, || upload(client, &x, &dims, dtype))?,
        );
        let buffer = upload(client, &x, &dims, dtype)?;
        show(
            &format!("2000×2000 {dtype} → f64: read, fresh memory"),
            time(30, || {
                let mut fresh: Vec<f64> = Vec::with_capacity(n * n);
                // SAFETY: `read` only writes, and writes every element before anyone looks.
                let out = unsafe { std::slice::from_raw_parts_mut(fresh.as_mut_ptr(), n * n) };
                buffer.read(Dest::F64(out), Order::ColumnMajor)?;
                Ok(fresh)
            })?,
        );
        let mut out = vec![0.0; n * n];
        show(
            &format!("2000×2000 {dtype} → f64: read, used memory"),
            time(30, || buffer.read(Dest::F64(&mut out), Order::ColumnMajor))?,
        );
        assert_eq!(out[n + 1], x[n + 1]);
    }
    Ok(())
}

fn main() -> Result<()> {
    let plugin = match std::env::args().nth(2) {
        Some(path) => Plugin::load(Path::new(&path))?,
        // SAFETY: the table is that of a linked crate.
        None => unsafe { Plugin::from_api(pjrt_jaxlib::GetPjrtApi(), "pjrt-jaxlib")? },
    };
    let start = Instant::now();
    let client = plugin.client(&[])?;
    println!(
        "{} ({}), started in {:.0} ms",
        client.platform_name(),
        client.platform_version().unwrap_or_default(),
        start.elapsed().as_secs_f64() * 1e3
    );
    small(&client)?;
    large(&client)
}
