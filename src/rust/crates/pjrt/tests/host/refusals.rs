//! Errors, deleted and donated memory, wrong arguments.

use crate::behaviour::{program, read, run, upload};
use crate::fake::*;
use pjrt::*;
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::time::Duration;

#[test]
fn errors_keep_code_message_and_call() {
    let _s = session();
    let client = client("cpu");
    let e = client
        .compile(&Program::new("nonsense", ProgramFormat::Mlir), &[])
        .unwrap_err();
    assert_eq!(
        (e.kind(), e.code(), e.message(), e.call()),
        (
            Kind::Plugin,
            Code::INVALID_ARGUMENT,
            "cannot parse nonsense",
            Some("PJRT_Client_Compile")
        )
    );
    assert_eq!(
        e.to_string(),
        "INVALID_ARGUMENT: cannot parse nonsense (PJRT_Client_Compile)"
    );
    let opaque = Program::new("opaque", ProgramFormat::Mlir);
    assert_eq!(
        client.compile(&opaque, &[]).unwrap_err().code(),
        Code::INTERNAL
    );
    assert_eq!(run(&client, "fails").unwrap_err().code(), Code::ABORTED);
    let strange = run(&client, "one strange").unwrap_err();
    assert_eq!(strange.code(), Code::UNIMPLEMENTED);
    assert_eq!(
        strange.message(),
        "buffers of element type F8E5M2 (number 16) are not supported"
    );
    let none = plugin(table()).unwrap().client(&platform_option("none"));
    assert_eq!(none.unwrap_err().message(), "no such hardware");
    for dims in [[13i64]] {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let host = HostData {
                source: Source::F64(&[0.0; 13]),
                dims: &dims,
                order,
                dtype: DType::F32,
            };
            let e = client.upload(host, None).unwrap_err();
            assert_eq!(e.code(), Code::RESOURCE_EXHAUSTED);
        }
    }
}

#[test]
fn late_results_and_late_errors() {
    let _s = session();
    let client = client("cpu");
    let late = &run(&client, "late").unwrap()[0];
    let event = late.event().unwrap().unwrap();
    assert!(!event.wait_timeout(Duration::ZERO).unwrap());
    assert!(event.wait_timeout(Duration::from_secs(60)).unwrap());
    assert!(event.wait_timeout(Duration::ZERO).unwrap());
    assert_eq!(read(late, Order::RowMajor).unwrap()[5], 5.0);
    assert!(late.event().unwrap().is_none(), "known to be ready by now");

    let fails = &run(&client, "late, fails").unwrap()[0];
    let e = fails
        .event()
        .unwrap()
        .unwrap()
        .wait_timeout(Duration::from_secs(60));
    assert_eq!(e.unwrap_err().message(), "the handler said no");
    assert_eq!(
        read(fails, Order::RowMajor).unwrap_err().code(),
        Code::INTERNAL
    );
    assert_eq!(fails.wait().unwrap_err().message(), "the handler said no");
    // An event that nobody waits for to the end.
    let abandoned = run(&client, "late, fails").unwrap();
    let event = abandoned[0].event().unwrap().unwrap();
    assert!(!event.wait_timeout(Duration::ZERO).unwrap());
}

#[test]
fn arguments_are_compared_with_parameters() {
    let _s = session();
    let client = client("cpu");
    let typed = program(&client, "typed");
    let six = [0.0; 6];
    let of = |dims: &[i64]| upload(&client, &six, dims);
    let [right, transposed, flat] = [of(&[2, 3]), of(&[3, 2]), of(&[6])];
    typed.check_parameters(&[&right]).unwrap();
    let says = |arguments: &[&Buffer], what: &str| {
        let e = typed.check_parameters(arguments).unwrap_err();
        assert_eq!(
            (e.kind(), e.code()),
            (Kind::Argument, Code::INVALID_ARGUMENT)
        );
        assert_eq!(
            e.message(),
            format!("PJRT_LoadedExecutable_Execute: {what}")
        );
    };
    let wanted = "argument 1 must have dtype and shape f32[2,3], got";
    says(&[&transposed], &format!("{wanted} f32[3,2]"));
    says(&[&flat], &format!("{wanted} f32[6]"));
    let host = HostData {
        source: Source::F64(&six),
        dims: &[2, 3],
        order: Order::ColumnMajor,
        dtype: DType::I32,
    };
    let integers = client.upload(host, None).unwrap();
    says(&[&integers], &format!("{wanted} i32[2,3]"));
    let name = typed.name().unwrap_or_default();
    says(&[], &format!("`{name}` takes 1 argument(s), got 0"));
    says(
        &[&right, &right],
        &format!("`{name}` takes 1 argument(s), got 2"),
    );
    // Of another module nothing is known.
    program(&client, "pass").check_parameters(&[&flat]).unwrap();
}

#[test]
fn deleted_and_donated_buffers() {
    let _s = session();
    let client = client("cpu");
    let executable = program(&client, "donor");
    let buffer = upload(&client, &[1.0], &[1]);
    let keep = ExecuteOptions {
        non_donatable: vec![0],
        ..Default::default()
    };
    executable.execute(&[&buffer], &keep).unwrap();
    assert!(!buffer.is_deleted().unwrap());
    executable
        .execute(&[&buffer], &ExecuteOptions::default())
        .unwrap();
    assert!(buffer.is_deleted().unwrap());
    for e in [
        read(&buffer, Order::RowMajor).unwrap_err(),
        buffer.wait().unwrap_err(),
        executable.execute(&[&buffer], &keep).unwrap_err(),
    ] {
        assert_eq!(
            (e.kind(), e.code()),
            (Kind::Deleted, Code::INVALID_ARGUMENT)
        );
    }
    let e = executable.execute(&[&buffer], &keep).unwrap_err();
    assert_eq!(
        e.message(),
        "argument 1: execution called on deleted or donated buffer: its memory is gone or belongs to \
         the result of an earlier execution"
    );
    let buffer = upload(&client, &[1.0], &[1]);
    buffer.delete().unwrap();
    assert_eq!(
        read(&buffer, Order::RowMajor).unwrap_err().kind(),
        Kind::Deleted
    );
}

#[test]
fn memory_that_is_being_read_is_not_donated() {
    let _s = session();
    let client = client("cpu");
    let donates = program(&client, "donor");
    let buffer = &run(&client, "gated").unwrap()[0];
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(buffer, Order::RowMajor));
        until_somebody_waits();
        donates
            .execute(&[buffer], &ExecuteOptions::default())
            .unwrap();
        let gone = buffer.is_deleted();
        open_gate();
        assert!(!gone.unwrap());
        assert_eq!(reader.join().unwrap().unwrap()[5], 5.0);
    });
    donates
        .execute(&[buffer], &ExecuteOptions::default())
        .unwrap();
    assert!(buffer.is_deleted().unwrap());
}

/// Pauses that are given, of which the last may be one that does not come back.
struct Pauses {
    given: Cell<usize>,
    last: usize,
}

impl Pauses {
    fn until(last: usize) -> Self {
        let given = Cell::new(0);
        Pauses { given, last }
    }

    fn pause(&self) {
        self.given.set(self.given.get() + 1);
        if self.given.get() == self.last {
            resume_unwind(Box::new("interrupted"));
        }
    }
}

#[test]
fn large_arrays_pause_and_may_end_there() {
    let _s = session();
    let client = client("cpu");
    let (rows, columns) = (4000_usize, 5000);
    let x: Vec<f64> = (0..rows * columns).map(|i| f64::from(i as u32)).collect();
    let host = HostData {
        source: Source::F64(&x),
        dims: &[rows as i64, columns as i64],
        order: Order::ColumnMajor,
        dtype: DType::F64,
    };
    let upload = |pauses: &Pauses| client.upload_with_pauses(host, None, &|| pauses.pause());
    let ended = catch_unwind(AssertUnwindSafe(|| upload(&Pauses::until(1))));
    assert!(ended.is_err());
    let all = Pauses::until(usize::MAX);
    let buffer = upload(&all).unwrap();
    assert!(all.given.get() >= 2, "{} pauses", all.given.get());

    let mut out = vec![f64::NAN; x.len()];
    let mut read = |pauses: &Pauses| {
        let dest = Dest::F64(&mut out);
        buffer.read_with_pauses(dest, Order::ColumnMajor, &|| pauses.pause())
    };
    let ended = catch_unwind(AssertUnwindSafe(|| read(&Pauses::until(2))));
    assert!(ended.is_err());
    let all = Pauses::until(usize::MAX);
    read(&all).unwrap();
    assert!(all.given.get() >= 2, "{} pauses", all.given.get());
    assert!(out == x, "an element is not where it belongs");
    // Nobody holds on to it.
    let donates = program(&client, "donor");
    donates
        .execute(&[&buffer], &ExecuteOptions::default())
        .unwrap();
    assert!(buffer.is_deleted().unwrap());
}

#[test]
fn wrong_arguments() {
    let _s = session();
    let (here, there) = (client("cpu"), client("elsewhere"));
    let executable = program(&here, "any");
    let foreign = upload(&there, &[1.0], &[1]);
    let message = |e: Error| {
        assert_eq!(
            (e.kind(), e.code()),
            (Kind::Argument, Code::INVALID_ARGUMENT)
        );
        e.message().to_string()
    };
    assert_eq!(
        message(
            executable
                .execute(&[&foreign], &ExecuteOptions::default())
                .unwrap_err()
        ),
        "argument 1 belongs to another client (elsewhere) than the program (cpu)"
    );
    let options = ExecuteOptions {
        non_donatable: vec![2],
        ..Default::default()
    };
    assert_eq!(
        message(executable.execute(&[], &options).unwrap_err()),
        "non-donatable argument 3 does not exist: there are 0"
    );
    assert!(foreign.copy_to(&here.devices()[0]).is_err());
    let try_upload = |source, dims: &[i64], dtype| {
        let host = HostData {
            source,
            dims,
            order: Order::ColumnMajor,
            dtype,
        };
        message(here.upload(host, None).unwrap_err())
    };
    assert_eq!(
        try_upload(Source::F64(&[1.0]), &[2], DType::F32),
        "`data` has 1 elements, but specified shape is [2] with 2 elements"
    );
    assert_eq!(
        try_upload(Source::F64(&[1.0]), &[-1], DType::F32),
        "dimension 1 is negative: -1"
    );
    assert_eq!(
        try_upload(Source::Complex(&[[1.0, 0.0]]), &[1], DType::F32),
        "complex numbers cannot become f32: c64 or c128 is needed"
    );
    assert_eq!(
        try_upload(Source::Bytes(&[1, 2, 3]), &[1], DType::F16),
        "3 bytes are no whole number of f16 elements (2 bytes each)"
    );
    let mine = upload(&here, &[1.0, 2.0], &[2]);
    assert_eq!(
        message(mine.read(Dest::I32(&mut [0]), Order::RowMajor).unwrap_err()),
        "the array of shape [2] has 2 elements, but there is room for 1"
    );
    let host = HostData {
        source: Source::F64(&[]),
        dims: &[1 << 40, 1 << 40],
        order: Order::RowMajor,
        dtype: DType::F64,
    };
    let e = here.upload(host, None).unwrap_err();
    assert_eq!(
        (e.kind(), e.code()),
        (Kind::Memory, Code::RESOURCE_EXHAUSTED)
    );
}
