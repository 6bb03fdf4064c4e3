//! From tokens to the parts of a signature, by recursive descent.

use core::ops::Range;

use super::ast::{
    Array, Attribute, AttributeKind, AttributeValue, Dim, Dtype, Operand, Order, Outcome,
};
use super::default::{checked, Literal};
use super::dtype::{is_integer, kind, named};
use super::error::{Fault, Result};
use super::lex::{tokens, Token};
use xla_ffi::{DataKind, DataType};

/// The parts, before names are checked. Integer attributes in dimensions are [`Dim::Name`] still.
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

/// Operations in one dimension or dtype: deeper ones could exhaust the stack.
const OPERATIONS: usize = 32;

pub(super) struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    draft: Draft,
    of: Of,
    operations: usize,
}

impl Parser {
    pub(super) fn parse(text: &str) -> Result<Draft> {
        let mut parser = Parser {
            tokens: tokens(text)?,
            next: 0,
            draft: Draft::default(),
            of: Of::Scratch,
            operations: 0,
        };
        parser.signature()?;
        Ok(parser.draft)
    }

    fn signature(&mut self) -> Result<()> {
        if *self.token() == Token::End {
            let fault = Fault::new(&self.place(), "the signature is empty");
            return Err(fault.hint("A signature is `operands -> results`."));
        }
        if !self.is(";") && !self.is("->") && *self.token() != Token::End {
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

    fn operand(&mut self) -> Result<()> {
        self.of = Of::Operand(self.draft.operands.len());
        let (mut array, _) = self.array()?;
        let (mut optional, mut count) = (false, None);
        let mut ordered = false;
        loop {
            if self.order(&mut array, &mut ordered)? {
                continue;
            }
            let at = self.place();
            if self.eat("?") {
                if std::mem::replace(&mut optional, true) {
                    return Err(Fault::new(&at, "`?` stands here twice"));
                }
            } else if self.is("*") {
                self.count(&mut count)?;
            } else {
                break;
            }
        }
        self.close(&mut array);
        self.draft.operands.push(Operand {
            array,
            optional,
            count,
        });
        Ok(())
    }

    fn result(&mut self) -> Result<()> {
        self.of = Of::Result(self.draft.results.len());
        let (mut array, _) = self.array()?;
        let (mut count, mut ordered) = (None, false);
        loop {
            if self.order(&mut array, &mut ordered)? {
                continue;
            }
            if self.is("?") {
                return Err(Fault::new(&self.place(), "a result cannot be left out"));
            }
            if !self.is("*") {
                break;
            }
            self.count(&mut count)?;
        }
        self.close(&mut array);
        let in_place = None;
        self.draft.results.push(Outcome {
            array,
            in_place,
            count,
        });
        Ok(())
    }

    fn scratch(&mut self) -> Result<()> {
        self.of = Of::Scratch;
        let (mut array, bare) = self.array()?;
        self.order(&mut array, &mut false)?;
        self.close(&mut array);
        if array.batch {
            let fault = Fault::new(
                &array.at,
                format!("scratch memory `{}` has no batch dimensions", array.name),
            );
            return Err(fault.hint(match bare {
                true => "Say how much: `work: T[n]`, or `work: T[]` for one element.",
                false => "Each call of the body has its own: leave `...` out.",
            }));
        }
        self.draft.scratch.push(array);
        Ok(())
    }

    /// `name: dtype[dims]`, and whether brackets were left out.
    fn array(&mut self) -> Result<(Array, bool)> {
        let (name, at) = self.declared()?;
        let dtype = self.dtype()?;
        let mut array = Array {
            name,
            dtype,
            batch: true,
            dims: Vec::new(),
            order: Order::Row,
            at,
        };
        if !self.eat("[") {
            return Ok((array, true));
        }
        array.batch = self.eat("...");
        let more = match array.batch {
            true => self.eat(","),
            false => !self.is("]"),
        };
        if more {
            self.list(|parser| {
                if parser.is("...") {
                    let at = parser.place();
                    return Err(Fault::new(&at, "`...` comes once, as the first dimension"));
                }
                array.dims.push(parser.dim()?);
                Ok(())
            })?;
        }
        self.expect("]", &["`,`", "`]`"])?;
        Ok((array, false))
    }

    /// Everything up to the last token belongs to it.
    fn close(&self, array: &mut Array) {
        array.at.end = self.tokens[self.next - 1].1.end;
    }

    /// `name:`
    fn declared(&mut self) -> Result<(String, Range<usize>)> {
        let at = self.place();
        let Token::Name(name) = self.token().clone() else {
            return Err(self.unexpected(&["a name"]));
        };
        reserved(&name, &at)?;
        self.next += 1;
        self.expect(":", &["`:` and a dtype"])?;
        Ok((name, at))
    }

    /// `column` or `row`; whether there was one.
    fn order(&mut self, array: &mut Array, ordered: &mut bool) -> Result<bool> {
        let order = match self.token() {
            Token::Name(name) if name == "column" => Order::Column,
            Token::Name(name) if name == "row" => Order::Row,
            _ => return Ok(false),
        };
        let at = self.place();
        if std::mem::replace(ordered, true) {
            return Err(Fault::new(
                &at,
                format!("the order of `{}` is told twice", array.name),
            ));
        }
        if array.dims.len() < 2 {
            let fault = Fault::new(
                &at,
                format!(
                    "`{}` has no matrices: their order needs two dimensions",
                    array.name
                ),
            );
            return Err(fault);
        }
        array.order = order;
        self.next += 1;
        Ok(true)
    }

    /// `*k`
    fn count(&mut self, count: &mut Option<usize>) -> Result<()> {
        let star = self.place();
        self.next += 1;
        let at = self.place();
        let Token::Name(name) = self.token().clone() else {
            let fault = self.unexpected(&["a name for how often it comes"]);
            return Err(fault);
        };
        if count.is_some() {
            return Err(Fault::new(&star, "`*` stands here twice"));
        }
        self.next += 1;
        *count = Some(self.named_dim(&name, at, Kind::Count, true)?);
        Ok(())
    }

    fn dtype(&mut self) -> Result<Dtype> {
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
        let (kind, of) = (Kind::Dtype, self.of);
        self.draft.uses.push(Use {
            kind,
            index,
            of,
            alone,
            at,
        });
        Ok(Dtype::Variable(index))
    }

    fn dim(&mut self) -> Result<Dim> {
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
        let mut dim = self.product()?;
        loop {
            let make = match self.token() {
                Token::Sign("+") => Dim::Add,
                Token::Sign("-") => Dim::Subtract,
                _ => return Ok(dim),
            };
            self.sign()?;
            dim = make(Box::new(dim), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Dim> {
        let mut dim = self.atom()?;
        loop {
            let make = match self.token() {
                Token::Sign("*") => Dim::Multiply,
                Token::Sign("/") => Dim::Divide,
                _ => return Ok(dim),
            };
            self.sign()?;
            dim = make(Box::new(dim), Box::new(self.atom()?));
        }
    }

    fn atom(&mut self) -> Result<Dim> {
        let at = self.place();
        match self.token().clone() {
            Token::Integer(number) => {
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

    fn named_dim(
        &mut self,
        name: &str,
        at: Range<usize>,
        kind: Kind,
        alone: bool,
    ) -> Result<usize> {
        reserved(name, &at)?;
        let index = intern(&mut self.draft.dims, name);
        let of = self.of;
        self.draft.uses.push(Use {
            kind,
            index,
            of,
            alone,
            at,
        });
        Ok(index)
    }

    fn attribute(&mut self) -> Result<()> {
        self.of = Of::Attribute(self.draft.attributes.len());
        let (name, mut at) = self.declared()?;
        let kind = self.attribute_kind(&name)?;
        let default = match self.eat("=") {
            true => Some(self.default(&kind)?),
            false => None,
        };
        at.end = self.tokens[self.next - 1].1.end;
        self.draft.attributes.push(Attribute {
            name,
            kind,
            default,
            at,
        });
        Ok(())
    }

    fn attribute_kind(&mut self, name: &str) -> Result<AttributeKind> {
        let at = self.place();
        if *self.token() == Token::Name("str".to_string()) {
            self.next += 1;
            return match self.is("[") {
                true => Err(Fault::new(&self.place(), "there are no arrays of strings")),
                false => Ok(AttributeKind::Text),
            };
        }
        let dtype = match self.dtype()? {
            Dtype::Fixed(dtype) if is_attribute(dtype) => dtype,
            Dtype::Fixed(dtype) => {
                let fault = Fault::new(&at, format!("an attribute cannot be of dtype {dtype}"));
                return Err(fault.hint("There are integers, pred, f32, f64 and str."));
            }
            _ => {
                let fault = Fault::new(&at, format!("attribute `{name}` must have a fixed dtype"));
                return Err(fault.hint("There are integers, pred, f32, f64 and str."));
            }
        };
        if !self.is("[") {
            return Ok(AttributeKind::Scalar(dtype));
        }
        if dtype == DataType::PRED {
            return Err(Fault::new(
                &self.place(),
                "there are no array attributes of pred",
            ));
        }
        self.next += 1;
        let at = self.place();
        let length = match self.token().clone() {
            Token::Integer(number) => Dim::Number(number),
            Token::Name(name) => Dim::Name(self.named_dim(&name, at, Kind::Dim, true)?),
            _ => return Err(self.unexpected(&["a length: a name or a number"])),
        };
        self.next += 1;
        self.expect("]", &["`]`"])?;
        Ok(AttributeKind::Array(dtype, length))
    }

    fn default(&mut self, kind: &AttributeKind) -> Result<AttributeValue> {
        let start = self.place().start;
        let literal = match self.eat("[") {
            false => self.literal()?,
            true => {
                let mut literals = Vec::new();
                while !self.is("]") {
                    literals.push(self.literal()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect("]", &["`,`", "`]`"])?;
                Literal::Array(literals)
            }
        };
        let at = start..self.tokens[self.next - 1].1.end;
        checked(literal, kind).map_err(|message| Fault::new(&at, message))
    }

    fn literal(&mut self) -> Result<Literal> {
        let negative = self.eat("-");
        let literal = match self.token() {
            Token::Integer(number) => Literal::Integer(if negative { -number } else { *number }),
            Token::Float(number) => Literal::Float(if negative { -number } else { *number }),
            Token::Name(name) => match (name.as_str(), negative) {
                ("inf" | "Inf", true) => Literal::Float(f64::NEG_INFINITY),
                ("inf" | "Inf", false) => Literal::Float(f64::INFINITY),
                ("nan" | "NaN", false) => Literal::Float(f64::NAN),
                ("true" | "TRUE", false) => Literal::Pred(true),
                ("false" | "FALSE", false) => Literal::Pred(false),
                _ => return Err(self.unexpected(&["a number", "a text", "`true`", "`false`"])),
            },
            Token::Text(text) if !negative => Literal::Text(text.clone()),
            _ => return Err(self.unexpected(&["a number", "a text", "`true`", "`false`"])),
        };
        self.next += 1;
        Ok(literal)
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn place(&self) -> Range<usize> {
        self.tokens[self.next].1.clone()
    }

    fn is(&self, sign: &str) -> bool {
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

fn is_attribute(dtype: DataType) -> bool {
    let float = matches!(dtype, DataType::F32 | DataType::F64);
    float || is_integer(dtype) || kind(dtype) == Some(DataKind::Pred)
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
