//! Operands, results and scratch arrays.

use core::ops::Range;

use super::super::ast::{Array, Operand, Order, Outcome};
use super::super::error::{Fault, Result};
use super::super::lex::Token;
use super::{reserved, Kind, Of, Parser};

impl Parser {
    pub(super) fn operand(&mut self) -> Result<()> {
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

    pub(super) fn result(&mut self) -> Result<()> {
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

    pub(super) fn scratch(&mut self) -> Result<()> {
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
    pub(super) fn declared(&mut self) -> Result<(String, Range<usize>)> {
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
}
