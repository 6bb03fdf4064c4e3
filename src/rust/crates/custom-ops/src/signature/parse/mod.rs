//! From tokens to the parts of a signature, by recursive descent.

mod arrays;
mod attributes;
mod expressions;

use core::ops::Range;

use super::ast::{Array, Attribute, Dim, Operand, Outcome};
use super::error::{Fault, Result};
use super::lex::{tokens, Token, GREATEST};

/// The parts, before names are checked. Integer attributes in dimensions are names still.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) operands: Vec<Operand>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) results: Vec<Outcome>,
    pub(super) scratch: Vec<Array>,
    pub(super) dims: Vec<String>,
    pub(super) dtypes: Vec<String>,
    pub(super) uses: Vec<Use>,
}

/// A place where a dimension or a variable for dtypes is named.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) kind: Kind,
    /// An index into [`Draft::dims`] or [`Draft::dtypes`].
    pub(super) index: usize,
    pub(super) of: Of,
    /// Whether it stands alone, not in an expression.
    pub(super) alone: bool,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dim,
    Count,
    Dtype,
}

/// What a name is used for, with its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Operand(usize),
    Attribute(usize),
    Result(usize),
    Scratch,
}

pub(super) struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    draft: Draft,
    of: Of,
    operations: usize,
}

impl Parser {
    fn new(text: &str) -> Result<Self> {
        Ok(Parser {
            tokens: tokens(text)?,
            next: 0,
            draft: Draft::default(),
            of: Of::Scratch,
            operations: 0,
        })
    }

    pub(super) fn parse(text: &str) -> Result<Draft> {
        let mut parser = Parser::new(text)?;
        parser.signature()?;
        Ok(parser.draft)
    }

    /// A dimension alone, whose names are those of the draft.
    pub(super) fn number(text: &str) -> Result<(Dim, Draft)> {
        let mut parser = Parser::new(text)?;
        let dim = parser.dim()?;
        match parser.token() {
            Token::End => Ok((dim, parser.draft)),
            _ => Err(parser.unexpected(&["an operator", "the end"])),
        }
    }

    fn signature(&mut self) -> Result<()> {
        if *self.token() == Token::End {
            let fault = Fault::new(&self.place(), "the signature is empty");
            return Err(fault.hint("A signature is `operands -> results`."));
        }
        if !self.is(";") && !self.is("->") {
            self.list(Parser::operand)?;
        }
        if self.eat(";") && !self.is("->") {
            self.list(Parser::attribute)?;
        }
        if !self.eat("->") {
            let fault = self.unexpected(&["`,`", "`;`", "`->`"]);
            return Err(match self.token() {
                Token::End => fault.hint("A signature is `operands -> results`."),
                Token::Sign(";") => fault.hint("Scratch memory comes behind the results."),
                _ => fault,
            });
        }
        if !self.is(";") && *self.token() != Token::End {
            self.list(Parser::result)?;
        }
        if self.eat(";") {
            self.list(Parser::scratch)?;
        }
        match self.token() {
            Token::End => Ok(()),
            _ => Err(self.unexpected(&["`,`", "`;`", "the end"])),
        }
    }

    fn list(&mut self, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        loop {
            one(self)?;
            if !self.eat(",") {
                return Ok(());
            }
        }
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn place(&self) -> Range<usize> {
        self.tokens[self.next].1.clone()
    }

    /// The value of an integer, the token at hand.
    fn integer(&self, digits: u64, negative: bool) -> Result<i64> {
        let value = match negative {
            true => 0i64.checked_sub_unsigned(digits),
            false => i64::try_from(digits).ok(),
        };
        value.ok_or_else(|| Fault::new(&self.place(), format!("{digits} is above {GREATEST}")))
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str, expected: &[&str]) -> Result<()> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    fn unexpected(&self, expected: &[&str]) -> Fault {
        let found = match self.token() {
            Token::End => "the end".to_string(),
            Token::Name(name) => format!("`{name}`"),
            Token::Integer(number) => number.to_string(),
            Token::Float(number) => number.to_string(),
            Token::Text(_) => "a text".to_string(),
            Token::Sign(sign) => format!("`{sign}`"),
        };
        let expected = match expected {
            [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => expected.concat(),
        };
        Fault::new(&self.place(), format!("expected {expected}, found {found}"))
    }
}

/// The generated code has names of its own.
fn reserved(name: &str, at: &Range<usize>) -> Result<()> {
    match name
        .get(..6)
        .is_some_and(|start| start.eq_ignore_ascii_case("xlaffi"))
    {
        true => Err(Fault::new(
            at,
            "names that begin with `xlaffi` are this package's own",
        )),
        false => Ok(()),
    }
}

fn intern(names: &mut Vec<String>, name: &str) -> usize {
    names
        .iter()
        .position(|known| known == name)
        .unwrap_or_else(|| {
            names.push(name.to_string());
            names.len() - 1
        })
}
