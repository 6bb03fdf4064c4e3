//! The last point of an objective: values and gradients at once, as long as nothing but the point is new.

use std::ffi::CStr;

use extendr_api::{GetSexp, Robj};
use extendr_ffi::{
    R_DimSymbol, R_NamesSymbol, R_NilValue, Rboolean, Rf_defineVar, Rf_duplicate, Rf_install,
    Rf_isObject, Rf_setAttrib, Rf_xlength, REAL, SET_VECTOR_ELT, SEXP, SEXPTYPE, STRING_ELT,
    TYPEOF,
};

use crate::host::again::finished;
use crate::host::executable::ExecutableObject;
use crate::host::execute::call;
use crate::host::variables::{unchanged_since, variable};
use crate::r::argument::{elements, integer};
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{attribute, borrowed, is_null};
use crate::r::pointer::get;
use crate::r::protected::{alloc, alloc_list, Protected};
use crate::r::unwind::protect;
use crate::r::value::{IntoSexp, Value};
use crate::r::vector::slice;

/// Variables of the environment that new_points() makes: the last point, value and gradient there (NULL where they are not
/// known), and how many gradients were computed.
const STATE: [&CStr; 4] = [c"x", c"value", c"slope", c"slopes"];

routines! {
    // The value or, where `gradient` says so, the gradient of an objective at `par`, as point_value() and point_gradient()
    // give them; NULL where these have to look themselves. `point` is an environment of new_points(), whose variable `again`
    // known_point() has made, and `places` are those of unchanged().
    fn point_again(point, par, gradient: bool, places) or null {
        // SAFETY: a constant of R.
        let null = unsafe { R_NilValue };
        // SAFETY: an object that R protects.
        let env = unsafe { point.get() };
        // SAFETY: as above.
        if unsafe { TYPEOF(env) } != SEXPTYPE::ENVSXP {
            return Ok(null);
        }
        // SAFETY: R's thread, an environment. What was found is protected, as code of the user's that evaluates variables may
        // have it forgotten.
        let again = unsafe { Protected::new(variables(env, [c"again"])[0]) };
        // SAFETY: it is protected; its elements live as long.
        let again = elements(unsafe { borrowed(&again.sexp()) });
        // SAFETY: as above.
        let again: Vec<&Robj> = again.iter().map(|part| unsafe { borrowed(part) }).collect();
        let [size, names, variables, version, run @ ..] = &again[..] else {
            return Ok(null);
        };
        if !is_point(par, size, names) || !unchanged_since(variables, version, places) {
            return Ok(null);
        }
        Ok(at_point(env, par, run, if gradient { Some(names) } else { None })?.unwrap_or(null))
    }
}

/// The values of variables; NULL for those that are not there.
///
/// # Safety
/// On R's thread, with an environment that R protects, whose variables are no code.
unsafe fn variables<const N: usize>(env: SEXP, names: [&CStr; N]) -> [SEXP; N] {
    let names = &names;
    // SAFETY: the caller's promise; symbols are never collected. Nothing is to be freed.
    unsafe {
        protect(|| names.map(|name| variable(env, Rf_install(name.as_ptr())).unwrap_or(R_NilValue)))
    }
}

/// Whether it is a vector of as many doubles, with these names or none.
fn is_point(par: &Robj, size: &Robj, names: &Robj) -> bool {
    // SAFETY: R's thread, objects that R protects; types and lengths are looked at first.
    unsafe {
        let own = attribute(par, R_NamesSymbol);
        let (sexp, names) = (par.get(), names.get());
        TYPEOF(sexp) == SEXPTYPE::REALSXP
            && Rf_isObject(sexp) == Rboolean::FALSE
            && integer(size).map(|size| size as isize) == Some(Rf_xlength(sexp))
            && attribute(par, R_DimSymbol) == R_NilValue
            && (own == names || own == R_NilValue || names == R_NilValue || same_texts(own, names))
    }
}

/// # Safety
/// On R's thread, with objects that R protects.
unsafe fn same_texts(x: SEXP, y: SEXP) -> bool {
    // SAFETY: the caller's promise; types and lengths are looked at first.
    unsafe {
        TYPEOF(x) == SEXPTYPE::STRSXP
            && TYPEOF(y) == SEXPTYPE::STRSXP
            && Rf_xlength(x) == Rf_xlength(y)
            && (0..Rf_xlength(x)).all(|index| STRING_ELT(x, index) == STRING_ELT(y, index))
    }
}

/// The elements of an R vector.
///
/// # Safety
/// On R's thread, with a double vector that R protects and nobody changes meanwhile.
unsafe fn doubles(x: &SEXP) -> &[f64] {
    // SAFETY: the caller's promise.
    unsafe { slice(borrowed(x), |x| REAL(x)) }
}

/// The value at a point or, with its names, the gradient, by the program of `run` if it is a new point. `None` where R has
/// to look itself.
fn at_point(
    env: SEXP,
    par: &Robj,
    run: &[&Robj],
    gradient: Option<&Robj>,
) -> Outcome<Option<SEXP>> {
    // SAFETY: R's thread; the environment keeps its variables, of which nobody changes any meanwhile.
    let [x, value, slope, _] = unsafe { variables(env, STATE) };
    // SAFETY: as above; types are looked at first.
    let is_known = unsafe {
        [x, value, slope]
            .iter()
            .all(|&x| TYPEOF(x) == SEXPTYPE::REALSXP)
            && Rf_xlength(value) == 1
            && same_bits(doubles(&x), doubles(&par.get()))
    };
    if !is_known && !run_at(env, par, run)? {
        return Ok(None);
    }
    // SAFETY: as above; both are what run_at() or compute_slope() put there.
    unsafe {
        let [_, value, slope, _] = variables(env, STATE);
        let Some(names) = gradient else {
            return Ok(Some(value));
        };
        let is_finite = |x: &SEXP| doubles(x).iter().all(|x| x.is_finite());
        if is_finite(&value) && !is_finite(&slope) {
            return Ok(None);
        }
        if is_null(names) {
            return Ok(Some(slope));
        }
        let (named, names) = (Protected::new(protect(|| Rf_duplicate(slope))), names.get());
        let named = named.sexp();
        protect(|| Rf_setAttrib(named, R_NamesSymbol, names));
        Ok(Some(named))
    }
}

fn same_bits(x: &[f64], y: &[f64]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits())
}

/// Goes to a new point and computes what there is to be known. False where that was not begun, or where R has to see to
/// what came: then `begun` has that.
fn run_at(env: SEXP, par: &Robj, run: &[&Robj]) -> Outcome<bool> {
    let [executable, dtypes, device, buffers, known_call] = run else {
        return Ok(false);
    };
    let object: &ExecutableObject = get(executable, "executable")?;
    let needs_r = object.runs_once || object.called.may_need_r() || ops::print::is_waiting();
    if object.used.is_forgotten() || needs_r {
        return Ok(false);
    }
    // SAFETY: R's thread; fresh vectors of these lengths, which are protected, and elements that R protects.
    unsafe {
        let par = par.get();
        let x = doubles(&par);
        let point = alloc(SEXPTYPE::REALSXP, x.len())?;
        std::ptr::copy_nonoverlapping(x.as_ptr(), REAL(point.sexp()), x.len());
        let buffers = elements(buffers);
        let arguments = alloc_list(1 + buffers.len());
        SET_VECTOR_ELT(arguments.sexp(), 0, point.sexp());
        for (index, buffer) in buffers.iter().enumerate() {
            SET_VECTOR_ELT(arguments.sexp(), 1 + index as isize, *buffer);
        }
        let result = call(
            executable,
            borrowed(&arguments.sexp()),
            dtypes,
            device,
            true,
            true,
        );
        let result = result.unwrap_or_else(Failure::into_sexp);
        let result = Protected::new(finished(result, borrowed(&R_NilValue), known_call.get()));
        let nothing = R_NilValue;
        let is_both = TYPEOF(result.sexp()) == SEXPTYPE::REALSXP
            && Rf_xlength(result.sexp()) as usize == 1 + x.len();
        if !is_both {
            let begun = result.sexp();
            set(
                env,
                [
                    (c"x", point.sexp()),
                    (c"value", nothing),
                    (c"slope", nothing),
                    (c"hessian", nothing),
                    (c"begun", begun),
                ],
            );
            return Ok(false);
        }
        let result = result.sexp();
        let both = doubles(&result);
        let value = Protected::new(Value::from(both[0]).into_sexp());
        let slope = alloc(SEXPTYPE::REALSXP, x.len())?;
        let elements = std::slice::from_raw_parts_mut(REAL(slope.sexp()), x.len());
        elements.copy_from_slice(&both[1..]);
        // Optimisers take a slope of 0 for the end of the search.
        if both[0].is_nan() {
            elements.fill(f64::NAN);
        }
        let [_, _, _, slopes] = variables(env, STATE);
        let count = integer(borrowed(&slopes)).unwrap_or(0).wrapping_add(1);
        let count = Protected::new(Value::from(count).into_sexp());
        set(
            env,
            [
                (c"x", point.sexp()),
                (c"value", value.sexp()),
                (c"slope", slope.sexp()),
                (c"hessian", nothing),
                (c"slopes", count.sexp()),
            ],
        );
    }
    Ok(true)
}

/// Gives variables values.
///
/// # Safety
/// On R's thread, with an environment and values that R protects.
unsafe fn set<const N: usize>(env: SEXP, variables: [(&CStr, SEXP); N]) {
    let variables = &variables;
    // SAFETY: the caller's promise; symbols are never collected. Nothing is to be freed.
    unsafe {
        protect(|| {
            variables
                .iter()
                .for_each(|&(name, value)| Rf_defineVar(Rf_install(name.as_ptr()), value, env))
        });
    }
}
