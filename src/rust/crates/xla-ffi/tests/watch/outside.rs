//! Reads and writes beside an operand's memory.

use xla_ffi::registry::{Checks, Kind};
use xla_ffi::testing::Call;
use xla_ffi::{
    handler, io, sys, Arg, Cx, HandlerFn, Host, Kernel, Op, OperandKind, Result, Ret, Untyped,
};

use crate::*;

#[test]
fn writes_outside_are_found() {
    let (kind, text) = only("writes_behind", writes_behind, &mut call());
    assert_eq!(kind, Kind::WriteBehind);
    assert_eq!(
        text,
        "wrote 8 bytes behind result 1 (f64 (2,3)), 7 at element 8"
    );
    let mut frame = Call::new()
        .arg(&[3], &[1f32, 2.0, 3.0])
        .ret::<f32>(&[3])
        .build();
    let (kind, text) = only("writes_before", writes_before, &mut frame);
    assert_eq!(kind, Kind::WriteBefore);
    assert_eq!(
        text,
        "wrote 4 bytes before result 1 (f32 (3)), 3 at element 0"
    );
    let mut frame = Call::new().arg(&[], &[1i32]).ret::<i32>(&[]).build();
    let (_, text) = only("writes_behind_operand", writes_behind_operand, &mut frame);
    assert_eq!(
        text,
        "wrote 4 bytes behind operand 1 (i32 ()), 5 at element 2"
    );
}

/// Takes scratch memory twice, and writes where `X` says.
struct Scratches;

impl Op for Scratches {
    const TARGET: &'static str = "scratches";
    type Dtypes = Untyped;
}

io! {
    struct ScratchesIo<'f> {
        at: Arg<'f, f64>,
        z: Ret<'f, f64>,
    }
}

impl Kernel<Host> for Scratches {
    type Io<'f> = ScratchesIo<'f>;

    fn run(mut io: ScratchesIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
        let at = io.at.as_slice()?[0] as isize;
        let good = cx.scratch(100, 256)?;
        let bad = cx.scratch(24, 8)?;
        assert_eq!(good.as_ptr() as usize % 256, 0);
        // SAFETY: what is written outside stays within the zones.
        unsafe {
            good.as_ptr().cast::<u8>().add(99).write(1);
            bad.as_ptr().cast::<u8>().offset(at).write(7);
        }
        // SAFETY: it may hold anything.
        let read = unsafe { bad.as_ptr().cast::<u8>().add(5).read() };
        io.z.as_mut_slice()?[0] = f64::from(if (5..7).contains(&at) { read } else { 7 });
        Ok(())
    }
}

#[test]
fn writes_beside_scratch_memory_are_found() {
    let run = |at: f64, checks: Checks| {
        let mut frame = Call::new().arg(&[1], &[at]).ret::<f64>(&[1]).build();
        let handler = handler::<Scratches, Host>;
        let (outcome, findings) = checked("scratches", handler, checks, &mut frame);
        outcome.expect("no error");
        (frame.ret::<f64>(0)[0], findings)
    };
    assert_eq!(run(5.0, Checks::default()), (7.0, Vec::new()));
    assert_eq!(run(30.0, Checks::none()), (7.0, Vec::new()));
    // What it reads was not written.
    let (_, findings) = run(6.0, Checks::default());
    assert_eq!(findings[0].kind, Kind::Uninitialised);
    for (at, kind, text) in [
        (
            30.0,
            Kind::WriteBehind,
            "wrote 1 byte behind it (ui8 (24)), 7 at element 31",
        ),
        (
            -1.0,
            Kind::WriteBefore,
            "wrote 1 byte before it (ui8 (24)), 7 at element 0",
        ),
    ] {
        let (_, findings) = run(at, Checks::default());
        let [finding] = &findings[..] else {
            panic!("one finding, not {findings:#?}");
        };
        assert_eq!(finding.kind, kind);
        assert_eq!(finding.operand, Some((OperandKind::Scratch, 1)));
        assert_eq!(finding.text("it"), text);
    }
}

#[test]
fn what_is_read_outside_is_reported_as_that() {
    use Kind::{ReadBefore, ReadBehind, WriteBefore, WriteBehind};
    let of_x = |kind, note: &str| {
        let side = if kind == ReadBefore {
            "before"
        } else {
            "behind"
        };
        let text = format!("read {side} operand 1 (f64 (2,3)): {note}");
        (kind, (OperandKind::Argument, 0), text)
    };
    let of_z = |kind, text: &str| (kind, (OperandKind::Result, 0), text.to_owned());
    let depends = |at: &str| format!("result 1 depends on what lies there: {at} is ");
    let cases: [(&str, HandlerFn, Vec<_>); 5] = [
        (
            "reads_behind",
            reads_behind,
            vec![of_x(ReadBehind, &depends("[2, 3]"))],
        ),
        ("shifts", shifts, vec![of_x(ReadBehind, &depends("[2, 3]"))]),
        (
            "shifts_back",
            shifts_back,
            vec![of_x(ReadBefore, &depends("[1, 1]"))],
        ),
        (
            "copies_too_many",
            copies_too_many,
            vec![
                of_x(ReadBehind, "what lies there was written behind result 1"),
                of_z(WriteBehind, "wrote 8 bytes behind result 1 (f64 (2,3)), "),
            ],
        ),
        (
            "copies_from_before",
            copies_from_before,
            vec![
                of_x(ReadBefore, "what lies there was written before result 1"),
                of_z(WriteBefore, "wrote 8 bytes before result 1 (f64 (2,3)), "),
            ],
        ),
    ];
    for (target, handler, expected) in cases {
        let (outcome, findings) = checked(target, handler, Checks::default(), &mut call());
        outcome.expect("no error");
        assert_eq!(findings.len(), expected.len(), "{target}: {findings:#?}");
        for (finding, (kind, operand, text)) in findings.iter().zip(expected) {
            assert_eq!(
                (finding.kind, finding.operand),
                (kind, Some(operand)),
                "{target}"
            );
            let name = match operand.0 {
                OperandKind::Result => "result 1",
                _ => "operand 1",
            };
            let message = finding.text(name);
            assert!(message.starts_with(&text), "{target}: {message}");
        }
    }
}

/// Two operands: the second one's neighbour gets into the first result.
#[test]
fn of_several_operands_the_right_one_is_named() {
    unsafe extern "C" fn second(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
        // SAFETY: a frame of this test.
        unsafe {
            if xla_ffi::raw::answer_metadata(frame, 0) {
                return std::ptr::null_mut();
            }
            let (x, n) = buffer::<f32>((*frame).args.args, 1);
            for ret in 0..2 {
                let (z, _) = buffer::<f32>((*frame).rets.rets, ret);
                copy(x.add(1 - ret), z, n);
            }
        }
        std::ptr::null_mut()
    }
    let x = [1f32, 2.0, 3.0];
    let call = Call::new().arg(&[3], &x).arg(&[3], &x);
    let mut frame = call.ret::<f32>(&[3]).ret::<f32>(&[3]).build();
    let (outcome, findings) = checked("second", second, Checks::default(), &mut frame);
    outcome.expect("no error");
    let [finding] = &findings[..] else {
        panic!("one finding, not {findings:#?}");
    };
    assert_eq!(finding.kind, Kind::ReadBehind);
    assert_eq!(finding.operand, Some((OperandKind::Argument, 1)));
    assert_eq!(frame.ret::<f32>(1), x);
}
