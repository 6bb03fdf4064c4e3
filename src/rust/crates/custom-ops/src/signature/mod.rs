//! What an op takes and gives, as its signature says.
//!
//! ```text
//! a: T[..., m, n] column, b: T[..., m]?; alpha: f64 = 1, lags: i64[p] -> x: T[..., min(m, n)]; work: T[2*n]
//! ```
//! Operands; attributes `->` results; scratch memory. White space, line breaks included, stands
//! anywhere between words and signs. In EBNF (`{}`: any number of times, `[]`: may be left out):
//!
//! ```text
//! signature = [operand {"," operand}] [";" [attribute {"," attribute}]]
//!             "->" [result {"," result}] [";" scratch {"," scratch}]
//! operand   = array {"?" | "*" name | order}                    each once at most
//! result    = array {"*" name | order}
//! scratch   = array [order]
//! array     = name ":" dtype ["[" ["..." | ["..." ","] dim {"," dim}] "]"]
//! order     = "row" | "column"
//! dtype     = name | "wider" "(" dtype "," dtype ")" | ("real" | "complex") "(" dtype ")"
//! dim       = product {("+" | "-") product}
//! product   = atom {("*" | "/") atom}
//! atom      = integer | name | "(" dim ")" | ("min" | "max") "(" dim "," dim {"," dim} ")"
//! attribute = name ":" ("str" | name ["[" (name | integer) "]"]) ["=" default]
//! default   = value | "[" [value {"," value}] "]"
//! value     = text | "true" | "false" | ["-"] (integer | float | "inf") | "nan"
//! name      = (letter | "_") {letter | digit | "_"}              of ASCII
//! integer   = digit {digit}                                      below 2^63
//! float     = integer ["." {digit}] [("e" | "E") ["+" | "-"] integer]
//! text      = a string in double or single quotes, with \n, \t, \\, \" and \'
//! ```
//!
//! Beyond the grammar:
//! - Brackets that are left out mean `[...]`.
//! - A dtype is one of [`DTYPES`] (or another name that XLA has for it), or a variable, which begins
//!   with a capital letter. A variable is known where it stands alone in an operand.
//! - A dimension's name is known where it stands alone in an operand, as an attribute's length, or
//!   behind `*`. It may also be that of an attribute that is one integer.
//! - Results, scratch arrays and operands that are always given name only what is known from
//!   operands that are always given, and from attributes.
//! - All names differ, but those of an operand and a result that are one array: these have one type.
//!   None begins with `xlaffi`.
//! - Optional operands are last. One operand at most comes several times, and then none is optional.
//!   A result comes as often as that operand or once.
//! - If an operand has batch dimensions, all results have; scratch arrays never have.
//! - An order needs two dimensions.
//! - An expression has at most 32 operations.
//! - In defaults, `TRUE`, `FALSE`, `Inf` and `NaN` are read as well.

mod ast;
mod check;
mod default;
mod dim;
mod dtype;
mod error;
mod lex;
mod parse;
mod print;
mod resolve;

pub use ast::*;
pub use dim::DimProblem;
pub use dtype::DTYPES;
pub use error::SignatureError;

impl Signature {
    /// Reads a signature.
    ///
    /// ```
    /// use custom_ops::signature::Signature;
    ///
    /// let signature = Signature::parse("x:T[n] -> z:T[2*n+1]")?;
    /// assert_eq!(signature.to_string(), "x: T[n] -> z: T[2*n + 1]");
    /// let error = Signature::parse("x: T[n] -> z: T[m]").unwrap_err();
    /// assert_eq!(error.message, "`m` is not known from any operand");
    /// assert_eq!(error.at, 16..17);
    /// # Ok::<(), custom_ops::signature::SignatureError>(())
    /// ```
    ///
    /// # Errors
    /// Anything that is wrong with it, with the place.
    pub fn parse(text: &str) -> Result<Signature, SignatureError> {
        let draft = parse::Parser::parse(text);
        let signature = draft.and_then(|draft| check::checked(draft, text));
        signature.map_err(|fault| fault.in_text(text))
    }

    /// Reads a number that depends on dimensions and integer attributes of the signature, such as
    /// `min(m, n) / 32 + 1`.
    ///
    /// # Errors
    /// Anything that is wrong with it, with the place.
    pub fn number(&self, text: &str) -> Result<Dim, SignatureError> {
        let read = parse::Parser::number(text);
        let number = read.and_then(|(dim, draft)| resolve::in_signature(dim, &draft, self));
        number.map_err(|fault| fault.in_text(text))
    }
}
