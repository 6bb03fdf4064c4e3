//! Attributes and their defaults.

use xla_ffi::{DataKind, DataType};

use super::super::ast::{Attribute, AttributeKind, AttributeValue, Dim, Dtype};
use super::super::default::{checked, Literal};
use super::super::dtype::{is_integer, kind};
use super::super::error::{Fault, Result};
use super::super::lex::Token;
use super::{Kind, Of, Parser};

impl Parser {
    pub(super) fn attribute(&mut self) -> Result<()> {
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
            Token::Integer(digits) => Dim::Number(self.integer(digits, false)?),
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
            Token::Integer(digits) => Literal::Integer(self.integer(*digits, negative)?),
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
}

fn is_attribute(dtype: DataType) -> bool {
    let float = matches!(dtype, DataType::F32 | DataType::F64);
    float || is_integer(dtype) || kind(dtype) == Some(DataKind::Pred)
}
