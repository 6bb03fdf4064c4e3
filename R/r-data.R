#' What enters and leaves
#'
#' Which R objects become arrays of XLA, with which element type and shape, what comes back, and what is refused. It is
#' the same at every door: arguments of functions made by [xla_jit()], [ffi_op()] and [ffi_call()] and of the package's
#' own ([xla_lu()] and its like), [pjrt_buffer()], [xla_shard()], [hlo_constant()], and R data beside
#' [values][xlaffi_value] in a program. What is not in this table is refused by an error that says what came and, where
#' R has a function for it, what makes numbers of it.
#'
#' | R object | enters as | comes back as |
#' |---|---|---|
#' | logical | `pred` | logical |
#' | integer | `i32` | integer |
#' | double | `f64` (`pjrt_buffer()`: `f32`) | double |
#' | complex | `c128` (`pjrt_buffer()`: `c64`) | complex |
#' | [bit64::integer64] | `i64` | [bit64::integer64] |
#' | raw | bytes of any `dtype`, by `pjrt_buffer()` only | see [as_raw()] |
#' | vector of length n | shape (n) | vector (from a buffer: array of one axis) |
#' | matrix, array | its `dim()`, zeros among them too | matrix, array |
#' | names, dimnames | dropped | |
#' | nested list without a class | its leaves, one by one | list |
#' | dense or diagonal matrix of \pkg{Matrix} | all of its elements, `f64` or `pred` | matrix |
#' | `NaN`, `Inf`, `-0` of doubles | as they are | as they are |
#' | `NA` of doubles | NaN | NaN, or `NA` where it was only moved |
#' | `NA` of integers, integer64 | refused; the smallest number by `pjrt_buffer()` | `NA` |
#' | `NA` of logicals | refused; `TRUE` by `pjrt_buffer()` | logical |
#' | character, `NULL`, function | refused | |
#' | factor, Date, POSIXct, POSIXlt, difftime, data.frame, table, ts | refused | |
#' | sparse matrix of \pkg{Matrix} | refused | |
#' | array of \pkg{nanoarrow} or \pkg{arrow}, tensor of \pkg{torch} | refused | |
#' | stream, table, dataset of \pkg{nanoarrow} or \pkg{arrow} | by [pjrt_buffer_from()] only | matrix |
#' | any other object with a class | refused | |
#'
#' @details
#' * A double becomes an integer (`dtype = "i32"` and the like) only if it is one that the type has; up to 2^53 in
#'   `hlo_constant()` and beside values, for beyond that not every whole number is a double. `pjrt_buffer()` and
#'   `xla_shard()` cut fractions off, as \pkg{pjrt} does. An integer64 keeps all 64 bits.
#' * With `check = TRUE`, `pjrt_buffer()` and `xla_shard()` refuse every `NA`. A buffer that was made of integers or
#'   logicals with `NA` keeps their bits, for [pjrt_execute()]; as an argument of a function of [xla_jit()] and its kin
#'   it is refused.
#' * Names and dimnames are no part of an array, but known while a function is traced: see
#'   [`?xlaffi_value`][xlaffi_value].
#' * `ui8` and `ui16` come back as integer, `ui32`, `i64` and `ui64` as integer64; see [as_array()] for `ui64` of 2^63
#'   and more. `f16`, `bf16` and `f32` come back as double, `c64` as complex.
#' * What a class says is lost with the class, so objects are not taken silently for their numbers: `as.numeric()` of a
#'   Date gives days, of a POSIXct seconds, of a difftime a number in a unit that differs; `as.integer()` of a factor
#'   its codes; `data.matrix()` a matrix of a data frame, `as.list()` its columns.
#' * A dense matrix of \pkg{Matrix} leaves as R's own matrix. Beside values it goes where a matrix of R's goes, but for
#'   `+`, `==` and the other operators, which \pkg{Matrix} answers itself: there it is refused, and `as.matrix()` helps.
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(x) x)
#' f(c(TRUE, FALSE))
#' f(bit64::as.integer64("9007199254740993"))
#' try(f(Sys.Date()))
#' try(f(factor("a")))
#' @name xlaffi-types
NULL

# An R object as the data that it stands for: dense matrices of the package Matrix become R's own. What is no data stays
# as it is, and is refused where it is needed.
r_data <- function(x) {
  if (!isS4(x) || !identical(attr(class(x), "package"), "Matrix") || !requireNamespace("Matrix", quietly = TRUE)) {
    return(x)
  }
  if (!methods::is(x, "denseMatrix") && !methods::is(x, "diagonalMatrix")) {
    return(x)
  }
  data <- methods::as(x, "matrix")
  dimnames(data) <- NULL
  data
}

# What makes data of an object that is none; NULL where nothing does.
data_hint <- function(x) {
  kind <- Find(function(kind) methods::is(x, kind), names(data_hints))
  if (!is.null(kind)) {
    data_hints[[kind]]
  } else if (is_arrow(x)) {
    "`pjrt_buffer_from(x, dtype)` makes a matrix of record batches."
  } else if (is.raw(x)) {
    "`pjrt_buffer(x, dtype, shape = , row_major = )` makes an array of bytes."
  } else if (is.object(x) && typeof(x) %in% c("logical", "integer", "double", "complex")) {
    "`unclass(x)` gives the data without what the class says of them."
  } else {
    foreign_hint(x)
  }
}

# By class; the first that fits.
data_hints <- c(
  factor = "`as.integer(x)` gives the codes of the levels.",
  Date = "`as.numeric(x)` gives days since 1970.",
  POSIXct = "`as.numeric(x)` gives seconds since 1970.",
  POSIXlt = "`as.numeric(as.POSIXct(x))` gives seconds since 1970.",
  difftime = "`as.numeric(x, units = \"secs\")` gives seconds.",
  data.frame = "`data.matrix(x)` gives a matrix, `as.list(x)` a list of columns.",
  ts = "`as.matrix(x)` gives the numbers without their times, a series in each column.",
  table = "`unclass(x)` gives the counts.",
  sparseMatrix = "`as.matrix(x)` gives all elements, zeros too.",
  torch_tensor = "`as.array(x)` gives an array of R's.",
  nanoarrow_array = "`as.vector(x)` gives a vector of R's.",
  nanoarrow_buffer = "`as.vector(x)` gives a vector of R's.",
  # Its data are the numbers of its rows.
  nanoarrow_vctr = "`nanoarrow::convert_array_stream(nanoarrow::as_nanoarrow_array_stream(x))` gives a vector of R's.",
  ArrowDatum = "`as.vector(x)` gives a vector of R's."
)
