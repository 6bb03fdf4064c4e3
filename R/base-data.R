#' What enters and leaves
#'
#' Which R objects become arrays of XLA, with which element type and shape, what comes back, and what is refused. It is
#' the same wherever data enter: arguments of functions made by [xla_jit()], [ffi_op()] and [ffi_call()] and of the
#' package's own ([xla_lu()] and its like), [pjrt_buffer()], [xla_shard()], [hlo_constant()], and R data beside
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
#' | dense matrix of \pkg{Matrix} | all of its elements, `f64` or `pred` | matrix |
#' | sparse matrix of \pkg{Matrix} | arguments of compiled functions: its entries, `f64` | `dgCMatrix`, `dsCMatrix` |
#' | diagonal matrix of \pkg{Matrix} | as sparse ones do; elsewhere all of its elements | `dsCMatrix`; matrix |
#' | `NaN`, `Inf`, `-0` of doubles | as they are | as they are |
#' | `NA` of doubles | NaN | NaN, or `NA` where it was only moved |
#' | `NA` of integers, integer64 | refused; the least number by `pjrt_buffer()`; NaN in `f64` and the like | `NA` |
#' | `NA` of logicals | refused; `TRUE` by `pjrt_buffer()`; NaN in `f64` and the like | logical |
#' | character, `NULL`, function | refused | |
#' | factor, Date, POSIXct, POSIXlt, difftime, data.frame, table, ts | refused | |
#' | array of \pkg{nanoarrow} or \pkg{arrow}, tensor of \pkg{torch} | refused | |
#' | stream, table, dataset of \pkg{nanoarrow} or \pkg{arrow} | by [pjrt_buffer_from()] only | matrix |
#' | any other object with a class | refused | |
#'
#' @details
#' * A double becomes an integer (`dtype = "i32"` and the like) only if it is one that the type has; up to 2^53 in
#'   `hlo_constant()` and beside values, for beyond that not every whole number is a double. `pjrt_buffer()` and
#'   `xla_shard()` cut fractions off, as \pkg{pjrt} does. An integer64 keeps all 64 bits.
#' * With `check = TRUE`, `pjrt_buffer()` and `xla_shard()` refuse every `NA`. A buffer of integers or logicals that
#'   was made of data with `NA` keeps their bits, for [pjrt_execute()]; as an argument of a function of [xla_jit()] and
#'   its kin it is refused.
#' * Names and dimnames are no part of an array, but known while a function is traced: see
#'   [`?xlaffi_value`][xlaffi_value].
#' * `ui8` and `ui16` come back as integer, `ui32`, `i64` and `ui64` as integer64; see [as_array()] for `ui64` of 2^63
#'   and more. `f16`, `bf16` and `f32` come back as double, `c64` as complex.
#' * What a class says is lost with the class, so objects are not taken silently for their numbers: `as.numeric()` of a
#'   Date gives days, of a POSIXct seconds, of a difftime a number in a unit that differs; `as.integer()` of a factor
#'   its codes; `data.matrix()` a matrix of a data frame, `as.list()` its columns.
#' * A dense matrix of \pkg{Matrix} leaves as R's own matrix. Beside values it goes where a matrix of R's goes. Of
#'   sparse ones [hlo_sparse()] tells more; where they are no arguments, results or operands of a program they are
#'   refused.
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
  if (is_basis(x)) {
    return(array(as.vector(unclass(x)), dim(x), dimnames(x)))
  }
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

# A matrix whose class says how it was made, as those of poly(), splines::bs() and splines::ns() do
is_basis <- function(x) {
  is.object(x) && !isS4(x) && inherits(x, c("basis", "poly")) && is.numeric(unclass(x)) && length(dim(x)) == 2L
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
  sparseMatrix = "`as.matrix(x)` gives all elements, zeros too; in programs `hlo_sparse(x)` keeps it sparse.",
  xlaffi_sparse = "`hlo_nonzeros(x)` gives the entries, `as.matrix(x)` all elements.",
  torch_tensor = "`as.array(x)` gives an array of R's.",
  nanoarrow_array = "`as.vector(x)` gives a vector of R's.",
  nanoarrow_buffer = "`as.vector(x)` gives a vector of R's.",
  # Its data are the numbers of its rows.
  nanoarrow_vctr = "`nanoarrow::convert_array_stream(nanoarrow::as_nanoarrow_array_stream(x))` gives a vector of R's.",
  ArrowDatum = "`as.vector(x)` gives a vector of R's."
)

# What to say when an object of the package pjrt was given.
foreign_hint <- function(x) {
  if (any(startsWith(class(x), "PJRT")) || inherits(x, c("RTree", "Dispatcher"))) {
    "It belongs to the package pjrt; objects of pjrt and xlaffi do not mix."
  }
}

# What is wrong with R data that have NA where the dtype has none; NULL where nothing is.
na_problem <- function(data, dtype) {
  if ((dtype == "pred" || is_integer(dtype)) && (is_integer64(data) || !is.double(data)) && anyNA(data)) {
    sprintf("has NA, which %s cannot hold", dtype)
  } else if (dtype == "pred" && anyNA(data)) {
    "has NA, which pred cannot hold"
  }
}

# The way out
na_hint <- function(data) {
  if (inherits(data, "xlaffi_buffer")) {
    "Doubles have it: make the buffer of `as.double(data)`."
  } else if (!is.complex(data)) {
    "Doubles have it: `as.double(x)`, which a program computes with as R does."
  }
}

# The largest finite numbers of dtypes that have fewer than R, and the smallest that would be rounded to infinity
largest_floats <- c(f16 = 65504, bf16 = 2^128 - 2^120, f32 = 2^128 - 2^104, c64 = 2^128 - 2^104)

rounding_limits <- c(f16 = 65520, bf16 = 2^128 - 2^119, f32 = 2^128 - 2^103, c64 = 2^128 - 2^103)

# Which finite numbers of R's become infinite in a dtype
beyond_range <- function(data, dtype) {
  limit <- rounding_limits[dtype]
  if (is.na(limit)) {
    return(FALSE)
  }
  data <- if (is.complex(data)) pmax(abs(Re(data)), abs(Im(data))) else abs(as.double(data))
  is.finite(data) & data >= limit
}

# Whether all numbers are of an integer type. R's NA, the smallest integer, is one of i32 and i64 as an integer.
fits_integer <- function(data, dtype) {
  limits <- attribute_ranges[[dtype]]
  if (is_integer64(data)) {
    limits <- bit64::as.integer64(pmin(limits, 2^62))
    return(dtype == "i64" || (!anyNA(data) && all(data >= limits[[1L]] & (dtype == "ui64" | data <= limits[[2L]]))))
  }
  if (is.double(data) && (anyNA(data) || any(data != trunc(data) | abs(data) > 2^53))) {
    return(FALSE)
  }
  data <- as.double(data)
  data[is.na(data)] <- -2^31
  all(data >= limits[[1L]] & data <= limits[[2L]])
}

# bit64 is loaded with the first object of its class: for R these are doubles without its methods.
is_integer64 <- function(x) inherits(x, "integer64") && is.environment(loadNamespace("bit64"))

# What becomes a constant or an argument
is_data <- function(x) (!is.object(x) && (is.numeric(x) || is.logical(x) || is.complex(x))) || is_integer64(x)

# How R data enter programs: in R's own precision.
r_dtype <- function(x) {
  if (is_integer64(x)) "i64" else switch(typeof(x), logical = "pred", integer = "i32", double = "f64", complex = "c128")
}

r_shape <- function(x) if (is.null(dim(x))) length(x) else dim(x)

# The same numbers bit by bit: 0 is not -0.
is_same <- function(x, y) identical(x, y, num.eq = FALSE, single.NA = FALSE)

arrow_classes <- c("RecordBatchReader", "RecordBatch", "Table", "Dataset", "Scanner", "arrow_dplyr_query")

is_arrow <- function(x) inherits(x, c("nanoarrow_array_stream", arrow_classes))
