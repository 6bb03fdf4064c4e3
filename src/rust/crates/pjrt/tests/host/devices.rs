//! Programs over several devices.

use crate::fake::*;
use pjrt::*;

/// The fake's two devices, the second first.
const BOTH: &str = "16,8";

fn program(client: &Client, word: &str) -> Executable {
    let program = Program::new(format!("{word} on {BOTH}"), ProgramFormat::Mlir);
    client.compile(&program, &compile_options(None)).unwrap()
}

fn upload(client: &Client, first: f64) -> Buffer {
    let x: Vec<f64> = (0..6).map(|i| first + f64::from(i)).collect();
    let host = HostData {
        source: Source::F64(&x),
        dims: &[2, 3],
        order: Order::RowMajor,
        dtype: DType::F32,
    };
    client.upload(host, None).unwrap()
}

fn first(buffer: &Buffer) -> f64 {
    let mut out = [f64::NAN; 6];
    buffer.read(Dest::F64(&mut out), Order::RowMajor).unwrap();
    out[0]
}

#[test]
fn devices_are_in_the_order_of_the_assignment() {
    let _s = session();
    let client = client("cpu");
    let executable = program(&client, "pass");
    assert_eq!(executable.num_devices(), 2);
    let devices: Vec<usize> = executable
        .devices()
        .unwrap()
        .iter()
        .map(Device::index)
        .collect();
    assert_eq!(devices, [1, 0]);
}

#[test]
fn each_device_gets_its_part() {
    let _s = session();
    let client = client("cpu");
    let (one, two) = (upload(&client, 10.0), upload(&client, 20.0));
    let arguments = [vec![&one, &two], vec![&two, &one]];
    let options = ExecuteOptions::default();
    let passed = program(&client, "pass")
        .execute_on(&arguments, &options)
        .unwrap();
    let firsts: Vec<Vec<f64>> = passed
        .iter()
        .map(|list| list.iter().map(first).collect())
        .collect();
    assert_eq!(firsts, [[10.0], [20.0]]);
    let two = program(&client, "two")
        .execute_on(&arguments, &options)
        .unwrap();
    assert_eq!(two.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    // One device is a list of one.
    let alone = Program::new("pass", ProgramFormat::Mlir);
    let alone = client.compile(&alone, &compile_options(None)).unwrap();
    let passed = alone.execute_on(&[vec![&one]], &options).unwrap();
    assert_eq!((passed.len(), first(&passed[0][0])), (1, 10.0));
}

#[test]
fn without_outputs_all_devices_are_waited_for() {
    let _s = session();
    let client = client("cpu");
    let run = |word| {
        let lists = [Vec::new(), Vec::new()];
        program(&client, word).execute_on(&lists, &ExecuteOptions::default())
    };
    let none = run("none").unwrap();
    assert!(none.len() == 2 && none.iter().all(Vec::is_empty));
    for word in ["none, fails", "none, second fails"] {
        assert_eq!(run(word).unwrap_err().message(), "the handler said no");
    }
}

#[test]
fn arguments_are_kept_or_given_on_all_devices() {
    let _s = session();
    let client = client("cpu");
    let donor = program(&client, "donor");
    let (one, two) = (upload(&client, 1.0), upload(&client, 2.0));
    let arguments = [vec![&one], vec![&two]];
    let gone = || [&one, &two].map(|buffer| buffer.is_deleted().unwrap());
    let keep = ExecuteOptions {
        non_donatable: vec![0],
        ..ExecuteOptions::default()
    };
    donor.execute_on(&arguments, &keep).unwrap();
    assert_eq!(gone(), [false, false]);
    let options = ExecuteOptions::default();
    donor.execute_on(&arguments, &options).unwrap();
    assert_eq!(gone(), [true, true]);
    let three = upload(&client, 3.0);
    let e = donor
        .execute_on(&[vec![&three], vec![&two]], &options)
        .unwrap_err();
    assert_eq!(e.kind(), Kind::Deleted);
    assert!(
        e.message()
            .starts_with("argument 1 on device 2: execution called on deleted or donated buffer"),
        "{e}"
    );
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let _s = session();
    let (client, other) = (client("cpu"), client("elsewhere"));
    let (own, foreign) = (upload(&client, 1.0), upload(&other, 1.0));
    let executable = program(&client, "pass");
    let options = ExecuteOptions::default();
    let message = |e: Error| {
        assert_eq!(e.code(), Code::INVALID_ARGUMENT);
        e.message().to_string()
    };
    let refused =
        |lists: &[Vec<&Buffer>]| message(executable.execute_on(lists, &options).unwrap_err());
    assert_eq!(
        message(executable.execute(&[&own], &options).unwrap_err()),
        "the program runs on 2 devices of this process, there are arguments for 1"
    );
    assert_eq!(
        refused(&[vec![&own, &own], vec![&own]]),
        "there are 2 arguments for the first device and 1 for device 2 of the program"
    );
    assert_eq!(
        refused(&[vec![&own], vec![&foreign]]),
        "argument 1 on device 2 belongs to another client (elsewhere) than the program (cpu)"
    );
}

#[test]
fn shardings_are_read_from_the_module() {
    let _s = session();
    let client = client("cpu");
    let tiled = Sharding::Tiled {
        tiles: vec![2, 1],
        copies: 1,
        devices: vec![1, 0],
    };
    let two = program(&client, "two");
    assert_eq!(
        two.result_shardings().unwrap(),
        [tiled, Sharding::Replicated]
    );
    assert!(two.shardings().unwrap().parameters.is_empty());
    // The module tells of two results.
    let one = program(&client, "pass").result_shardings().unwrap();
    assert_eq!(one, [Sharding::Unknown]);
    let mut t = table();
    t.PJRT_Executable_OptimizedProgram = None;
    t.PJRT_LoadedExecutable_AddressableDevices = None;
    let client = plugin(t).unwrap().client(&platform_option("cpu")).unwrap();
    let any = Program::new("any", ProgramFormat::Mlir);
    let any = client.compile(&any, &[]).unwrap();
    assert_eq!(any.num_devices(), 1);
    assert_eq!(any.shardings().unwrap_err().kind(), Kind::MissingFunction);
}
