# R's functions that dispatch and have no meaning for values of programs, or none yet. Each gives an error: R
# itself would look at the S4 object.
refused <- list(
  numbers = c(
    "all.equal", "as.call", "as.character", "as.data.frame", "as.environment", "as.raw", "nchar", "duplicated",
    "seq.int", "summary", "unique", "xtfrm"
  ),
  changes = c("levels<-", "$<-"),
  factors = "cut",
  matrices = "qr"
)

refused_hints <- list(
  numbers = "`hlo_convert()` changes the dtype, `hlo_reshape()` and `hlo_broadcast()` the shape.",
  changes = "Values are not changed: `hlo_reshape()` gives one of another shape.",
  factors = "`findInterval()` gives the numbers of the intervals.",
  matrices = "For matrices there are `xla_qr()`, `xla_svd()`, `xla_eigh()`, `xla_chol()`, `xla_lu()` and `xla_solve()`."
)

register_refused <- function() {
  for (kind in names(refused)) {
    for (generic in refused[[kind]]) {
      registerS3method(generic, "xlaffi_value", refusing(generic, refused_hints[[kind]]), envir = baseenv())
    }
  }
}

refusing <- function(generic, hint) {
  force(generic)
  force(hint)
  function(...) {
    call <- method_call(generic)
    abort(sprintf("%s() is not available for values of programs", generic), "UNIMPLEMENTED",
      op = generic, hint = hint, call = call
    )
  }
}

#' @export
is.numeric.xlaffi_value <- function(x) numeric_kinds[["a real number"]](x@dtype)

#' @export
is.matrix.xlaffi_value <- function(x) length(x@shape) == 2L

#' @export
is.array.xlaffi_value <- function(x) length(x@shape) > 1L
