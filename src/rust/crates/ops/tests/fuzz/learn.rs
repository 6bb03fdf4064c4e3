//! Calls that handlers accept, learnt from what they say of those that they refuse: an error names
//! the operand and what it must be.

use ops::Entry;
use xla_ffi::testing::Failure;
use xla_ffi::{Code, DataType, FieldKind, HandlerFn};

use crate::call::{make, Arena, Attr, Hosts, Operand, Spec};
use crate::rng::Rng;

/// A call of a handler that succeeds.
pub struct Template {
    pub target: &'static str,
    pub handler: HandlerFn,
    pub spec: Spec,
}

const SHAPES: &[&[i64]] = &[
    &[3, 3],
    &[4, 2],
    &[2, 5],
    &[1, 1],
    &[0, 3],
    &[3, 0],
    &[5],
    &[2, 3, 3],
    &[9, 4, 3],
    &[3, 0, 2, 2],
    &[17, 17],
    &[33, 20],
    &[70, 70],
];

/// Calls of all handlers for the CPU.
pub fn templates(hosts: &mut Hosts, arena: &mut Arena) -> Vec<Template> {
    let mut templates = Vec::new();
    for entry in ops::table() {
        let Some(handler) = entry.handler("host") else {
            continue;
        };
        let before = templates.len();
        for (shape_at, shape) in SHAPES.iter().enumerate() {
            for (dtype_at, &dtype) in entry.dtypes.iter().take(4).enumerate() {
                let mut rng = Rng::of(shape_at as u64, dtype_at as u64);
                let learnt = learn(
                    entry,
                    handler,
                    shape,
                    dtype,
                    (&mut *hosts, &mut *arena),
                    &mut rng,
                );
                templates.extend(learnt.map(|spec| Template {
                    target: entry.target,
                    handler,
                    spec,
                }));
            }
        }
        let learnt = templates.len() - before;
        assert!(
            learnt >= 4,
            "{}: only {learnt} calls were learnt",
            entry.target
        );
    }
    templates
}

fn learn(
    entry: &Entry,
    handler: HandlerFn,
    shape: &[i64],
    dtype: DataType,
    (hosts, arena): (&mut Hosts, &mut Arena),
    rng: &mut Rng,
) -> Option<Spec> {
    let operand = || Operand::new(dtype, shape);
    // Without those that may or may not be there.
    let args = entry
        .operands()
        .filter(|field| matches!(field.kind, FieldKind::Argument { .. }));
    let rets = entry
        .results()
        .filter(|field| matches!(field.kind, FieldKind::Result { .. }));
    let (args, rets) = (
        args.map(|_| operand()).collect(),
        rets.map(|_| operand()).collect(),
    );
    let mut spec = Spec::new(args, rets);
    spec.attrs.extend(pattern(entry));
    for turn in 0..80 {
        let failure = match make(&spec, handler, hosts, arena, turn) {
            Ok(_) => return Some(spec),
            Err(failure) => failure,
        };
        assert_eq!(
            failure.code,
            Code::InvalidArgument,
            "{}: {failure}",
            entry.target
        );
        heed(&failure, entry, &mut spec, rng);
    }
    None
}

/// The attributes of an op that takes a sparse pattern, which no message spells out: the lower triangle of 3 x 3 with
/// an entry below the diagonal.
fn pattern(entry: &Entry) -> Vec<(Vec<u8>, Attr)> {
    let array = |name: &str, numbers: &[i32]| {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        let value = Attr::Array(DataType::S32, numbers.len(), bytes.collect());
        (name.as_bytes().to_vec(), value)
    };
    let named = |name: &str| entry.attributes().any(|field| field.name == name);
    if !named("colptr") {
        return Vec::new();
    }
    let mut attrs = vec![
        array("colptr", &[0, 2, 3, 4]),
        array("rowind", &[0, 2, 1, 2]),
    ];
    for size in ["n", "nrow", "ncol"].into_iter().filter(|size| named(size)) {
        let three = Attr::Scalar(DataType::S64, 3_i64.to_le_bytes().to_vec());
        attrs.push((size.as_bytes().to_vec(), three));
    }
    attrs
}

/// Changes the operand that the error is about to what it asks for.
fn heed(failure: &Failure, entry: &Entry, spec: &mut Spec, rng: &mut Rng) {
    let text = &failure.message;
    let name = text.split('`').nth(1).unwrap_or("");
    let asked = text.split(" must ").nth(1).unwrap_or("");
    let asked = asked.split(", got ").next().unwrap_or("");
    let place = |fields: &mut dyn Iterator<Item = &'static xla_ffi::FieldInfo>| {
        fields
            .enumerate()
            .find(|(_, field)| field.name == name)
            .map(|(at, _)| at)
    };
    if text.contains("attribute `") {
        let field = entry.attributes().find(|field| field.name == name);
        let value = attribute(asked, field.map(|field| field.kind), rng);
        spec.attrs.retain(|(other, _)| other != name.as_bytes());
        spec.attrs.push((name.as_bytes().to_vec(), value));
        return;
    }
    let operand = match (place(&mut entry.operands()), place(&mut entry.results())) {
        (Some(at), _) if text.contains("argument `") => &mut spec.args[at],
        (_, Some(at)) => &mut spec.rets[at],
        _ => panic!("{}: {failure}", entry.target),
    };
    let word = asked.split(&[' ', ','][..]).nth(1).unwrap_or("");
    if let Some(dtype) = asked
        .strip_prefix("be ")
        .and_then(|_| DataType::from_name(word))
    {
        operand.dtype = dtype;
    } else if let Some(shape) = asked.strip_prefix("have shape (") {
        let numbers = shape
            .trim_end_matches(')')
            .split(',')
            .filter(|n| !n.is_empty());
        operand.dims = numbers.map(|n| n.parse().expect("a dimension")).collect();
    } else if let Some(rank) = asked.strip_prefix("have rank ") {
        let rank = rank
            .split(' ')
            .next()
            .and_then(|rank| rank.parse().ok())
            .expect("a rank");
        while operand.dims.len() > rank {
            operand.dims.remove(0);
        }
        while operand.dims.len() < rank {
            operand.dims.insert(0, 1 + rng.below(3) as i64);
        }
    } else {
        // What a matrix or a vector must be is said in words: any smaller one is tried.
        let count = operand.dims.len();
        match asked {
            "be square" => operand.dims[count - 1] = operand.dims[count - 2],
            "have at least as many rows as columns" => operand.dims.swap(count - 1, count - 2),
            _ => operand.dims[count - 1] = rng.below(4) as i64,
        }
    }
}

/// A value for an attribute that must be `asked`.
fn attribute(asked: &str, kind: Option<FieldKind>, rng: &mut Rng) -> Attr {
    let words: Vec<&str> = asked
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let letter = asked.split('\'').nth(1).map(str::as_bytes);
    let dtype = words.iter().find_map(|word| DataType::from_name(word));
    let number = 1 + rng.below(3) as i64;
    match (letter, dtype) {
        (Some(letter), _) => Attr::Scalar(DataType::U8, letter.to_vec()),
        _ if asked.contains("string") => match dtype {
            Some(DataType::U8) => Attr::Scalar(DataType::U8, vec![b'L']),
            _ => Attr::Text(b"text".to_vec()),
        },
        _ if asked.contains('"') => {
            Attr::Text(asked.split('"').nth(1).unwrap_or("").as_bytes().to_vec())
        }
        (None, Some(dtype)) if asked.contains("array") => {
            let size = dtype.size().unwrap_or(1);
            Attr::Array(dtype, 2, vec![1; 2 * size])
        }
        (None, dtype) => {
            let numbers = [DataType::S32, DataType::S64];
            let dtype = dtype.unwrap_or(match kind {
                Some(FieldKind::Attribute {
                    type_: xla_ffi::AttrType::Scalar(dtype),
                    ..
                }) => dtype,
                _ => *rng.pick(&numbers),
            });
            Attr::Scalar(
                dtype,
                number.to_le_bytes()[..dtype.size().unwrap_or(8).min(8)].to_vec(),
            )
        }
    }
}
