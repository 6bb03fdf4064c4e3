//! What programs with sparse matrices need to know of a pattern while they are traced.

use extendr_api::Robj;
use sparse::{column_colouring, star_colouring, Columns, Pattern, PatternError};

use crate::r::argument::integer;
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::value::named;

fn integers<'a>(object: &'a Robj, name: &str) -> Outcome<&'a [i32]> {
    let wanted = || Failure::argument(name, format!("`{name}` must be a vector of integers"));
    object.as_integer_slice().ok_or_else(wanted)
}

fn size(object: &Robj, name: &'static str) -> Outcome<i64> {
    let wanted = || Failure::argument(name, format!("`{name}` must be an integer"));
    Ok(i64::from(integer(object).ok_or_else(wanted)?))
}

fn no_pattern(error: PatternError) -> Failure {
    Failure::argument(error.part, error.to_string())
}

fn counted(numbers: impl IntoIterator<Item = usize>) -> Vec<i32> {
    numbers.into_iter().map(|at| at as i32).collect()
}

routines! {
    // The analysis of a symmetric pattern, given by its lower triangle in compressed columns that are counted from 0:
    // the number of elements that its factor's buffer has, the places of the diagonal there in the order of
    // elimination, that order, and the factor's own pattern; all are counted from 0.
    fn sparse_analyse(n, colptr, rowind) {
        let n = size(n, "n")?;
        let (colptr, rowind) = (integers(colptr, "colptr")?, integers(rowind, "rowind")?);
        let analysis = ops::sparse_analysis(n, colptr, rowind).map_err(Failure::from)?;
        let symbolic = &analysis.symbolic;
        let length = i32::try_from(symbolic.factor_len()).map_err(|_| {
            let text = format!("a factor has at most {} elements, not {}", i32::MAX, symbolic.factor_len());
            Failure::argument("rowind", text)
        })?;
        let order = symbolic.permutation().iter().map(|&column| column as i32);
        let pattern = symbolic.factor_pattern();
        Ok(named! {
            factor_length = length,
            diagonal = counted(symbolic.diagonal()),
            perm = order.collect::<Vec<i32>>(),
            lp = counted(pattern.starts),
            li = pattern.rows.iter().map(|&row| row as i32).collect::<Vec<i32>>(),
        })
    }

    // The pattern of the factor of such a matrix in its own order: where each column begins and the rows, from 0.
    fn sparse_own_factor(n, colptr, rowind) {
        let n = size(n, "n")?;
        let (colptr, rowind) = (integers(colptr, "colptr")?, integers(rowind, "rowind")?);
        let analysis = ops::sparse_analysis(n, colptr, rowind).map_err(Failure::from)?;
        let own = analysis.own_order();
        Ok(named! {
            p = counted(own.starts().iter().copied()),
            i = own.rows().iter().map(|&row| row as i32).collect::<Vec<i32>>(),
        })
    }

    // Colours of a symmetric matrix of such a pattern: that of each column, how many there are, and for each entry the
    // row and the colour by which the products with the vectors of the colours have it.
    fn sparse_star_colouring(n, colptr, rowind) {
        let (colptr, rowind) = (integers(colptr, "colptr")?, integers(rowind, "rowind")?);
        let pattern = Pattern::new(size(n, "n")?, colptr, rowind).map_err(no_pattern)?;
        let (colouring, places) = star_colouring(&pattern);
        Ok(named! {
            colours = counted(colouring.colours),
            count = colouring.count as i32,
            row = counted(places.iter().map(|place| place.0)),
            by = counted(places.iter().map(|place| place.1)),
        })
    }

    // Colours of the columns of a pattern of any shape, and how many there are.
    fn sparse_column_colouring(nrow, ncol, colptr, rowind) {
        let (colptr, rowind) = (integers(colptr, "colptr")?, integers(rowind, "rowind")?);
        let pattern = Columns::new(size(nrow, "nrow")?, size(ncol, "ncol")?, colptr, rowind).map_err(no_pattern)?;
        let colouring = column_colouring(&pattern);
        Ok(named! { colours = counted(colouring.colours), count = colouring.count as i32 })
    }
}
