//! The source of a kernel: what the signature names as variables, round the user's lines.

use core::fmt::Write as _;

use xla_ffi::DataType;

use super::code::{KernelCode, Work};
use crate::signature::{AttributeKind, Dtype, Signature};

/// More axes of a batch than these are not passed; axes that all arrays go through as one are one.
pub(crate) const AXES: usize = 6;

const PRELUDE: &str = include_str!("prelude.cuh");

/// Where no text of the kernel has `FAIL`, nobody waits for a failure, and nothing has room for one.
const NEVER_FAILS: &str = "#undef FAIL_WITH
#define FAIL_WITH(...) do { static_assert(false, \
  \"FAIL comes from a header or a flag: write it in the kernel's own code or in its support code\"); } while (0)
";

/// Operands, results and scratch arrays.
pub(crate) fn arrays(signature: &Signature) -> usize {
    signature.operands.len() + signature.results.len() + signature.scratch.len()
}

/// All names that become variables.
pub(crate) fn names(signature: &Signature) -> impl Iterator<Item = &String> {
    let operands = signature.operands.iter().map(|operand| &operand.array.name);
    let results = signature.results.iter().map(|result| &result.array.name);
    let scratch = signature.scratch.iter().map(|array| &array.name);
    let attributes = signature.attributes.iter().map(|attribute| &attribute.name);
    let all = operands.chain(results).chain(scratch).chain(attributes);
    all.chain(&signature.dims).chain(&signature.dtypes)
}

/// 64-bit words of the kernel's argument, as [`arguments`] declares it.
pub(crate) fn words(signature: &Signature) -> usize {
    let arrays = arrays(signature).max(1);
    let attributes = signature.attributes.iter();
    let attributes: usize = attributes
        .map(|attribute| attribute_words(&attribute.kind))
        .sum();
    5 + AXES + arrays * (AXES + 2) + signature.dims.len().max(1) + attributes
}

/// Words of an attribute: its value, or its address and its length.
pub(crate) fn attribute_words(kind: &AttributeKind) -> usize {
    match kind {
        AttributeKind::Scalar(_) => 1,
        _ => 2,
    }
}

/// The program for one choice of element types.
pub(crate) fn of(signature: &Signature, variables: &[DataType], code: &KernelCode) -> String {
    let mut text = format!("#include <xlaffi.h>\n{PRELUDE}");
    if !code.fails() {
        text += NEVER_FAILS;
    }
    for (name, &dtype) in signature.dtypes.iter().zip(variables) {
        line(&mut text, format_args!("typedef {} {name};", c_type(dtype)));
    }
    arguments(&mut text, signature);
    let bytes = words(signature) * 8;
    line(
        &mut text,
        format_args!("static_assert(sizeof(xlaffi_arguments) == {bytes}, \"\");"),
    );
    part(&mut text, &code.files[1], &code.support);
    let index = match &code.work {
        Work::Each { index, .. } => format!(", const int64_t {index}"),
        Work::Grid { .. } => String::new(),
    };
    line(
        &mut text,
        format_args!(
            "static __device__ __forceinline__ void xlaffi_body(const xlaffi_arguments &xlaffi_this, \
             const int64_t xlaffi_batch{index}) {{"
        ),
    );
    variables_of(&mut text, signature, variables);
    text.push_str("{\n");
    part(&mut text, &code.files[0], &code.body);
    text.push_str("}\n}\n");
    text.push_str(match code.work {
        Work::Each { .. } => EACH,
        Work::Grid { .. } => GRID,
    });
    text
}

const EACH: &str = r#"extern "C" __global__ void xlaffi_kernel(const XLAFFI_CONSTANT xlaffi_arguments xlaffi_this) {
  const int64_t items = xlaffi_this.items, all = xlaffi_this.count * items;
  const int64_t step = (int64_t) gridDim.x * blockDim.x;
  for (int64_t at = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; at < all; at += step) {
    const int64_t element = xlaffi_divide(at, items, all);
    xlaffi_body(xlaffi_this, xlaffi_this.first + element, at - element * items);
  }
}
"#;

const GRID: &str = r#"extern "C" __global__ void xlaffi_kernel(const XLAFFI_CONSTANT xlaffi_arguments xlaffi_this) {
  xlaffi_body(xlaffi_this, xlaffi_this.first + blockIdx.z);
}
"#;

/// The kernel's argument, as `launch` fills it. Every field has 64 bits.
fn arguments(text: &mut String, signature: &Signature) {
    let arrays = arrays(signature).max(1);
    text.push_str("struct xlaffi_arguments {\n");
    let fields = [
        "int64_t first, count, items, axes;".to_owned(),
        format!("int64_t sizes[{AXES}];"),
        format!("char *arrays[{arrays}];"),
        format!("int64_t strides[{AXES}][{arrays}];"),
        format!("int64_t scratch_bytes[{arrays}];"),
        format!("int64_t dims[{}];", signature.dims.len().max(1)),
    ];
    for field in fields {
        line(text, format_args!("{field}"));
    }
    for (at, attribute) in signature.attributes.iter().enumerate() {
        match attribute.kind {
            AttributeKind::Scalar(dtype) => {
                let declared = c_type(dtype);
                line(text, format_args!("alignas(8) {declared} value{at};"));
            }
            AttributeKind::Array(dtype, _) => {
                let declared = c_type(dtype);
                line(
                    text,
                    format_args!("const {declared} *data{at}; int64_t length{at};"),
                );
            }
            AttributeKind::Text => {
                line(
                    text,
                    format_args!("const char *data{at}; int64_t length{at};"),
                );
            }
        }
    }
    text.push_str("xlaffi_failure *failure;\n};\n");
}

/// Declares what the signature names.
fn variables_of(text: &mut String, signature: &Signature, variables: &[DataType]) {
    let arrays = arrays(signature);
    line(
        text,
        format_args!(
            "const xlaffi_places<{0}> xlaffi_place = xlaffi_find<{0}>(xlaffi_this, xlaffi_batch);",
            arrays.max(1)
        ),
    );
    let mut declare = |at: usize, name: &str, dtype: &Dtype, read: bool| {
        let dtype = dtype.eval(variables).map_or("char", c_type);
        let constant = if read { "const " } else { "" };
        line(
            text,
            format_args!(
                "{constant}{dtype} *const __restrict__ {name} = ({constant}{dtype} *) \
                 (xlaffi_this.arrays[{at}] ? xlaffi_this.arrays[{at}] + xlaffi_place.of[{at}] : nullptr); \
                 (void) {name};"
            ),
        );
    };
    let results = &signature.results;
    for (at, operand) in signature.operands.iter().enumerate() {
        if !results.iter().any(|result| result.in_place == Some(at)) {
            declare(at, &operand.array.name, &operand.array.dtype, true);
        }
    }
    let first = signature.operands.len();
    let written = results.iter().map(|result| &result.array);
    for (at, array) in written.chain(&signature.scratch).enumerate() {
        declare(first + at, &array.name, &array.dtype, false);
    }
    for (at, name) in signature.dims.iter().enumerate() {
        line(
            text,
            format_args!("const int64_t {name} = xlaffi_this.dims[{at}]; (void) {name};"),
        );
    }
    for (at, attribute) in signature.attributes.iter().enumerate() {
        let name = &attribute.name;
        match attribute.kind {
            AttributeKind::Scalar(dtype) => {
                let declared = c_type(dtype);
                line(
                    text,
                    format_args!("const {declared} {name} = xlaffi_this.value{at}; (void) {name};"),
                );
            }
            AttributeKind::Array(dtype, _) => {
                let declared = c_type(dtype);
                line(
                    text,
                    format_args!(
                        "const {declared} *const {name} = xlaffi_this.data{at}; (void) {name};"
                    ),
                );
            }
            AttributeKind::Text => line(
                text,
                format_args!(
                    "const char *const {name} = xlaffi_this.data{at}; \
                     const int64_t {name}_length = xlaffi_this.length{at}; \
                     (void) {name}; (void) {name}_length;"
                ),
            ),
        }
    }
}

/// The user's lines under their own file's name and numbers.
fn part(text: &mut String, file: &str, code: &str) {
    line(text, format_args!("#line 1 \"{file}\"\n{code}\n"));
    line(text, format_args!("#line 1 \"xlaffi-generated.cu\""));
}

fn line(text: &mut String, arguments: core::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = writeln!(text, "{arguments}");
}

/// The type of an element in CUDA's C++; NVRTC has no headers for half precision and complex
/// numbers, so the former are bits, as in C, and the latter CUDA's pairs.
fn c_type(dtype: DataType) -> &'static str {
    match dtype {
        DataType::PRED => "bool",
        DataType::S8 => "int8_t",
        DataType::S16 => "int16_t",
        DataType::S32 => "int32_t",
        DataType::S64 => "int64_t",
        DataType::U8 => "uint8_t",
        DataType::U16 => "uint16_t",
        DataType::U32 => "uint32_t",
        DataType::U64 => "uint64_t",
        DataType::F16 => "xlaffi_f16",
        DataType::BF16 => "xlaffi_bf16",
        DataType::F32 => "float",
        DataType::C64 => "float2",
        DataType::C128 => "double2",
        _ => "double",
    }
}
