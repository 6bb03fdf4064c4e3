# R's functions on sparse matrices: what neither an overload nor a method does for them would be dense.

# Overloads that take sparse matrices, too
sparse_overloads <- c(
  "crossprod", "tcrossprod", "diag", "det", "solve", "determinant", "norm", "rowSums", "colSums", "rowMeans",
  "colMeans", "+", "-", "*", "/", "^", "%*%"
)

# R's functions that have methods in sparse-matrix.R
sparse_methods <- c("$", "is.numeric", "t", "as.matrix", "dim", "length", "format", "print")

# Functions of numbers that are zero at zero
zero_at_zero <- c(
  "abs", "sign", "sqrt", "floor", "ceiling", "trunc", "round", "signif", "expm1", "log1p", "sin", "tan", "asin", "atan",
  "sinh", "tanh", "asinh", "atanh", "sinpi", "tanpi"
)

of_entries <- function(name) {
  force(name)
  function(x, ...) {
    x <- sparse_operand(x)
    new_sparse(do.call(name, list(x@values, ...), envir = baseenv()), x@pattern)
  }
}

# What is neither an overload nor an S3 method of sparse matrices
sparse_functions <- c(sapply(zero_at_zero, of_entries), list(
  "[" = function(x, ..., drop = TRUE) sparse_index(x, index_arguments(...), drop, method_call("[")),
  sum = function(..., na.rm = FALSE) {
    call <- method_call("sum")
    check_known_flag(na.rm, "na.rm", "sum()", call)
    parts <- lapply(list(...), function(part) {
      part <- sparse_operand(part)
      if (!is_sparse(part)) {
        sum(part, na.rm = na.rm)
      } else {
        sparse_total(new_sparse(without_nan(part@values, 0, na.rm), part@pattern))
      }
    })
    Reduce(`+`, parts)
  },
  "[<-" = function(x, ..., value) {
    call <- assign_call("[<-")
    x <- sparse_operand(x)
    given <- index_arguments(...)
    check_known_indices(given, call)
    if (is_sparse(x)) {
      return(sparse_assigned(x, given, value, call))
    }
    assigned(x, given, as.matrix(sparse_operand(value)), "`[<-`", call)
  },
  "diag<-" = function(x, value) {
    call <- quote(`diag<-`(x, value))
    sparse_diagonal_assigned(any_sparse(x, "x", call), value, call)
  },
  max = function(..., na.rm = FALSE) do.call(base::max, c(lapply(list(...), distinct_elements), na.rm = na.rm)),
  min = function(..., na.rm = FALSE) do.call(base::min, c(lapply(list(...), distinct_elements), na.rm = na.rm)),
  range = function(..., na.rm = FALSE) do.call(base::range, c(lapply(list(...), distinct_elements), na.rm = na.rm)),
  mean = function(x, ...) {
    check_dots_empty(..., call = method_call("mean"))
    sparse_total(x) / length(x)
  },
  cbind = function(..., deparse.level = 1) {
    sparse_bound(lapply(list(...), sparse_operand), 2L, "cbind()", method_call("cbind"))
  },
  rbind = function(..., deparse.level = 1) {
    sparse_bound(lapply(list(...), sparse_operand), 1L, "rbind()", method_call("rbind"))
  },
  kronecker = function(X, Y, FUN = "*", make.dimnames = FALSE, ...) {
    call <- method_call("kronecker")
    if (!identical(FUN, "*")) dense_result("kronecker", call)
    sparse_kronecker(any_sparse(X, "X", call), any_sparse(Y, "Y", call))
  },
  "%x%" = function(X, Y) {
    call <- method_call("%x%")
    sparse_kronecker(any_sparse(X, "X", call), any_sparse(Y, "Y", call))
  },
  chol = function(x, pivot = FALSE, ...) {
    call <- method_call("chol")
    check_dots_empty(..., call = call)
    if (!isFALSE(pivot)) {
      abort("chol(): `pivot` must be FALSE for a sparse matrix of a program", "UNIMPLEMENTED",
        op = "chol", operand = "pivot", call = call,
        hint = "`solve()` and `determinant()` put rows and columns into an order of their own."
      )
    }
    check_symmetric(x, "x", "chol()", call)
    sparse_chol(x)
  }
))

# All numbers that are elements of a matrix, zero among them where it has places without an entry
distinct_elements <- function(x) {
  x <- sparse_operand(x)
  if (!is_sparse(x)) {
    return(x)
  }
  zeros <- sum(pattern_weights(x@pattern)) < length(x)
  if (zeros) joined(list(x@values, constant(0, x@values@dtype, 1L, "x"))) else x@values
}

# A sparse matrix as it is, and of a dense one or of numbers all entries
any_sparse <- function(x, name, call) {
  x <- sparse_operand(x)
  if (is_sparse(x)) {
    return(x)
  }
  x <- as_doubles(as_value(x, name, call = call))
  all_entries(if (rank_of(x) < 2L) one_axis(x, FALSE) else x)
}

sparse_norm <- function(x, type, call) {
  if (type == "2") dense_result("norm", call)
  largest <- function(x) if (length(x)) max(x) else constant(0, x@dtype, integer(), "x")
  sums <- function(rows) sparse_sums(new_sparse(abs(x@values), x@pattern), rows)
  switch(EXPR = type,
    "1" = ,
    O = largest(sums(FALSE)),
    I = largest(sums(TRUE)),
    M = largest(abs(x@values)),
    F = ,
    E = frobenius(as_general(x)@values)
  )
}

# x[i, j], as Matrix has it: one row or column is a dense vector, unless `drop` is FALSE.
sparse_index <- function(x, given, drop, call) {
  check_flag(drop, "drop", call)
  check_known_indices(given, call)
  if (length(given) == 1L && is_index_matrix(given[[1L]], dim(x))) {
    index <- given[[1L]]
    matrix_positions(index, dim(x), call)
    return(sparse_elements(x, index[, 1L], index[, 2L]))
  }
  positions <- index_positions(x, given, call)
  part <- sparse_part(x, positions[[1L]], positions[[2L]])
  if (!drop || all(dim(part) != 1L)) {
    return(part)
  }
  whole <- as.matrix(part)
  reshaped(whole, whole@shape[whole@shape != 1L])
}

check_known_indices <- function(given, call) {
  for (index in given) {
    if (is_value(index) || is_sparse(index)) {
      abort("an index of a sparse matrix must be known while the program is written, not a value",
        op = "[", operand = "...", call = call, hint = "`as.matrix(x)[i, j]` takes values as indices.", unknown = TRUE
      )
    }
  }
}

# The rows and the columns that two indices say
index_positions <- function(x, given, call) {
  if (length(given) != 2L) {
    abort(sprintf("`x[...]` needs 2 indices, or a matrix of positions, for %s, not %d", format(x), length(given)),
      op = "[", operand = "...", call = call
    )
  }
  Map(function(index, size, place) {
    if (is.null(index)) seq_len(size) else as.integer(fixed_positions(index, size, place, call))
  }, given, dim(x), 1:2)
}

# Functions of the package Matrix that programs know
matrix_functions <- list(
  sparseMatrix = function(i, j, p, x, dims, dimnames = NULL, symmetric = FALSE, triangular = FALSE, index1 = TRUE,
                          repr = "C", check = TRUE, use.last.ij = FALSE, ...) {
    call <- method_call("sparseMatrix")
    check_dots_empty(..., call = call)
    check_flag(triangular, "triangular", call)
    check_flag(use.last.ij, "use.last.ij", call)
    check_choice(repr[1L], "repr", "C", call)
    if (missing(i) + missing(j) + missing(p) != 1L) {
      abort("sparseMatrix(): exactly two of `i`, `j` and `p` must be given", operand = "i", call = call)
    }
    if (!missing(p)) {
      along <- rep(seq_len(length(p) - 1L), diff(p)) - !index1
      if (missing(i)) i <- along else j <- along
    }
    shift <- as.integer(!index1)
    if (use.last.ij) {
      last <- which(!duplicated(cbind(i, j), fromLast = TRUE))
      if (length(x) == length(i)) x <- x[last]
      i <- i[last]
      j <- j[last]
    }
    found <- hlo_sparse(x, i + shift, j + shift, if (!missing(dims)) dims, symmetric)
    if (triangular && any(i < j) && any(i > j)) {
      abort("sparseMatrix(): entries of a triangular matrix must lie in one triangle, but they lie in both",
        operand = "i", call = call
      )
    }
    check_dimnames(dimnames, dim(found), call)
    found
  },
  Diagonal = function(n, x = NULL, names = FALSE, ...) {
    call <- method_call("Diagonal")
    check_dots_empty(..., call = call)
    x <- as_column(as_doubles(as_value(x, "x", call = call)))
    size <- if (missing(n)) length(x) else check_count(n, "n", call)
    hlo_sparse(if (length(x) == 1L) reshaped(x, integer()) else x, seq_len(size), seq_len(size), c(size, size),
      symmetric = TRUE
    )
  },
  bdiag = function(...) {
    call <- method_call("bdiag")
    parts <- if (...length() == 1L && is.list(..1)) ..1 else list(...)
    sparse_blocks(lapply(parts, any_sparse, "...", call))
  },
  forceSymmetric = function(x, uplo = "U") {
    call <- method_call("forceSymmetric")
    check_choice(uplo, "uplo", c("U", "L"), call)
    x <- sparse_operand(x)
    if (x@pattern$symmetric) {
      return(x)
    }
    if (nrow(x) != ncol(x)) {
      abort(sprintf("forceSymmetric(): `x` must be square, not %s", format(x)), operand = "x", call = call)
    }
    below <- x@pattern$i - pattern_columns(x@pattern)
    if (missing(uplo) && any(below > 0L) && !any(below < 0L)) {
      abort("forceSymmetric(): `uplo` must say which triangle is meant of a matrix that is zero above its diagonal",
        operand = "uplo", call = call,
        hint = "Matrix takes the lower one of what it knows as a triangular matrix, and the upper one of others."
      )
    }
    lower_as_symmetric(if (uplo == "U") t(x) else x)
  },
  tril = function(x, k = 0) sparse_band(x, -Inf, k),
  triu = function(x, k = 0) sparse_band(x, k, Inf),
  band = function(x, k1, k2) sparse_band(x, k1, k2),
  # What is stored stays an entry, as it is one whatever the numbers are.
  drop0 = function(x, tol = 0, is.Csparse = NA, give.Csparse = TRUE) {
    if (is_value(tol) || !isTRUE(tol == 0)) {
      abort("drop0(): `tol` must be 0: which entries are small is not known while the program is written",
        "UNIMPLEMENTED", op = "drop0", operand = "tol", call = method_call("drop0")
      )
    }
    sparse_operand(x)
  }
)

matrix_functions$.bdiag <- function(lst) matrix_functions$bdiag(lst)

sparse_band <- function(x, from, to) {
  sparse_where(as_general(sparse_operand(x)), function(i, j) j - i >= from & j - i <= to)
}

is_of_matrix_package <- function(name, value) {
  isNamespaceLoaded("Matrix") && identical(value, get0(name, asNamespace("Matrix"), inherits = FALSE))
}

# What stands for R's function where an argument is a sparse matrix
sparse_method <- function(name, f) {
  if (name %in% c(sparse_overloads, names(matrix_functions))) {
    f
  } else if (name %in% sparse_methods) {
    get(paste0(name, ".xlaffi_sparse"), topenv())
  } else if (!is.null(sparse_functions[[name]])) {
    sparse_functions[[name]]
  } else {
    not_sparse(name)
  }
}

register_sparse <- function() {
  registerS3method("solve", "xlaffi_sparse", solve.xlaffi_value, envir = baseenv())
  registerS3method("determinant", "xlaffi_sparse", determinant.xlaffi_value, envir = baseenv())
  generics <- setdiff(c(names(overload_methods), "cbind", "rbind"), c(sparse_methods, sparse_overloads))
  for (generic in generics) {
    package <- if (generic %in% names(overload_methods)) overload_methods[[generic]] else "base"
    home <- if (package == "base") baseenv() else asNamespace(package)
    registerS3method(generic, "xlaffi_sparse", sparse_method(generic, NULL), envir = home)
  }
  for (group in c("Math", "Summary", "Complex")) {
    registerS3method(group, "xlaffi_sparse", function(...) sparse_method(.Generic, NULL)(...), envir = baseenv())
  }
}

not_sparse <- function(generic) {
  force(generic)
  function(...) dense_result(generic, method_call(generic))
}

# Operators between a matrix of the package Matrix and what programs compute with: that package has methods for all
# objects, which go by classes of S4, so these are defined where it is loaded.
matrix_operators <- new.env(parent = emptyenv())

prepare_matrix_operators <- function() {
  if (is.null(matrix_operators$made) && isNamespaceLoaded("Matrix")) {
    matrix_operators$made <- made <- new.env(parent = topenv())
    operate <- function(e1, e2) get(.Generic, baseenv())(sparse_operand(e1), sparse_operand(e2))
    multiply <- function(x, y) matrix_product(sparse_operand(x), sparse_operand(y), sys.call())
    for (class in c("Matrix", "ddiMatrix", "ldiMatrix")) {
      methods::setMethod("Ops", c(class, "xlaffi_traced"), operate, where = made)
      methods::setMethod("Ops", c("xlaffi_traced", class), operate, where = made)
    }
    # For each of the classes themselves: since Matrix 1.7 those for all objects come before one for both of them.
    for (class in c("Matrix", "TsparseMatrix")) {
      for (own in c("xlaffi_traced", "xlaffi_value", "xlaffi_sparse")) {
        methods::setMethod("%*%", c(class, own), multiply, where = made)
        methods::setMethod("%*%", c(own, class), multiply, where = made)
      }
    }
  }
}
