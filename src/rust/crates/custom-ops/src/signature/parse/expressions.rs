//! Element types and dimensions.

use core::ops::Range;

use super::super::ast::{Dim, Dtype};
use super::super::dtype::named;
use super::super::error::{Fault, Result};
use super::super::lex::Token;
use super::{intern, reserved, Kind, Parser, Use};

/// Operations in one dimension or dtype: deeper ones could exhaust the stack.
const OPERATIONS: usize = 32;

type Operator = fn(Box<Dim>, Box<Dim>) -> Dim;

impl Parser {
    pub(super) fn dtype(&mut self) -> Result<Dtype> {
        self.operations = 0;
        self.dtype_within(true)
    }

    fn dtype_within(&mut self, alone: bool) -> Result<Dtype> {
        let at = self.place();
        let Token::Name(name) = self.token().clone() else {
            return Err(self.unexpected(&["a dtype"]));
        };
        self.next += 1;
        if self.eat("(") {
            self.operation(&at)?;
            let first = Box::new(match name.as_str() {
                "wider" | "real" | "complex" => self.dtype_within(false)?,
                _ => {
                    let fault = Fault::new(&at, format!("there is no function `{name}` of dtypes"));
                    return Err(fault.hint("There are `wider(T, U)`, `real(T)` and `complex(T)`."));
                }
            });
            let dtype = match name.as_str() {
                "real" => Dtype::Real(first),
                "complex" => Dtype::Complex(first),
                _ => {
                    self.expect(",", &["`,` and another dtype"])?;
                    Dtype::Wider(first, Box::new(self.dtype_within(false)?))
                }
            };
            self.expect(")", &["`)`"])?;
            return Ok(dtype);
        }
        if name == "str" {
            let fault = Fault::new(&at, "`str` is for attributes only");
            return Err(fault.hint("Attributes stand between `;` and `->`."));
        }
        if let Some(dtype) = named(&name, &at)? {
            return Ok(Dtype::Fixed(dtype));
        }
        reserved(&name, &at)?;
        let index = intern(&mut self.draft.dtypes, &name);
        self.note_use(Kind::Dtype, index, alone, at);
        Ok(Dtype::Variable(index))
    }

    pub(super) fn dim(&mut self) -> Result<Dim> {
        self.operations = 0;
        if let (Token::Name(name), at) = self.tokens[self.next].clone() {
            if matches!(self.tokens[self.next + 1].0, Token::Sign("," | "]")) {
                self.next += 1;
                return Ok(Dim::Name(self.named_dim(&name, at, Kind::Dim, true)?));
            }
        }
        let at = self.place();
        let dim = self.sum()?;
        if let Some(length) = dim.constant() {
            let at = at.start..self.tokens[self.next - 1].1.end;
            match length {
                Ok(0..) => {}
                Ok(length) => {
                    return Err(Fault::new(&at, format!("a dimension cannot be {length}")))
                }
                Err(problem) => return Err(Fault::new(&at, format!("a dimension {problem}"))),
            }
        }
        Ok(dim)
    }

    fn sum(&mut self) -> Result<Dim> {
        self.chain(Self::product, [("+", Dim::Add), ("-", Dim::Subtract)])
    }

    fn product(&mut self) -> Result<Dim> {
        self.chain(Self::atom, [("*", Dim::Multiply), ("/", Dim::Divide)])
    }

    /// Parts with operators between them, from left to right.
    fn chain(
        &mut self,
        part: fn(&mut Self) -> Result<Dim>,
        operators: [(&str, Operator); 2],
    ) -> Result<Dim> {
        let mut dim = part(self)?;
        while let Some((_, make)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            self.sign()?;
            dim = make(Box::new(dim), Box::new(part(self)?));
        }
        Ok(dim)
    }

    fn atom(&mut self) -> Result<Dim> {
        let at = self.place();
        match self.token().clone() {
            Token::Integer(digits) => {
                let number = self.integer(digits, false)?;
                self.next += 1;
                Ok(Dim::Number(number))
            }
            Token::Name(name) => {
                self.next += 1;
                match self.is("(") {
                    true => self.function(&name, &at),
                    false => Ok(Dim::Name(self.named_dim(&name, at, Kind::Dim, false)?)),
                }
            }
            Token::Sign("(") => {
                self.sign()?;
                let dim = self.sum()?;
                self.expect(")", &["`)`"])?;
                Ok(dim)
            }
            Token::Float(_) => Err(Fault::new(&at, "a dimension is a whole number")),
            Token::Sign("?") => Err(Fault::new(
                &at,
                "dimensions have names: `?` stands for none",
            )),
            _ => Err(self.unexpected(&["a dimension"])),
        }
    }

    /// `min(m, n)`
    fn function(&mut self, name: &str, at: &Range<usize>) -> Result<Dim> {
        let make = match name {
            "min" => Dim::Min,
            "max" => Dim::Max,
            _ => {
                let fault = Fault::new(at, format!("there is no function `{name}` of dimensions"));
                return Err(fault.hint("There are `min(m, n)` and `max(m, n)`."));
            }
        };
        self.sign()?;
        let mut dim = self.sum()?;
        let mut count = 1;
        while self.is(",") {
            self.sign()?;
            dim = make(Box::new(dim), Box::new(self.sum()?));
            count += 1;
        }
        if count == 1 {
            return Err(self.unexpected(&[&format!("`,` and another dimension for `{name}`")]));
        }
        self.expect(")", &["`,`", "`)`"])?;
        Ok(dim)
    }

    /// A sign of an expression, which counts.
    fn sign(&mut self) -> Result<()> {
        let at = self.place();
        self.next += 1;
        self.operation(&at)
    }

    fn operation(&mut self, at: &Range<usize>) -> Result<()> {
        self.operations += 1;
        match self.operations > OPERATIONS {
            true => Err(Fault::new(
                at,
                format!("an expression has at most {OPERATIONS} operations"),
            )),
            false => Ok(()),
        }
    }

    pub(super) fn named_dim(
        &mut self,
        name: &str,
        at: Range<usize>,
        kind: Kind,
        alone: bool,
    ) -> Result<usize> {
        reserved(name, &at)?;
        let index = intern(&mut self.draft.dims, name);
        self.note_use(kind, index, alone, at);
        Ok(index)
    }

    fn note_use(&mut self, kind: Kind, index: usize, alone: bool, at: Range<usize>) {
        self.draft.uses.push(Use {
            kind,
            index,
            of: self.of,
            alone,
            at,
        });
    }
}
