//! Round trips, outputs, layouts, errors, leaks, drop order, threads.

use crate::fake::*;

use pjrt::*;

pub fn upload(client: &Client, x: &[f64], dims: &[i64]) -> Buffer {
    let host = HostData {
        source: Source::F64(x),
        dims,
        order: Order::ColumnMajor,
        dtype: DType::F32,
    };
    client.upload(host, None).unwrap()
}

pub fn program(client: &Client, code: &str) -> Executable {
    let program = Program::new(code, ProgramFormat::Mlir);
    client.compile(&program, &compile_options(None)).unwrap()
}

pub fn run(client: &Client, code: &str) -> Result<Vec<Buffer>> {
    program(client, code).execute(&[], &ExecuteOptions::default())
}

pub fn read(buffer: &Buffer, order: Order) -> Result<Vec<f64>> {
    let mut out = vec![f64::NAN; buffer.num_elements()];
    buffer.read(Dest::F64(&mut out), order).map(|()| out)
}

#[test]
fn round_trip_on_either_kind_of_memory() {
    let _s = session();
    for platform in ["cpu", "elsewhere"] {
        let client = client(platform);
        // The second size is beyond what the plugin is left to copy.
        for n in [3i64, 40_000] {
            let x: Vec<f64> = (0..2 * n).map(|i| i as f64).collect();
            let buffer = upload(&client, &x, &[2, n]);
            assert_eq!((buffer.dtype(), buffer.dims()), (DType::F32, &[2, n][..]));
            assert_eq!(read(&buffer, Order::ColumnMajor).unwrap(), x);
            let rows = read(&buffer, Order::RowMajor).unwrap();
            assert_eq!(rows[..2], [0.0, 2.0]);
            // Plain data takes other ways.
            let plain = HostData {
                source: Source::F64(&x),
                dims: &[2 * n],
                order: Order::ColumnMajor,
                dtype: DType::F64,
            };
            let buffer = client.upload(plain, None).unwrap();
            assert_eq!(read(&buffer, Order::ColumnMajor).unwrap(), x);
        }
        let scalar = upload(&client, &[7.0], &[]);
        assert_eq!(read(&scalar, Order::ColumnMajor).unwrap(), [7.0]);
        let empty = upload(&client, &[], &[3, 0]);
        assert!(read(&empty, Order::ColumnMajor).unwrap().is_empty());
    }
}

#[test]
fn objects_may_go_in_any_order() {
    let _s = session();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let client = client("cpu");
        let executable = program(&client, "late");
        let buffer = upload(&client, &[1.0, 2.0], &[2]);
        let output = executable
            .execute(&[&buffer], &ExecuteOptions::default())
            .unwrap();
        let event = output[0].event().unwrap();
        let mut things: Vec<Option<Box<dyn std::any::Any>>> = vec![
            Some(Box::new(client)),
            Some(Box::new(executable)),
            Some(Box::new((buffer, output))),
            Some(Box::new(event)),
        ];
        for i in order {
            things[i] = None;
        }
    }
}

#[test]
fn several_and_no_outputs() {
    let _s = session();
    let client = client("cpu");
    let two = run(&client, "two").unwrap();
    // Memory 0..6: rows of three, or columns of two.
    assert_eq!(
        read(&two[0], Order::RowMajor).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    assert_eq!(
        read(&two[0], Order::ColumnMajor).unwrap(),
        [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    );
    assert_eq!(
        read(&two[1], Order::ColumnMajor).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    assert_eq!(
        read(&two[1], Order::RowMajor).unwrap(),
        [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]
    );
    assert!(run(&client, "none").unwrap().is_empty());
    // Nobody else would see the error of a program without outputs.
    assert_eq!(
        run(&client, "none, fails").unwrap_err().message(),
        "the handler said no"
    );
}

#[test]
fn what_was_serialised_is_loaded_again() {
    let _s = session();
    let client = client("cpu");
    let (two, options) = (
        Program::new("two", ProgramFormat::Mlir),
        compile_options(None),
    );
    let bytes = client.compile(&two, &options).unwrap().serialize().unwrap();
    let loaded = client.load(&bytes, &two, &options).unwrap();
    assert_eq!((loaded.num_outputs(), loaded.program()), (2, &two));
    let outputs = loaded.execute(&[], &ExecuteOptions::default()).unwrap();
    assert_eq!(outputs.len(), 2);
    let e = client.load(b"else", &two, &options).unwrap_err();
    assert_eq!(e.call(), Some("PJRT_Executable_DeserializeAndLoad"));
    let e = program(&client, "fails").serialize().unwrap_err();
    assert_eq!(e.message(), "cannot be written down");
    // What may be donated is known from the program.
    let donor = Program::new("donor", ProgramFormat::Mlir);
    let bytes = client
        .compile(&donor, &options)
        .unwrap()
        .serialize()
        .unwrap();
    let loaded = client.load(&bytes, &donor, &options).unwrap();
    let buffer = upload(&client, &[1.0, 2.0], &[2]);
    let keep = ExecuteOptions {
        non_donatable: vec![0],
        ..ExecuteOptions::default()
    };
    loaded.execute(&[&buffer], &keep).unwrap();
    // The bytes that it was loaded from, whatever the plugin would write now.
    assert_eq!(loaded.serialize().unwrap(), bytes);
    assert!(!buffer.is_deleted().unwrap());
    loaded
        .execute(&[&buffer], &ExecuteOptions::default())
        .unwrap();
    assert!(buffer.is_deleted().unwrap());
}

#[test]
fn layouts_by_strides_and_tiles() {
    let _s = session();
    let client = client("cpu");
    let strides = run(&client, "strides").unwrap();
    assert_eq!(
        read(&strides[0], Order::ColumnMajor).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    // Tiled memory cannot be read directly: the plugin puts it in order.
    let tiled = run(&client, "tiled").unwrap();
    assert_eq!(
        read(&tiled[0], Order::RowMajor).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
}

#[test]
fn threads_share_clients_programs_and_buffers() {
    let _s = session();
    let client = client("cpu");
    let executable = program(&client, "any");
    let shared = upload(&client, &[1.0, 2.0], &[2]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let own = upload(&client, &[3.0; 4], &[2, 2]);
                    let out = executable.execute(&[&shared, &own, &own], &Default::default());
                    assert_eq!(read(&out.unwrap()[0], Order::RowMajor).unwrap()[5], 5.0);
                    assert_eq!(read(&shared, Order::RowMajor).unwrap(), [1.0, 2.0]);
                }
            });
        }
    });
}

#[test]
fn attributes_of_every_type() {
    let _s = session();
    let attributes = plugin(table()).unwrap().attributes().unwrap();
    let expected = [
        Value::String("hi".into()),
        Value::Int(-7),
        Value::IntList(vec![1, 2]),
        Value::Float(0.5),
        Value::Bool(true),
    ];
    // The sixth has a type that this host does not know.
    assert_eq!(attributes.len(), 5);
    for ((name, value), (want_name, want)) in attributes.iter().zip("abcde".chars().zip(&expected))
    {
        assert_eq!((name, value), (&want_name.to_string(), want));
    }
}
