//! What R is asked to do: on R's thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use extendr_api::{GetSexp, Robj};
use extendr_ffi::{R_NamesSymbol, Rf_setAttrib, SET_VECTOR_ELT, SEXP, SEXPTYPE, TYPEOF};
use xla_ffi::{Code, Error, Result};

use crate::callback::array::Array;
use crate::callback::attribute::Attribute;
use crate::callback::evaluate::evaluate;
use crate::callback::function::Callback;
use crate::r::argument::elements;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{attribute, borrowed, described, texts};
use crate::r::protected::{alloc_list, Protected};
use crate::r::unwind::protect;
use crate::r::value::{IntoSexp, Value};
use crate::runtime::contained::is_contained;

/// A call of the R function, with the places of the arrays: they stay where they are until XLA is
/// told that the call is complete.
pub struct Request {
    /// The function.
    pub callback: Arc<Callback>,
    /// Those that were given.
    pub operands: Vec<Array>,
    /// To be filled.
    pub results: Vec<Array>,
    /// In the order of the signature.
    pub attributes: Vec<Attribute>,
    /// The lengths of the batch's axes.
    pub sizes: Vec<usize>,
}

/// A request that is being served, and what has come of it.
struct Served {
    request: Request,
    /// The first failure.
    failure: RefCell<Option<Error>>,
    /// How many calls of the function are through.
    done: Cell<usize>,
}

thread_local! {
    /// The requests that R's thread is in the middle of, innermost last.
    static CURRENT: RefCell<Vec<Rc<Served>>> = const { RefCell::new(Vec::new()) };
}

impl Request {
    /// Calls the function. R's jumps unwind.
    pub fn serve(self) -> Result<()> {
        struct Pop;
        impl Drop for Pop {
            fn drop(&mut self) {
                CURRENT.with_borrow_mut(Vec::pop);
            }
        }
        let (number, whole) = (self.callback.number, self.callback.vectorized);
        let calls = match whole {
            true => 1,
            false => self.sizes.iter().product(),
        };
        let served = Rc::new(Served {
            request: self,
            failure: RefCell::default(),
            done: Cell::new(0),
        });
        CURRENT.with_borrow_mut(|all| all.push(served.clone()));
        let pop = Pop;
        evaluate(number, (!whole).then_some(calls), is_contained());
        drop(pop);
        match served.failure.take() {
            Some(error) => Err(error),
            None if served.done.get() == calls => Ok(()),
            None => Err(Error::internal("R did not say what became of the call")),
        }
    }
}

impl Served {
    fn current() -> Outcome<Rc<Served>> {
        let current = CURRENT.with_borrow(|all| all.last().cloned());
        current.ok_or_else(|| Failure::new("INTERNAL", "no program asks for R"))
    }

    fn fail(&self, error: Error) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    /// What the function is called with: operands, of which one that comes several times is a list,
    /// and attributes.
    fn arguments(&self, element: Option<usize>) -> Outcome<SEXP> {
        let Request {
            operands,
            attributes,
            sizes,
            ..
        } = &self.request;
        let groups = groups(operands);
        let list = alloc_list(groups.len() + attributes.len());
        for (at, group) in groups.iter().enumerate() {
            let value = match group {
                [one] if !one.several => one.to_r(element, sizes)?,
                several => {
                    let values = alloc_list(several.len());
                    for (at, one) in several.iter().enumerate() {
                        let value = one.to_r(element, sizes)?;
                        // SAFETY: R's thread; the list has the place.
                        unsafe { SET_VECTOR_ELT(values.sexp(), at as isize, value) };
                    }
                    values.sexp()
                }
            };
            // SAFETY: as above.
            unsafe { SET_VECTOR_ELT(list.sexp(), at as isize, value) };
        }
        for (at, attribute) in attributes.iter().enumerate() {
            let value = attribute.to_r()?;
            // SAFETY: as above.
            unsafe { SET_VECTOR_ELT(list.sexp(), (groups.len() + at) as isize, value) };
        }
        let names = groups.iter().map(|group| &*group[0].name);
        let names = names.chain(attributes.iter().map(|attribute| &*attribute.name));
        let names = Value::from(names.map(str::to_string).collect::<Vec<_>>()).into_sexp();
        // SAFETY: R's thread; both are protected.
        unsafe {
            let names = Protected::new(names);
            protect(|| Rf_setAttrib(list.sexp(), R_NamesSymbol, names.sexp()));
        }
        Ok(list.sexp())
    }

    /// Takes what the function returned.
    fn take(&self, value: &Robj, element: Option<usize>) -> Result<()> {
        let Request { results, sizes, .. } = &self.request;
        let groups = groups(results);
        // SAFETY: R protects it during the call.
        let itself = unsafe { value.get() };
        let values = match &groups[..] {
            [] => Vec::new(),
            [[one]] if !one.several && !is_list(value) => vec![itself],
            [several] if several[0].several => vec![itself],
            _ => by_name(&groups, value)?,
        };
        for (group, value) in groups.iter().zip(&values) {
            // SAFETY: an element of a list that R protects, or the value itself.
            let value = unsafe { borrowed(value) };
            match group {
                [one] if !one.several => one.take(value, element, sizes)?,
                several => take_all(several, value, element, sizes)?,
            }
        }
        Ok(())
    }
}

/// Arrays of one name together.
fn groups(arrays: &[Array]) -> Vec<&[Array]> {
    arrays.chunk_by(|a, b| a.name == b.name).collect()
}

fn is_list(value: &Robj) -> bool {
    // SAFETY: an object that R protects.
    unsafe { TYPEOF(value.get()) == SEXPTYPE::VECSXP }
}

/// A list of as many arrays as there are.
fn take_all(arrays: &[Array], value: &Robj, element: Option<usize>, sizes: &[usize]) -> Result<()> {
    let values = elements(value);
    if !is_list(value) || values.len() != arrays.len() {
        return Err(Error::invalid_argument(format!(
            "result `{}` must be a list of {}, not {}",
            arrays[0].name,
            arrays.len(),
            described(value)
        )));
    }
    for (array, value) in arrays.iter().zip(&values) {
        // SAFETY: an element of a list that R protects.
        array.take(unsafe { borrowed(value) }, element, sizes)?;
    }
    Ok(())
}

/// The elements of a list in the order of the results.
fn by_name(groups: &[&[Array]], value: &Robj) -> Result<Vec<SEXP>> {
    let wanted: Vec<&str> = groups.iter().map(|group| &*group[0].name).collect();
    let refused = |what: String| {
        Error::invalid_argument(format!(
            "the R function must return a list ({}), not {what}",
            wanted.join(", ")
        ))
    };
    if !is_list(value) {
        return Err(refused(described(value)));
    }
    let values = elements(value);
    if values.len() != wanted.len() {
        return Err(refused(format!("a list of length {}", values.len())));
    }
    // SAFETY: a symbol of R's.
    let names = unsafe { attribute(value, R_NamesSymbol) };
    // SAFETY: it lives as long as the list.
    let names = texts(unsafe { borrowed(&names) });
    if names.is_empty() {
        return Ok(values);
    }
    let place = |name: &&str| names.iter().position(|given| *given == Some(name));
    let found = wanted.iter().map(|name| Some(values[place(name)?]));
    found.collect::<Option<_>>().ok_or_else(|| {
        let names = names.iter().map(|name| name.unwrap_or_default());
        refused(format!("a list ({})", names.collect::<Vec<_>>().join(", ")))
    })
}

/// A number from 0, or all where it is negative.
fn element(number: f64) -> Option<usize> {
    (number >= 0.0).then_some(number as usize)
}

routines! {
    // What the function is called with that a program asks for: one element of the batch, counted
    // from 0, or all of it for -1.
    fn callback_arguments(which: f64) {
        Served::current()?.arguments(element(which))
    }

    // Takes what it returned; FALSE where that does not fit.
    fn callback_take(which: f64, value) {
        let served = Served::current()?;
        let taken = served.take(value, element(which));
        served.done.set(served.done.get() + 1);
        let fits = taken.is_ok();
        if let Err(error) = taken {
            served.fail(error);
        }
        Ok(Value::from(fits))
    }

    // The function failed.
    fn callback_failed(code: &str, message: &str) {
        let code = Code::ALL.iter().find(|known| known.name() == code).copied().unwrap_or(Code::Unknown);
        Served::current()?.fail(Error::new(code, message.to_string()));
        Ok(())
    }
}
