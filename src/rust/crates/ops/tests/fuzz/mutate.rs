//! What a broken program may hand to a handler.

use core::mem::{offset_of, size_of};

use xla_ffi::{sys, DataType};

use crate::call::{Attr, Fill, Hosts, Operand, Spec};
use crate::rng::Rng;

const DIMS: &[i64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    9,
    16,
    33,
    65,
    129,
    -1,
    i64::MIN,
    i64::MAX,
    1 << 31,
    (1 << 31) - 1,
    1 << 32,
    1 << 40,
];
const NAMES: &[&str] = &[
    "uplo",
    "mode",
    "side",
    "left",
    "transpose",
    "trans_x",
    "diag",
    "low",
    "high",
    "sort",
    "compute_left",
    "compute_right",
    "transposed",
    "print_header",
    "print_footer",
    "max_rows",
    "e",
    "",
    "\u{e9}",
];
const NUMBERS: &[i64] = &[
    0,
    1,
    2,
    3,
    -1,
    100,
    255,
    i32::MAX as i64,
    i32::MIN as i64,
    i64::MAX,
    i64::MIN,
];

/// Whether results must still be what they were: nothing that they depend on was changed.
#[must_use]
pub fn mutate(spec: &mut Spec, rng: &mut Rng) -> bool {
    let mut same = true;
    for _ in 0..1 + rng.below(3) {
        same &= once(spec, rng);
    }
    same
}

fn once(spec: &mut Spec, rng: &mut Rng) -> bool {
    match rng.below(16) {
        0..=6 => {
            let all = spec.args.len() + spec.rets.len();
            let at = rng.below(all);
            let (args, rets) = (&mut spec.args, &mut spec.rets);
            let count = args.len();
            if all > 0 {
                let operand = if at < count {
                    &mut args[at]
                } else {
                    &mut rets[at - count]
                };
                mutate_operand(operand, rng);
            }
            false
        }
        7 => {
            // The same change for all: what agrees stays so.
            let fill = *rng.pick(&[Fill::Ordinary, Fill::Special, Fill::Bits, Fill::Zeros]);
            spec.args.iter_mut().for_each(|arg| arg.fill = fill);
            false
        }
        8 => {
            let batch = *rng.pick(DIMS);
            for operand in spec.args.iter_mut().chain(&mut spec.rets) {
                operand.dims.insert(0, batch);
            }
            false
        }
        9 => {
            count(&mut spec.args, rng);
            false
        }
        10 => {
            count(&mut spec.rets, rng);
            false
        }
        11 | 12 => {
            mutate_attributes(&mut spec.attrs, rng, 0);
            false
        }
        13 => {
            share_memory(spec, rng);
            true
        }
        14 => {
            let frame = size_of::<sys::XLA_FFI_CallFrame>();
            let oldest = offset_of!(sys::XLA_FFI_CallFrame, future);
            spec.frame_size = *rng.pick(&[frame, oldest, frame + 8, frame + 800, oldest - 8, 8]);
            spec.frame_size >= oldest
        }
        _ => {
            match rng.below(4) {
                0 => spec.stage = *rng.pick(&[0, 1, 2, 3, -1, 7]),
                1 => spec.host = rng.below(Hosts::COUNT),
                _ => {
                    // Not the metadata query, which has more than a head.
                    spec.extension =
                        Some((*rng.pick(&[0, 2, 3, -1, 1 << 30]), 24 + 8 * rng.below(4)));
                }
            }
            false
        }
    }
}

/// Memory of an argument for a result of the same type and shape.
fn share_memory(spec: &mut Spec, rng: &mut Rng) {
    let same = |arg: &Operand, ret: &Operand| (arg.dtype, &arg.dims) == (ret.dtype, &ret.dims);
    for ret in &mut spec.rets {
        let arg = rng.below(spec.args.len());
        if spec.args.get(arg).is_some_and(|arg| same(arg, ret)) {
            ret.alias = Some(arg);
        }
    }
    // No two results with one memory: XLA has none.
    for at in 1..spec.rets.len() {
        let (before, rest) = spec.rets.split_at_mut(at);
        if before.iter().any(|other| other.alias == rest[0].alias) {
            rest[0].alias = None;
        }
    }
}

fn mutate_operand(operand: &mut Operand, rng: &mut Rng) {
    let rank = operand.dims.len();
    match rng.below(14) {
        0..=3 if rank > 0 => operand.dims[rng.below(rank)] = *rng.pick(DIMS),
        4 if rank > 1 => operand.dims.swap(rng.below(rank), rng.below(rank)),
        5 => operand.dims.insert(rng.below(rank + 1), *rng.pick(DIMS)),
        6 if rank > 0 => drop(operand.dims.remove(rng.below(rank))),
        7 => operand.dtype = *rng.pick(DataType::ALL),
        8 => operand.dtype = DataType(*rng.pick(&[0, 13, 14, 17, 34, 77, -1, i32::MAX])),
        9 => operand.fill = *rng.pick(&[Fill::Special, Fill::Bits, Fill::Zeros]),
        10 => operand.shift = *rng.pick(&[1, 2, 4, 8, 16, 32]),
        11 => match rng.below(4) {
            0 => operand.no_descriptor = true,
            1 => operand.no_dims = true,
            2 => operand.rank = Some(*rng.pick(&[-1, i64::MIN, 0])),
            _ => operand.type_ = *rng.pick(&[0, 2, -1, i32::MAX]),
        },
        12 => operand.no_data = true,
        _ => operand.dims = (0..rng.below(9)).map(|_| *rng.pick(&DIMS[..8])).collect(),
    }
}

fn count(operands: &mut Vec<Operand>, rng: &mut Rng) {
    match (operands.is_empty(), rng.below(3)) {
        (true, _) => operands.push(Operand::new(DataType::F32, &[2, 2])),
        (_, 0) => drop(operands.remove(rng.below(operands.len()))),
        (_, 1) => {
            let (from, to) = (rng.below(operands.len()), rng.below(operands.len()));
            operands.swap(from, to);
        }
        _ => operands.push(operands[rng.below(operands.len())].clone()),
    }
    // Who points to an argument that is no more has memory of its own.
    operands.iter_mut().for_each(|operand| operand.alias = None);
}

pub fn mutate_attributes(attrs: &mut Vec<(Vec<u8>, Attr)>, rng: &mut Rng, depth: usize) {
    let at = rng.below(attrs.len());
    match rng.below(6) {
        0 if !attrs.is_empty() => drop(attrs.remove(at)),
        1 if !attrs.is_empty() => attrs[at].0 = name(rng),
        2..=4 if !attrs.is_empty() => attrs[at].1 = value(rng, depth),
        _ => attrs.push((name(rng), value(rng, depth))),
    }
}

fn name(rng: &mut Rng) -> Vec<u8> {
    match rng.below(8) {
        0 => (0..rng.below(5)).map(|_| rng.next() as u8).collect(),
        _ => rng.pick(NAMES).as_bytes().to_vec(),
    }
}

fn value(rng: &mut Rng, depth: usize) -> Attr {
    let dtype = match rng.below(4) {
        0 => *rng.pick(DataType::ALL),
        1 => DataType(*rng.pick(&[0, 13, 17, 77, -1])),
        _ => *rng.pick(&[
            DataType::U8,
            DataType::PRED,
            DataType::S32,
            DataType::S64,
            DataType::F64,
        ]),
    };
    let size = dtype.size().unwrap_or(4);
    let bytes = |rng: &mut Rng, count: usize| -> Vec<u8> {
        let number = rng.pick(NUMBERS).to_le_bytes();
        let letter = *rng.pick(b"LURNTCASVOIDlu\0\xff");
        (0..count * size)
            .map(|i| {
                if size == 1 {
                    letter
                } else {
                    number[i % size.min(8) % 8]
                }
            })
            .collect()
    };
    match rng.below(8) {
        0..=3 => Attr::Scalar(dtype, bytes(rng, 1)),
        4 => {
            let count = rng.below(5);
            let bytes = bytes(rng, count);
            // Elements of no size, or no memory for those there are.
            let stated = if bytes.is_empty() {
                rng.below(3)
            } else {
                count
            };
            Attr::Array(dtype, stated, bytes)
        }
        5 => Attr::Text(
            (0..rng.below(6))
                .map(|_| *rng.pick(b"LUV{}%\n\xff\0a"))
                .collect(),
        ),
        6 if depth < 3 => {
            let mut attrs = Vec::new();
            (0..rng.below(3)).for_each(|_| mutate_attributes(&mut attrs, rng, depth + 1));
            Attr::Table(attrs)
        }
        _ => Attr::Null(*rng.pick(&[1, 2, 3, 4, 0, -1, 99])),
    }
}
