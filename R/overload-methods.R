# The last file of its layer: which overloads are methods is found out when the package is installed, and the table
# itself is not read before one of them is called.
overload_methods <- local({
  entries <- Filter(function(entry) entry$by == "method", as.list(overloads))
  vapply(entries, function(entry) entry$package, "")
})

register_overloads <- function() {
  for (package in unique(overload_methods)) {
    home <- if (package == "base") .BaseNamespaceEnv else asNamespace(package)
    methods <- home[[".__S3MethodsTable__."]]
    for (name in names(overload_methods)[overload_methods == package]) {
      promise_method(name, methods)
    }
  }
}

promise_method <- function(name, methods) {
  delayedAssign(paste0(name, ".xlaffi_value"), overloads[[name]]$f, assign.env = methods)
}

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
      registerS3method(generic, "xlaffi_sparse", not_sparse(generic), envir = baseenv())
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

# R's functions that dispatch and are not among the methods of shard-methods.R and host-buffer-generics.R: each gives
# our error, as R itself would look at the S4 object, or at the pointer.

# Of base R, without those that are overloads for values or refuse these
more_refused <- c(
  setdiff(
    .S3PrimitiveGenerics,
    c("dim", "dimnames", "is.array", "is.matrix", "is.numeric", "length", "levels", "names")
  ),
  "[<-", "[[", "[[<-", "aperm", "as.list", "as.matrix", "as.numeric", "cbind", "chol", "determinant", "mean", "rbind",
  "scale", "seq", "solve", "split", "t", "unlist"
)

register_refused_sharded <- function() {
  generics <- unique(c(names(overload_methods), unlist(refused), more_refused))
  # Both go through `[`.
  register_refusals("xlaffi_sharded", setdiff(generics, c("head", "tail")), refuse_sharded)
  # c() makes a list of buffers, and format() of lists unlists each element. For the last ones R takes the methods of
  # values only if those of buffers are the same.
  for_buffers <- setdiff(c(generics, "[", "$"), c("c", "unlist", "all.equal", "cbind", "rbind"))
  register_refusals("xlaffi_buffer", for_buffers, refuse_buffer)
  registerS3method("cbind", "xlaffi_buffer", cbind.xlaffi_value, envir = baseenv())
  registerS3method("rbind", "xlaffi_buffer", rbind.xlaffi_value, envir = baseenv())
  # Where both operands have a method R takes it only if it is the same.
  for (class in c("xlaffi_value", "xlaffi_sharded", "xlaffi_sparse", "xlaffi_buffer")) {
    registerS3method("Ops", class, Ops.xlaffi_value, envir = baseenv())
  }
  # Older versions of R have no such generic.
  if (getRversion() >= "4.3.0") {
    registerS3method("%*%", "xlaffi_buffer", refusing_by(refuse_buffer, "%*%"), envir = baseenv())
  }
}

register_refusals <- function(class, generics, refuse) {
  for (generic in generics) {
    package <- if (generic %in% names(overload_methods)) overload_methods[[generic]] else "base"
    home <- if (package == "base") baseenv() else asNamespace(package)
    registerS3method(generic, class, refusing_by(refuse, generic), envir = home)
  }
  for (group in c("Math", "Summary", "Complex")) {
    registerS3method(group, class, refusing_by(refuse, NULL), envir = baseenv())
  }
}

# The method of a generic function, or of a group of them, that refuses. The call is asked for at once.
refusing_by <- function(refuse, generic) {
  force(refuse)
  force(generic)
  if (is.null(generic)) {
    function(...) {
      call <- method_call(.Generic)
      # R gives it to all of the group Summary.
      if (isFALSE(call$na.rm)) call$na.rm <- NULL
      refuse(.Generic, call)
    }
  } else if (endsWith(generic, "<-")) {
    function(...) {
      call <- assign_call(generic)
      refuse(generic, call)
    }
  } else {
    function(...) {
      call <- method_call(generic)
      refuse(generic, call)
    }
  }
}

refuse_sharded <- function(generic, call) {
  refuse_class(generic, "sharded arrays", call,
    "Functions of values compute with them: `xla_jit(function(x) ...)(x)`. `as_array()` brings them to R."
  )
}

refuse_buffer <- function(generic, call) {
  refuse_class(generic, "buffers", call,
    if (is_tracing()) {
      "Pass the buffer as an argument of the function."
    } else {
      "`as_array()` brings them to R; functions of `xla_jit()` compute where they are."
    }
  )
}

refuse_class <- function(generic, what, call, hint) {
  shown <- if (grepl("^[[:alpha:]][^<]*$", generic)) paste0(generic, "()") else sprintf("`%s`", generic)
  abort(sprintf("%s is not available for %s", shown, what), "UNIMPLEMENTED",
    op = generic, operand = "x", call = call, hint = hint
  )
}

sharded_product <- function(x, y) refuse_sharded("%*%", sys.call(-1L))

for (other in c("ANY", "xlaffi_value", "xlaffi_sharded")) {
  setMethod("%*%", c("xlaffi_sharded", other), sharded_product)
  setMethod("%*%", c(other, "xlaffi_sharded"), sharded_product)
}
rm(other)
