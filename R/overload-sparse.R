# R's functions on sparse matrices: what neither an overload nor a method does for them would be dense.

# Overloads that take sparse matrices, too
sparse_overloads <- c(
  "crossprod", "tcrossprod", "diag", "det", "solve", "determinant", "rowSums", "colSums", "rowMeans", "colMeans", "+",
  "-", "*", "/", "%*%"
)

# R's functions that have methods in sparse-matrix.R
sparse_methods <- c("$", "is.numeric", "t", "as.matrix", "dim", "length", "format", "print")

# What stands for R's function where an argument is a sparse matrix
sparse_method <- function(name, f) {
  if (name %in% sparse_overloads) {
    f
  } else if (name %in% sparse_methods) {
    get(paste0(name, ".xlaffi_sparse"), topenv())
  } else {
    not_sparse(name)
  }
}

register_sparse <- function() {
  registerS3method("solve", "xlaffi_sparse", solve.xlaffi_value, envir = baseenv())
  registerS3method("determinant", "xlaffi_sparse", determinant.xlaffi_value, envir = baseenv())
  for (generic in setdiff(names(overload_methods), c(sparse_methods, sparse_overloads))) {
    package <- overload_methods[[generic]]
    home <- if (package == "base") baseenv() else asNamespace(package)
    registerS3method(generic, "xlaffi_sparse", not_sparse(generic), envir = home)
  }
  for (group in c("Math", "Summary", "Complex")) {
    registerS3method(group, "xlaffi_sparse", function(...) dense_result(.Generic, sys.call()), envir = baseenv())
  }
}

not_sparse <- function(generic) {
  force(generic)
  function(...) dense_result(generic, method_call(generic))
}
