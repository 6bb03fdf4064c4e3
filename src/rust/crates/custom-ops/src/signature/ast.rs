//! The parts of a signature.

use core::ops::Range;

use xla_ffi::DataType;

/// A signature, read and checked: every name is declared, every dimension of a result is known from
/// operands and attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// As it was written; [`Display`](core::fmt::Display) gives it in its usual form.
    pub text: String,
    /// In order.
    pub operands: Vec<Operand>,
    /// In order.
    pub attributes: Vec<Attribute>,
    /// In order.
    pub results: Vec<Outcome>,
    /// In order.
    pub scratch: Vec<Array>,
    /// Named dimensions, in order of first appearance; counts of what comes several times too.
    pub dims: Vec<String>,
    /// Variables for element types, in order of first appearance.
    pub dtypes: Vec<String>,
}

/// An array: `name: dtype[dims] order`.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name: a variable of the body.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Whether batch dimensions (`...`) come before the others.
    pub batch: bool,
    /// The dimensions of a batch element.
    pub dims: Vec<Dim>,
    /// How matrices lie.
    pub order: Order,
    /// Where in the text.
    pub at: Range<usize>,
}

/// How the last two dimensions lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Rows one after the other: XLA's default.
    Row,
    /// Columns one after the other: R's, LAPACK's and Fortran's.
    Column,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What it is.
    pub array: Array,
    /// `?`: may be left out, as may all that follow.
    pub optional: bool,
    /// `*k`: comes any number of times, which is the dimension `k`; an index into
    /// [`Signature::dims`].
    pub count: Option<usize>,
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it is.
    pub array: Array,
    /// The operand of the same name and type: the body finds that operand's elements here and
    /// overwrites them.
    pub in_place: Option<usize>,
    /// As in [`Operand::count`].
    pub count: Option<usize>,
}

/// An attribute: `name: dtype`, `name: dtype[k]`, `name: str`, with ` = default`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name: a variable of the body.
    pub name: String,
    /// What it holds.
    pub kind: AttributeKind,
    /// Where it may be left out.
    pub default: Option<AttributeValue>,
    /// Where in the text.
    pub at: Range<usize>,
}

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeKind {
    /// One number or truth value. An integer may be used in dimensions.
    Scalar(DataType),
    /// Several, and how many: [`Dim::Number`] or [`Dim::Name`].
    Array(DataType, Dim),
    /// UTF-8.
    Text,
}

/// A default.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// Of any integer type, and in its range.
    Integer(i64),
    /// Of any floating-point type.
    Float(f64),
    /// `true`, `false`.
    Pred(bool),
    /// `"text"`.
    Text(String),
    /// `[1, 2]`.
    Array(Vec<AttributeValue>),
}

/// An element type.
#[derive(Clone, Debug, PartialEq)]
pub enum Dtype {
    /// `f64`
    Fixed(DataType),
    /// `T`: an index into [`Signature::dtypes`].
    Variable(usize),
    /// `wider(T, U)`: the one that holds the values of both, as numpy's `result_type` has it.
    Wider(Box<Dtype>, Box<Dtype>),
    /// `real(T)`: of complex numbers their parts' type, else the type itself.
    Real(Box<Dtype>),
    /// `complex(T)`: the complex numbers with such parts.
    Complex(Box<Dtype>),
}

/// The length of a dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Dim {
    /// `3`
    Number(i64),
    /// `n`: an index into [`Signature::dims`].
    Name(usize),
    /// An integer attribute; an index into [`Signature::attributes`].
    Attribute(usize),
    /// `m + n`
    Add(Box<Dim>, Box<Dim>),
    /// `m - n`
    Subtract(Box<Dim>, Box<Dim>),
    /// `2*n`
    Multiply(Box<Dim>, Box<Dim>),
    /// `n/2`, rounded down.
    Divide(Box<Dim>, Box<Dim>),
    /// `min(m, n)`
    Min(Box<Dim>, Box<Dim>),
    /// `max(m, n)`
    Max(Box<Dim>, Box<Dim>),
}
