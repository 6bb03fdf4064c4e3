#' Signatures of own ops
#'
#' @description
#' A signature says in one string what an op of your own takes and gives: arrays by name with dtype
#' and dimensions, attributes, results, scratch memory. Checks, the types of results, the variables
#' that the body sees and batches follow from it.
#'
#' `ffi_signature()` reads one and shows its parts. A mistake is shown with its place:
#' ```
#' `m` is not known from any operand
#'   x: T[n] -> z: T[m]
#'                   ^
#' ```
#'
#' @section The notation:
#' ```
#' operands ; attributes -> results ; scratch
#' ```
#' Each part is a list with commas and may be empty; without attributes or scratch memory their `;`
#' is left out. Line breaks are allowed.
#' ```
#' x: T[n], y: T[] -> z: T[n]
#' a: T[..., m, n] column, w: T[m]?; alpha: f64 = 1 -> q: T[..., m, min(m, n)]; work: T[2*n]
#' ```
#' Names are identifiers of C, and all different: they become variables and types of the body. Those
#' that begin with `xlaffi` are taken.
#'
#' @section Arrays:
#' An array is `name: dtype[dimensions]`.
#' \describe{
#' \item{`x: f64[3, n]`}{Row-major, as XLA has arrays: the last dimension's elements lie side by side.}
#' \item{`x: f64[]`}{A scalar.}
#' \item{`x: f64[..., n]`}{Batch dimensions come before the others: see *Batches*.}
#' \item{`x: f64`}{Short for `f64[...]`: any shape, and the body sees one element.}
#' \item{`a: f64[m, n] column`}{The last two dimensions lie column-major, as in R, LAPACK and
#'   Fortran. (`row`, the default, may be written.)}
#' \item{`w: f64[n]?`}{An operand that may be left out, as all that follow: the body then has NULL for
#'   it. Dimensions that are known from it only are 0 then, and neither results nor scratch memory
#'   may need them.}
#' \item{`xs: f64[n]*k`}{An operand that comes any number of times, which is the dimension `k`. There
#'   is at most one. A result with the same `*k` comes as often.}
#' \item{`a: T[n] -> a: T[n]`}{An operand and a result of one name are one array, which the body
#'   changes in place. Both have the same type.}
#' }
#'
#' @section Dtypes:
#' `pred`, `i8` to `i64`, `ui8` to `ui64`, `f16`, `bf16`, `f32`, `f64`, `c64`, `c128`, and what else
#' [pjrt_buffer()] calls them (`bool`, `s32`, `u8`). A name that begins with a capital letter, as `T`,
#' is a variable: it takes the dtype of the first operand that has it, all others must have the same,
#' and there is one body for each dtype of its set, `f32` and `f64` unless said. Results, scratch
#' memory and other operands may have
#' \describe{
#' \item{`wider(T, U)`}{what holds the values of both, by numpy's rule: `f64` for `i32` and `f32`, `i16`
#'   for `i8` and `ui8`, `c128` for `c64` and `f64`. (JAX gives `f32` for `i32` and `f32`.) `bf16` has
#'   nothing in common with `f16` and with integers of more than 8 bits.}
#' \item{`real(T)`}{the type of a complex number's parts, `f32` for `c64`; else `T` itself.}
#' \item{`complex(T)`}{complex numbers of such parts, `c64` for `f32`.}
#' }
#'
#' @section Dimensions:
#' A dimension is a name, a number, or made of these by `+`, `-`, `*`, `/` (rounded down), `min()`,
#' `max()` and parentheses. A name is known where it stands alone in an operand, as `n` in `x: T[n]`, or
#' as the length of an attribute; everywhere else its value is used, and must be what is found. An
#' attribute that is one integer may be used as well.
#'
#' @section Batches:
#' With `...` the body is called for each batch element and sees the dimensions behind `...` only.
#' Batch dimensions broadcast as in numpy: aligned on the right, and of two dimensions one may be 1.
#' An operand without `...` is the same for all. All results have `...` if any operand has. An
#' operand that is changed in place has the batch dimensions of the result.
#'
#' @section Attributes:
#' Attributes are fixed when the program is compiled.
#' \describe{
#' \item{`alpha: f64 = 1`}{A number or truth value: `pred`, an integer type, `f32` or `f64`. The default
#'   (also `true`, `false`, `inf`, `nan`, or as R writes these) makes it one that may be left out.}
#' \item{`lags: i64[p]`}{Several numbers; how many is the dimension `p`, or given by a number.
#'   A default is written `[1, 2]`.}
#' \item{`mode: str = "fast"`}{A string, in double or single quotes, with `\n`, `\t`, `\\`, `\"`, `\'`.}
#' }
#'
#' @section Scratch memory:
#' Behind the results, arrays that the body may write to as it likes: `work: T[2*n + 1]`. Each call has
#' its own. What they hold at first is not defined.
#'
#' @section Grammar:
#' ```
#' signature = [operand {"," operand}] [";" [attribute {"," attribute}]]
#'             "->" [result {"," result}] [";" scratch {"," scratch}]
#' operand   = array {"?" | "*" name | order}
#' result    = array {"*" name | order}
#' scratch   = array [order]
#' array     = name ":" dtype ["[" ["..." | ["..." ","] dim {"," dim}] "]"]
#' order     = "row" | "column"
#' dtype     = name | "wider" "(" dtype "," dtype ")" | ("real" | "complex") "(" dtype ")"
#' dim       = product {("+" | "-") product}
#' product   = atom {("*" | "/") atom}
#' atom      = integer | name | "(" dim ")" | ("min" | "max") "(" dim "," dim {"," dim} ")"
#' attribute = name ":" ("str" | name ["[" (name | integer) "]"]) ["=" default]
#' default   = value | "[" [value {"," value}] "]"
#' value     = text | "true" | "false" | ["-"] (integer | float | "inf") | "nan"
#' ```
#'
#' @param text A signature.
#' @return The parts of the signature, an object of class `xlaffi_signature`: a list of `text` (the
#'   signature in its usual form, as `format()` gives it), `operands`, `attributes`, `results`,
#'   `scratch`, and the names of `dims` and `dtypes`.
#' @examples
#' ffi_signature("x: T[n], y: T[] -> z: T[n]")
#' ffi_signature("a: T[..., m, n] column; k: i64 = 1 -> s: real(T)[..., min(m, n)]")
#' try(ffi_signature("x: T[n], y: f46[n] -> z: T[n]"))
#' @export
ffi_signature <- function(text) {
  structure(read_signature(text), class = "xlaffi_signature")
}

#' @export
format.xlaffi_signature <- function(x, ...) {
  check_format_dots(...)
  x$text
}

#' @export
as.character.xlaffi_signature <- function(x, ...) {
  check_dots_empty(...)
  x$text
}

#' @export
print.xlaffi_signature <- function(x, ...) {
  check_print_dots(...)
  cat("<signature>\n")
  for (part in c("operands", "attributes", "results", "scratch")) {
    if (length(x[[part]])) {
      lines <- vapply(x[[part]], part_text, "")
      cat(part, paste0("  ", lines), sep = "\n")
    }
  }
  if (length(x$dims)) {
    cat("dimensions ", toString(x$dims), "\n", sep = "")
  }
  if (length(x$dtypes)) {
    cat("dtypes     ", toString(x$dtypes), "\n", sep = "")
  }
  invisible(x)
}

# A part as it is written, and what may be forgotten about it.
part_text <- function(part) {
  notes <- c(
    if (isTRUE(part$optional)) "may be left out",
    if (!is.null(part$count)) "comes several times",
    if (isTRUE(part$in_place)) "changed in place"
  )
  if (length(notes)) sprintf("%s  # %s", part$text, toString(notes)) else part$text
}

# The parts of a signature.
read_signature <- function(text, call = rlang::caller_env()) {
  check_not_missing(text, "signature", call)
  check_string(text, "signature", call)
  result <- .Call(wrap__own_signature, text)
  if (!inherits(result, "xlaffi_failure")) {
    return(result)
  }
  # As it is: the place is shown under the text.
  rlang::abort(
    c(result$message, i = result$hint),
    class = c("xlaffi_error_invalid_argument", "xlaffi_error"),
    code = result$code,
    op = result$op,
    operand = result$operand,
    call = call,
    use_cli_format = FALSE
  )
}
