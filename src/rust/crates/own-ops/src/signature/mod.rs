//! What an op takes and gives, as its signature says.
//!
//! ```text
//! a: T[..., m, n] column, b: T[..., m]; alpha: f64 = 1, lags: i64[p] -> x: T[..., min(m, n)]; work: T[2*n]
//! ```
//! Operands; attributes `->` results; scratch memory.

mod ast;
mod check;
mod default;
mod dim;
mod dtype;
mod error;
mod lex;
mod parse;
mod print;

pub use ast::*;
pub use dim::DimProblem;
pub use dtype::DTYPES;
pub use error::SignatureError;

impl Signature {
    /// Reads a signature.
    ///
    /// # Errors
    /// Anything that is wrong with it, with the place.
    pub fn parse(text: &str) -> Result<Signature, SignatureError> {
        let draft = parse::Parser::parse(text);
        let signature = draft.and_then(|draft| check::checked(draft, text));
        signature.map_err(|fault| fault.in_text(text))
    }
}
