# R's functions that dispatch and are not among the methods of mesh-methods.R: each gives our error, as R itself would
# look at the S4 object.

# Of base R, without those that are words for values or refuse these
more_refused <- c(
  setdiff(
    .S3PrimitiveGenerics,
    c("dim", "dimnames", "is.array", "is.matrix", "is.numeric", "length", "levels", "names")
  ),
  "[<-", "[[", "[[<-", "aperm", "as.list", "as.matrix", "as.numeric", "cbind", "chol", "determinant", "mean", "rbind",
  "scale", "seq", "solve", "split", "t", "unlist"
)

register_refused_sharded <- function() {
  # Both go through `[`.
  of_words <- setdiff(names(word_methods), c("head", "tail"))
  for (generic in unique(c(of_words, unlist(refused), more_refused))) {
    package <- if (generic %in% of_words) word_methods[[generic]] else "base"
    home <- if (package == "base") baseenv() else asNamespace(package)
    registerS3method(generic, "xlaffi_sharded", refusing_sharded(generic), envir = home)
  }
  for (group in c("Math", "Summary", "Complex")) {
    registerS3method(group, "xlaffi_sharded", function(...) refuse_sharded(.Generic, sys.call()), envir = baseenv())
  }
  # Where both operands have a method R takes it only if it is the same.
  for (class in c("xlaffi_value", "xlaffi_sharded")) {
    registerS3method("Ops", class, Ops.xlaffi_value, envir = baseenv())
  }
}

refusing_sharded <- function(generic) {
  force(generic)
  function(...) refuse_sharded(generic, method_call(generic))
}

refuse_sharded <- function(generic, call) {
  shown <- if (grepl("^[[:alpha:]]", generic)) paste0(generic, "()") else sprintf("`%s`", generic)
  abort(sprintf("%s is not available for sharded arrays", shown), "UNIMPLEMENTED",
    op = generic, call = call,
    hint = "Functions of values compute with them: `xla_jit(function(x) ...)(x)`. `as_array()` brings them to R."
  )
}

sharded_product <- function(x, y) refuse_sharded("%*%", sys.call(-1L))

for (other in c("ANY", "xlaffi_value", "xlaffi_sharded")) {
  setMethod("%*%", c("xlaffi_sharded", other), sharded_product)
  setMethod("%*%", c(other, "xlaffi_sharded"), sharded_product)
}
rm(other)
