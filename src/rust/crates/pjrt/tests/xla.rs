//! The host on real XLA, through the plugin made from jaxlib. Without a Python that has jaxlib
//! (`XLAFFI_PYTHON`, or `.venv` in the repository) each test says so and passes.

mod common;

use common::*;
use pjrt::*;
use std::time::Duration;

#[test]
fn add() {
    let client = client();
    if other_plugin().is_none() {
        assert_eq!(client.platform_name(), "cpu");
    }
    let x: Vec<f64> = (0..6).map(f64::from).collect();
    let a = upload(client, &x, &[2, 3], DType::F32);
    let executable = compile(client, ADD);
    let out = executable
        .execute(&[&a, &a], &ExecuteOptions::default())
        .unwrap();
    assert_eq!(out.len(), 1);
    assert_eq!((out[0].dtype(), out[0].dims()), (DType::F32, &[2, 3][..]));
    assert_eq!(read(&out[0]).unwrap(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    assert_eq!(executable.output_dtypes().unwrap(), [Some(DType::F32)]);
    assert_eq!(executable.output_dims().unwrap(), [vec![2, 3]]);
    assert_eq!(executable.devices().unwrap(), [client.devices()[0].clone()]);
    assert!(!executable.name().unwrap().is_empty());
}

#[test]
fn every_type_there_and_back() {
    let client = client();
    for &dtype in DType::ALL {
        let x: Vec<f64> = (0..24).map(|i| f64::from(i % 2)).collect();
        for dims in [&[24][..], &[2, 12], &[2, 3, 4], &[1, 2, 3, 4, 1]] {
            let buffer = upload(client, &x, dims, dtype);
            assert_eq!((buffer.dtype(), buffer.dims()), (dtype, dims));
            let mut out = [[9.0; 2]; 24];
            buffer
                .read(Dest::Complex(&mut out), Order::ColumnMajor)
                .unwrap();
            assert!(
                out.iter().zip(&x).all(|(o, x)| *o == [*x, 0.0]),
                "{dtype} {dims:?}"
            );
            let mut bytes = vec![0; 24 * dtype.size()];
            buffer
                .read(Dest::Bytes(&mut bytes), Order::RowMajor)
                .unwrap();
            let host = HostData {
                source: Source::Bytes(&bytes),
                dims,
                order: Order::RowMajor,
                dtype,
            };
            let again = client.upload(host, None).unwrap();
            let mut out = [[9.0; 2]; 24];
            again
                .read(Dest::Complex(&mut out), Order::ColumnMajor)
                .unwrap();
            assert!(
                out.iter().zip(&x).all(|(o, x)| *o == [*x, 0.0]),
                "{dtype} {dims:?}"
            );
        }
        for dims in [&[0][..], &[3, 0]] {
            assert!(upload(client, &[], dims, dtype).num_elements() == 0);
        }
        let scalar = upload(client, &[1.0], &[], dtype);
        let mut out = [[9.0; 2]];
        scalar
            .read(Dest::Complex(&mut out), Order::ColumnMajor)
            .unwrap();
        assert_eq!(out, [[1.0, 0.0]], "{dtype}");
    }
}

#[test]
fn large_matrices() {
    let client = client();
    let (m, n) = (1003i64, 1201i64);
    let x: Vec<f64> = (0..m * n).map(|i| i as f64).collect();
    let buffer = upload(client, &x, &[m, n], DType::F64);
    assert_eq!(read(&buffer).unwrap(), x);
    // And what XLA makes of it is the transpose of the transpose.
    let code = format!(
        "func.func @main(%x: tensor<{m}x{n}xf64>) -> tensor<{n}x{m}xf64> {{
           %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<{m}x{n}xf64>) -> tensor<{n}x{m}xf64>
           return %0 : tensor<{n}x{m}xf64> }}"
    );
    let out = compile(client, &code).execute(&[&buffer], &ExecuteOptions::default());
    let mut rows = vec![0.0; x.len()];
    out.unwrap()[0]
        .read(Dest::F64(&mut rows), Order::RowMajor)
        .unwrap();
    assert_eq!(rows, x);
}

#[test]
fn several_outputs_and_none() {
    let client = client();
    let code = "func.func @main(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xi1>, tensor<f64>) {
      %0 = stablehlo.add %x, %x : tensor<2xf64>
      %1 = stablehlo.compare GT, %x, %0 : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>
      %2 = stablehlo.constant dense<3.5> : tensor<f64>
      return %0, %1, %2 : tensor<2xf64>, tensor<2xi1>, tensor<f64> }";
    let x = upload(client, &[1.0, -1.0], &[2], DType::F64);
    let out = compile(client, code)
        .execute(&[&x], &ExecuteOptions::default())
        .unwrap();
    let types: Vec<_> = out.iter().map(Buffer::dtype).collect();
    assert_eq!(types, [DType::F64, DType::Pred, DType::F64]);
    assert_eq!(read(&out[0]).unwrap(), [2.0, -2.0]);
    assert_eq!(read(&out[1]).unwrap(), [0.0, 1.0]);
    assert_eq!(read(&out[2]).unwrap(), [3.5]);
    let nothing = compile(client, "func.func @main(%x: tensor<2xf64>) { return }");
    assert_eq!(nothing.num_outputs(), 0);
    assert!(nothing
        .execute(&[&x], &ExecuteOptions::default())
        .unwrap()
        .is_empty());
}

#[test]
fn donation() {
    let client = client();
    let code =
        "func.func @main(%x: tensor<64xf32> {tf.aliasing_output = 0 : i32}) -> tensor<64xf32> {
      %0 = stablehlo.add %x, %x : tensor<64xf32>
      return %0 : tensor<64xf32> }";
    let executable = compile(client, code);
    let mine = vec![1.5; 64];
    let x = upload(client, &mine, &[64], DType::F32);
    let keep = ExecuteOptions {
        non_donatable: vec![0],
        ..Default::default()
    };
    let out = executable.execute(&[&x], &keep).unwrap();
    assert_eq!(read(&out[0]).unwrap(), vec![3.0; 64]);
    assert_eq!(read(&x).unwrap(), mine);
    let out = executable
        .execute(&[&x], &ExecuteOptions::default())
        .unwrap();
    assert_eq!(read(&out[0]).unwrap(), vec![3.0; 64]);
    assert!(x.is_deleted().unwrap());
    assert_eq!(read(&x).unwrap_err().kind(), Kind::Deleted);
    let e = executable
        .execute(&[&x], &ExecuteOptions::default())
        .unwrap_err();
    assert_eq!(
        (e.kind(), e.code()),
        (Kind::Deleted, Code::INVALID_ARGUMENT)
    );
    // The result may live in memory that was ours; it must outlast the donated buffer.
    drop(x);
    assert_eq!(read(&out[0]).unwrap(), vec![3.0; 64]);
}

#[test]
fn donated_memory_of_ours_is_not_reused_early() {
    let client = client();
    // Large enough to come from the pool, and transposed, so that it is handed over.
    let code = "func.func @main(%x: tensor<300x400xf32> {tf.aliasing_output = 0 : i32}) -> tensor<300x400xf32> {
      %0 = stablehlo.add %x, %x : tensor<300x400xf32>
      return %0 : tensor<300x400xf32> }";
    let executable = compile(client, code);
    let x: Vec<f64> = (0..120_000).map(|i| f64::from(i % 1000)).collect();
    let twice: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
    let mut results = Vec::new();
    for _ in 0..20 {
        let buffer = upload(client, &x, &[300, 400], DType::F32);
        results.extend(
            executable
                .execute(&[&buffer], &ExecuteOptions::default())
                .unwrap(),
        );
    }
    for result in results {
        assert_eq!(read(&result).unwrap(), twice);
    }
}

#[test]
fn errors() {
    let client = client();
    let bad = Program::new("func.func @main( -> {", ProgramFormat::Mlir);
    let e = client.compile(&bad, &compile_options(None)).unwrap_err();
    assert_eq!(
        (e.kind(), e.call()),
        (Kind::Plugin, Some("PJRT_Client_Compile"))
    );
    // CUDA's plugin says UNKNOWN.
    if common::other_plugin().is_none() {
        assert_eq!(e.code(), Code::INVALID_ARGUMENT, "{e}");
    }
    let bad = Program::new(vec![1, 2, 3], ProgramFormat::Hlo);
    assert!(client.compile(&bad, &compile_options(None)).is_err());
    let executable = compile(client, ADD);
    let x = upload(client, &[1.0; 6], &[2, 3], DType::F32);
    for arguments in [&[][..], &[&x], &[&x, &x, &x]] {
        let e = executable
            .execute(arguments, &ExecuteOptions::default())
            .unwrap_err();
        assert_eq!(e.code(), Code::INVALID_ARGUMENT, "{e}");
    }
    for (dims, dtype) in [
        ([3, 2], DType::F32),
        ([2, 3], DType::F64),
        ([1, 6], DType::F32),
    ] {
        let y = upload(client, &[1.0; 6], &dims, dtype);
        // Other plugins take whatever has the right size.
        let refused = match common::other_plugin() {
            None => executable
                .execute(&[&x, &y], &ExecuteOptions::default())
                .map(drop),
            Some(_) => executable.check_parameters(&[&x, &y]),
        };
        let e = refused.unwrap_err();
        assert_eq!(e.code(), Code::INVALID_ARGUMENT, "{e}");
    }
}

#[test]
fn devices_and_copies() {
    let client = client();
    let devices = client.devices();
    assert_eq!(devices.len(), 2);
    let x = upload(client, &[1.0, 2.0], &[2], DType::F32);
    assert_eq!(x.device().unwrap(), devices[0]);
    let there = x.copy_to(&devices[1]).unwrap();
    assert_eq!(there.device().unwrap(), devices[1]);
    assert_eq!(read(&there).unwrap(), [1.0, 2.0]);
    let id = devices[1].id().unwrap();
    let code = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32> }";
    let program = Program::new(code, ProgramFormat::Mlir);
    let second = client
        .compile(&program, &compile_options(Some(id)))
        .unwrap();
    assert_eq!(second.devices().unwrap(), devices[1..]);
    let out = second
        .execute(&[&there], &ExecuteOptions::default())
        .unwrap();
    assert_eq!(out[0].device().unwrap(), devices[1]);
    assert_eq!(read(&out[0]).unwrap(), [2.0, 4.0]);
    assert!(devices[0].text().unwrap().to_lowercase().contains("cpu"));
    assert!(!x.memory().unwrap().kind().unwrap().is_empty());
}

#[test]
fn round_trips_on_several_threads() {
    let client = client();
    let executable = compile(client, ADD);
    std::thread::scope(|scope| {
        for t in 0..4 {
            let executable = &executable;
            scope.spawn(move || {
                for i in 0..100 {
                    let x = upload(client, &[f64::from(t * 1000 + i); 6], &[2, 3], DType::F32);
                    let out = executable
                        .execute(&[&x, &x], &ExecuteOptions::default())
                        .unwrap();
                    if let Some(event) = out[0].event().unwrap() {
                        assert!(event.wait_timeout(Duration::from_secs(60)).unwrap());
                    }
                    assert_eq!(read(&out[0]).unwrap(), [f64::from(t * 1000 + i) * 2.0; 6]);
                }
            });
        }
    });
}

#[test]
fn two_devices_share_the_work() {
    let client = client();
    let code = r#"
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %twice = stablehlo.add %x, %x : tensor<4xf32>
  return %sum, %twice : tensor<f32>, tensor<4xf32>
}"#;
    let devices = client.devices();
    let ids: Vec<i32> = [1, 0].map(|i: usize| devices[i].id().unwrap()).into();
    let options = CompileOptions {
        partitions: 2,
        devices: ids,
        ..CompileOptions::default()
    };
    let program = Program::new(code, ProgramFormat::Mlir);
    let executable = client.compile(&program, &options.to_bytes()).unwrap();
    assert!(executable.is_over_several() && executable.num_devices() == 2);
    assert_eq!(executable.num_partitions().unwrap(), 2);
    assert_eq!(executable.num_replicas().unwrap(), 1);
    assert_eq!(
        executable.devices().unwrap(),
        [devices[1].clone(), devices[0].clone()]
    );
    let upload = |x: &[f64; 2], device| {
        let host = HostData {
            source: Source::F64(x),
            dims: &[2],
            order: Order::ColumnMajor,
            dtype: DType::F32,
        };
        client.upload(host, Some(device)).unwrap()
    };
    let (first, second) = (
        upload(&[1.0, 2.0], &devices[1]),
        upload(&[3.0, 4.0], &devices[0]),
    );
    let run = |lists: &[Vec<&Buffer>]| executable.execute_on(lists, &ExecuteOptions::default());
    let found = run(&[vec![&first], vec![&second]]).unwrap();
    let values: Vec<Vec<f64>> = found
        .iter()
        .flatten()
        .map(|buffer| read(buffer).unwrap())
        .collect();
    assert_eq!(
        values,
        [vec![10.0], vec![2.0, 4.0], vec![10.0], vec![6.0, 8.0]]
    );
    let split = Sharding::Tiled {
        tiles: vec![2],
        copies: 1,
        devices: vec![0, 1],
    };
    let shardings = executable.shardings().unwrap();
    assert_eq!(shardings.parameters, std::slice::from_ref(&split));
    assert_eq!(shardings.results, [Sharding::Replicated, split]);
    assert_eq!(shardings.parameter_parts[0].dims, [2]);
    // Each part on the other's device.
    let e = run(&[vec![&second], vec![&first]]).unwrap_err();
    assert_eq!(e.code(), Code::INVALID_ARGUMENT);
}
