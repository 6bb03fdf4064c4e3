//! Prints a tensor from within a program.

use crate::platform::MemoryAccess;
use crate::print::{self, dtype_label, format_buffer, Options};
use xla_ffi::{
    io, AllDtypes, AnyAttr, AnyBuffer, Arg, Attr, Code, Cx, DataType, Error, Kernel, Op, Operand,
    OperandKind, RemainingArgs, RemainingRets, Result, Scalar,
};

io! {
    /// Prints a tensor.
    pub struct PrintTensorIo<'f, T> {
        /// any shape, row-major
        x: Arg<'f, T>,
        /// the first line; "" for none
        print_header: Attr<&'f str> = "PJRTBuffer",
        /// the last line, `[ <dtype>{<dims>} ]` by default; "" for none
        print_footer: Attr<Option<&'f str>>,
        /// how many rows are printed at most (i32 or i64, default 30); -1 for all
        max_rows: Attr<Option<AnyAttr<'f>>>,
        /// tokens: what must come before
        after: RemainingArgs<'f>,
        /// tokens: what must come later
        then: RemainingRets<'f>,
    }
}

/// `print_tensor`: writes a tensor, in {pjrt}'s look, to where [`print`](mod@crate::print) says.
///
/// XLA orders side effects by data flow alone. Tokens, taken and given, put one print after
/// another.
pub struct PrintTensor;

impl Op for PrintTensor {
    const TARGET: &'static str = "print_tensor";
    type Dtypes = AllDtypes;
}

impl<T: Scalar, P: MemoryAccess> Kernel<P, T> for PrintTensor {
    type Io<'f> = PrintTensorIo<'f, T>;

    fn run(io: PrintTensorIo<'_, T>, cx: &Cx<'_, P>) -> Result<()> {
        let ends = (*io.print_header, *io.print_footer);
        print(&io.x, ends, *io.max_rows, (io.after, io.then), cx)
    }
}

/// The body, once for all dtypes.
fn print<P: MemoryAccess>(
    x: &AnyBuffer<'_>,
    (header, footer): (&str, Option<&str>),
    max_rows: Option<AnyAttr<'_>>,
    (after, then): (RemainingArgs<'_>, RemainingRets<'_>),
    cx: &Cx<'_, P>,
) -> Result<()> {
    let options = options(max_rows)?;
    for token in after {
        token?.expect_dtype(DataType::TOKEN)?;
    }
    for token in then {
        token?.expect_dtype(DataType::TOKEN)?;
    }
    let bytes = P::to_host(cx, x)?;
    show(x, &bytes, header, footer, &options)
}

/// The text is complete before any of it is written, so an error never leaves half a tensor.
fn show(
    x: &AnyBuffer<'_>,
    bytes: &[u8],
    header: &str,
    footer: Option<&str>,
    options: &Options,
) -> Result<()> {
    let mut text = String::new();
    let mut add = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    if !header.is_empty() {
        add(header);
    }
    format_buffer(x.dtype(), x.dims(), bytes, options)?
        .iter()
        .for_each(|line| add(line));
    match footer {
        Some("") => {}
        Some(line) => add(line),
        None => add(&default_footer(x)),
    }
    print::emit(text).map_err(|error| {
        Error::new(
            Code::DataLoss,
            format!("cannot write to standard output: {error}"),
        )
    })
}

fn default_footer(x: &AnyBuffer<'_>) -> String {
    let dims: Vec<String> = x.dims().iter().map(i64::to_string).collect();
    format!("[ {}{{{}}} ]", dtype_label(x.dtype()), dims.join(","))
}

fn options(max_rows: Option<AnyAttr<'_>>) -> Result<Options> {
    let Some(attr) = max_rows else {
        return Ok(Options::default());
    };
    let value = attr
        .scalar::<i32>()
        .map(i64::from)
        .or_else(|| attr.scalar::<i64>());
    let Some(max_rows) = value else {
        let operand = Operand::new(OperandKind::Attribute, "max_rows");
        return Err(Error::mismatch(
            operand,
            "be a scalar i32 or i64",
            attr.type_(),
        ));
    };
    Ok(Options {
        max_rows,
        max_rows_slice: max_rows,
        ..Options::default()
    })
}
