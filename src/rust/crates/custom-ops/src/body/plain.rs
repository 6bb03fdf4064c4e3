//! Functions whose arguments are all pointers or integers of 64 bits: Fortran's subroutines, the
//! routines that R packages have for `.C()` and `.Fortran()`.

use core::ffi::c_void;

use xla_ffi::registry::Barrier;

use crate::signature::{AttributeKind, Signature};

/// As many arguments as R allows.
pub const MOST_ARGUMENTS: usize = 65;

/// Such a function, and what each of its arguments is.
pub struct PlainFunction {
    function: *const c_void,
    words: Vec<Word>,
    status: bool,
    barrier: Option<&'static Barrier>,
}

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The address of an array, by its place in `abi::Call::buffers`.
    Array(usize),
    /// A number itself.
    Value(Number),
    /// The address of a number as `int`.
    I32(Number),
    /// The address of a number as `int64_t`.
    I64(Number),
    /// The address of a number as `double`.
    F64(Number),
    /// The address of what an attribute holds.
    Attribute(usize),
    /// The address of the number of elements of an attribute, as `int`.
    Length(usize),
    /// The address of the number of elements of an array, as `int`.
    Size(usize),
}

/// What is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Dim(usize),
    Attribute(usize),
}

impl PlainFunction {
    /// Reads what each argument is: `array x`, `value n`, `i32 n`, `i64 n`, `f64 alpha`,
    /// `attribute a`, `length a`, `size x`. `status`: it returns an `int` that is not 0 for an error.
    ///
    /// # Errors
    /// Text: what is wrong with which argument.
    pub fn new(
        function: *const c_void,
        words: &[&str],
        status: bool,
        signature: &Signature,
    ) -> Result<Self, String> {
        if words.len() > MOST_ARGUMENTS {
            return Err(format!(
                "a function has at most {MOST_ARGUMENTS} arguments, not {}",
                words.len()
            ));
        }
        let words = words.iter().enumerate().map(|(i, word)| {
            read(word, signature)
                .map_err(|fault| format!("argument {} (\"{word}\"): {fault}", i + 1))
        });
        Ok(PlainFunction {
            function,
            words: words.collect::<Result<_, _>>()?,
            status,
            barrier: None,
        })
    }

    /// Has what the function throws caught.
    #[must_use]
    pub fn behind(mut self, barrier: &'static Barrier) -> Self {
        self.barrier = Some(barrier);
        self
    }

    /// Calls the function.
    ///
    /// # Safety
    /// `value` gives for each word what the function expects there.
    pub(crate) unsafe fn call(
        &self,
        mut value: impl FnMut(Word) -> xla_ffi::Result<Cell>,
    ) -> xla_ffi::Result<i32> {
        let mut cells = [0u64; MOST_ARGUMENTS];
        let mut arguments = [0usize; MOST_ARGUMENTS];
        for (i, &word) in self.words.iter().enumerate() {
            arguments[i] = match value(word)? {
                Cell::Word(word) => word,
                Cell::Behind(bytes) => {
                    cells[i] = bytes;
                    core::ptr::addr_of_mut!(cells[i]) as usize
                }
            };
        }
        let arguments = &arguments[..self.words.len()];
        // SAFETY: by contract; `cells` lives until the function has returned. A barrier's condition: the
        // call is by an ABI that unwinds, past frames of plain words.
        let status = unsafe {
            match self.barrier {
                None => call(self.function, arguments),
                Some(barrier) => barrier.catch(|| call(self.function, arguments))?,
            }
        };
        Ok(if self.status { status } else { 0 })
    }
}

/// What stands for an argument.
pub(crate) enum Cell {
    /// The argument itself.
    Word(usize),
    /// The address of these bytes.
    Behind(u64),
}

impl Cell {
    /// The address of an `int`.
    pub(crate) fn int(value: i32) -> Self {
        let [a, b, c, d] = value.to_ne_bytes();
        Cell::Behind(u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0]))
    }
}

fn read(word: &str, signature: &Signature) -> Result<Word, String> {
    let (kind, name) = word.split_once(' ').ok_or("it must be a kind and a name")?;
    let array = || {
        let operands = signature.operands.iter().map(|operand| &operand.array);
        let results = signature.results.iter().map(|result| &result.array);
        let mut arrays = operands.chain(results).chain(&signature.scratch);
        let at = arrays.position(|array| array.name == name);
        at.ok_or_else(|| format!("there is no array `{name}`"))
    };
    let attribute = || {
        let at = signature
            .attributes
            .iter()
            .position(|attribute| attribute.name == name);
        at.ok_or_else(|| format!("there is no attribute `{name}`"))
    };
    let number = || {
        if let Some(dim) = signature.dims.iter().position(|dim| dim == name) {
            return Ok(Number::Dim(dim));
        }
        let missing = || format!("there is no dimension or attribute `{name}`");
        let at = attribute().map_err(|_| missing())?;
        match signature.attributes[at].kind {
            AttributeKind::Scalar(_) => Ok(Number::Attribute(at)),
            _ => Err(format!("attribute `{name}` is not one number")),
        }
    };
    Ok(match kind {
        "array" => Word::Array(array()?),
        "value" => Word::Value(number()?),
        "i32" => Word::I32(number()?),
        "i64" => Word::I64(number()?),
        "f64" => Word::F64(number()?),
        "attribute" => Word::Attribute(attribute()?),
        "length" => Word::Length(attribute()?),
        "size" => match array()? {
            at if at < signature.operands.len() + signature.results.len() => Word::Size(at),
            _ => return Err(format!("`{name}` is scratch memory")),
        },
        _ => return Err(format!("there is no kind `{kind}` of argument")),
    })
}

macro_rules! by_arity {
    ($function:ident, $words:ident; $($index:literal)*) => {
        by_arity!(@ $function, $words; [] $($index)*)
    };
    (@ $function:ident, $words:ident; [$($before:literal)*] $next:literal $($rest:literal)*) => {
        if $words.len() == $next {
            type Function = unsafe extern "C-unwind" fn($(by_arity!(@word $before)),*) -> i32;
            // SAFETY: the caller's promise: a function of that many words. What it returns is
            // looked at only where it returns an `int`.
            return unsafe {
                core::mem::transmute::<*const c_void, Function>($function)($($words[$before]),*)
            };
        }
        by_arity!(@ $function, $words; [$($before)* $next] $($rest)*)
    };
    (@ $function:ident, $words:ident; [$($before:literal)*]) => {};
    (@word $index:literal) => { usize };
}

/// # Safety
/// The function takes these words.
unsafe fn call(function: *const c_void, words: &[usize]) -> i32 {
    by_arity!(function, words;
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
        63 64 65);
    unreachable!("more than {MOST_ARGUMENTS} arguments are refused")
}
