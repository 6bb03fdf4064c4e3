//! What programs with sparse matrices need to know of a pattern while they are traced.

use extendr_api::Robj;

use crate::r::argument::integer;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::value::named;

fn integers<'a>(object: &'a Robj, name: &str) -> Outcome<&'a [i32]> {
    let wanted = || Failure::argument(name, format!("`{name}` must be a vector of integers"));
    object.as_integer_slice().ok_or_else(wanted)
}

routines! {
    // The analysis of a symmetric pattern, given by its lower triangle in compressed columns that are counted from 0:
    // the number of elements that its factor's buffer has, the places of the diagonal there in the order of
    // elimination, that order, and the factor's own pattern; all are counted from 0.
    fn sparse_analyse(n, colptr, rowind) {
        let wanted = || Failure::argument("n", "`n` must be an integer");
        let n = i64::from(integer(n).ok_or_else(wanted)?);
        let (colptr, rowind) = (integers(colptr, "colptr")?, integers(rowind, "rowind")?);
        let analysis = ops::sparse_analysis(n, colptr, rowind).map_err(Failure::from)?;
        let symbolic = &analysis.symbolic;
        let length = i32::try_from(symbolic.factor_len()).map_err(|_| {
            let text = format!("a factor has at most {} elements, not {}", i32::MAX, symbolic.factor_len());
            Failure::argument("rowind", text)
        })?;
        let order = symbolic.permutation().iter().map(|&column| column as i32);
        let pattern = symbolic.factor_pattern();
        let counted = |places: Vec<usize>| -> Vec<i32> { places.into_iter().map(|at| at as i32).collect() };
        Ok(named! {
            factor_length = length,
            diagonal = counted(symbolic.diagonal()),
            perm = order.collect::<Vec<i32>>(),
            lp = counted(pattern.starts),
            li = pattern.rows.iter().map(|&row| row as i32).collect::<Vec<i32>>(),
        })
    }
}
