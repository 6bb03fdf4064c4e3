# R's functions of matrices on values, beside those of overload-linalg-methods.R.

# As R makes vectors matrices for products with t(x) on the left, or t(y) on the right.
cross_matrices <- function(x, y, right) {
  is_vector <- c(rank_of(x), rank_of(y)) < 2L
  if (all(is_vector)) {
    return(list(one_axis(x, FALSE), one_axis(y, FALSE)))
  }
  side <- if (right) 2L else 1L
  beside <- function(v, m) one_axis(v, if (right) length(v) == m@shape[[side]] else length(v) != m@shape[[side]])
  if (is_vector[[1L]]) x <- beside(x, y)
  if (is_vector[[2L]]) y <- beside(y, x)
  list(x, y)
}

cross_product <- function(x, y, right, shown, call) {
  x <- sparse_operand(x)
  y <- sparse_operand(y)
  if (is_sparse(x) || is_sparse(y)) {
    if (is.null(y)) {
      return(sparse_sparse_product(if (right) x else t(x), if (right) t(x) else x, symmetric = TRUE))
    }
    turned <- function(x) if (is_sparse(x)) t(x) else hlo_t(as_column_matrix(x))
    return(if (right) sparse_matrix_product(x, turned(y), call) else sparse_matrix_product(turned(x), y, call))
  }
  both <- if (is.null(y)) list(x, x) else list(x, y)
  both <- lapply(common(both, shown, c("x", "y"), call), as_doubles)
  check_kinds(both, list(x, y), "a number", shown, c("x", "y"), call)
  both <- cross_matrices(both[[1L]], both[[2L]], right)
  axis <- if (right) 2L else 1L
  fits <- rank_of(both[[1L]]) == 2L && rank_of(both[[2L]]) == 2L && both[[1L]]@shape[[axis]] == both[[2L]]@shape[[axis]]
  if (!fits) {
    abort(sprintf("%s: `x` %s and `y` %s do not fit", shown, type_text(both[[1L]]), type_text(both[[2L]])),
      op = sub("()", "", shown, fixed = TRUE), operand = "y", call = call
    )
  }
  dot(both[[1L]], both[[2L]], list(axis, axis), list(integer(), integer()))
}

overload("crossprod", "base",
  f = function(x, y = NULL) {
    call <- method_call("crossprod")
    cross_product(x, y, FALSE, "crossprod()", call)
  }, topic = "Linear algebra", dtypes = "all numbers"
)

overload("tcrossprod", "base",
  f = function(x, y = NULL) {
    call <- method_call("tcrossprod")
    cross_product(x, y, TRUE, "tcrossprod()", call)
  }, topic = "Linear algebra", dtypes = "all numbers"
)

# A matrix of floating-point or complex numbers
matrix_operand <- function(x, name, shown, call) {
  x <- as_doubles(as_value(x, name, call = call))
  check_kind(x, "a floating-point or complex number", shown, name, call)
  check_rank_two(x, name, shown, call)
  x
}

overload("norm", "base",
  f = function(x, type = c("O", "I", "F", "M", "2")) {
    call <- method_call("norm")
    type <- if (missing(type)) "O" else toupper(substr(check_norm_type(type, call), 1L, 1L))
    if (is_sparse(x)) {
      return(sparse_norm(x, type, call))
    }
    x <- matrix_operand(x, "x", "norm()", call)
    if (length(x) == 0L) {
      return(constant(0, real_dtype(x@dtype), integer(), "x"))
    }
    largest <- function(x) reduced("reduce_max", x, NULL, "norm()", call)
    switch(type,
      "1" = ,
      O = largest(hlo_sum(abs(x), 1L)),
      I = largest(hlo_sum(abs(x), 2L)),
      F = ,
      E = frobenius(x),
      M = largest(abs(x)),
      "2" = largest(xla_svd(x, vectors = FALSE)$d)
    )
  }, topic = "Linear algebra", dtypes = "real and complex matrices"
)

# The root of the sum of squares, which are taken by powers of two to where they neither overflow nor vanish.
frobenius <- function(x) {
  parts <- if (is_complex(x@dtype)) list(Re(x), Im(x)) else list(x)
  square <- function(x) hlo_sum(x * x)
  # Squares beyond 2^`most` or below 2^-`most` go by 2^`step`.
  bounds <- switch(real_dtype(x@dtype),
    f64 = list(most = 450, step = 600),
    f32 = ,
    bf16 = list(most = 50, step = 75)
  )
  if (is.null(bounds)) {
    return(sqrt(Reduce(`+`, lapply(parts, square))))
  }
  largest <- Reduce(hlo_max, lapply(parts, function(x) reduced("reduce_max", abs(x), NULL, "norm()")))
  number <- function(x) filled(x, largest)
  scale <- selected(largest > number(2^bounds$most), number(2^-bounds$step), number(1))
  scale <- selected(largest < number(2^-bounds$most), number(2^bounds$step), scale)
  squares <- lapply(parts, function(x) square(x * broadcast(scale, x@shape, integer())))
  sqrt(Reduce(`+`, squares)) / scale
}

check_norm_type <- function(type, call) {
  letters <- c("o", "1", "i", "f", "e", "m", "2")
  if (!is.character(type) || length(type) != 1L || !tolower(substr(type, 1L, 1L)) %in% letters) {
    abort(sprintf("norm(): `type` must be one of \"O\", \"I\", \"F\", \"M\", \"2\", not %s", describe(type)),
      op = "norm", operand = "type", call = call
    )
  }
  type
}

overload("svd", "base",
  f = function(x, nu = min(n, p), nv = min(n, p), LINPACK = FALSE) {
    call <- method_call("svd")
    if (!missing(LINPACK)) abort("svd(): R has no `LINPACK` any more", op = "svd", operand = "LINPACK", call = call)
    x <- matrix_operand(x, "x", "svd()", call)
    n <- x@shape[[1L]]
    p <- x@shape[[2L]]
    vectors <- lapply(list(nu = nu, nv = nv), function(k) {
      if (!is_one_number(k) || !k %in% 0:min(n, p)) {
        abort(sprintf("svd(): `nu` and `nv` must be numbers from 0 to %d, not %s", min(n, p), describe(k)),
          op = "svd", operand = "nu", hint = "`xla_svd(full = TRUE)` completes the bases.", call = call
        )
      }
      as.integer(k)
    })
    if (all(vectors == 0L)) {
      return(xla_svd(x, vectors = FALSE)["d"])
    }
    found <- xla_svd(x)
    c(
      found["d"],
      if (vectors$nu > 0L) list(u = leading(found$u, columns = vectors$nu)),
      if (vectors$nv > 0L) list(v = leading(found$v, columns = vectors$nv))
    )
  }, topic = "Linear algebra", dtypes = "real and complex matrices",
  differs = "Signs of vectors may be others than R's; `nu` and `nv` beyond min(n, p) are refused."
)

overload("eigen", "base",
  f = function(x, symmetric, only.values = FALSE, EISPACK = FALSE) {
    call <- method_call("eigen")
    x <- matrix_operand(x, "x", "eigen()", call)
    check_square(x, "x", "eigen()", call)
    check_known_flag(only.values, "only.values", "eigen()", call)
    if (missing(symmetric) || !isTRUE(symmetric)) {
      abort("eigen(): only `symmetric = TRUE` is available for values of programs", "UNIMPLEMENTED",
        op = "eigen", operand = "symmetric", call = call,
        hint = "R looks at the numbers to tell whether a matrix is symmetric; here it is to be said."
      )
    }
    found <- xla_eigh(x, vectors = !only.values)
    list(
      values = hlo_reverse(found$values, 1L), vectors = if (!only.values) hlo_reverse(found$vectors, 2L)
    )
  }, topic = "Linear algebra", dtypes = "real symmetric and complex Hermitian matrices",
  differs = "`symmetric = TRUE` must be said; a plain list; signs of vectors may be others than R's."
)

overload("qr.solve", "base",
  f = function(a, b, tol = 1e-7) {
    call <- method_call("qr.solve")
    if (!missing(tol)) refuse_argument("qr.solve", "tol", "xla_qr", call)
    both <- if (missing(b)) list(a) else common(list(a, b), "qr.solve()", c("a", "b"), call)
    a <- matrix_operand(both[[1L]], "a", "qr.solve()", call)
    rows <- a@shape[[1L]]
    if (rows < a@shape[[2L]] || (missing(b) && rows != a@shape[[2L]])) {
      abort(sprintf("qr.solve(): `a` must have as many rows as columns, or more with `b`, not %s", type_text(a)),
        op = "qr.solve", operand = "a", call = call
      )
    }
    b <- if (missing(b)) identity_like(a) else as_doubles(both[[2L]])
    is_vector <- rank_of(b) < 2L
    b <- if (is_vector) one_axis(b, FALSE) else b
    if (rank_of(b) != 2L || b@shape[[1L]] != rows) {
      abort(sprintf("qr.solve(): `a` %s and `b` %s do not fit", type_text(a), type_text(b)),
        op = "qr.solve", operand = "b", call = call
      )
    }
    found <- xla_qr(a)
    x <- solve_upper(found$r, hlo_matmul(adjoint(found$q), b))
    if (is_vector) reshaped(x, length(x)) else x
  }, topic = "Linear algebra", dtypes = "real and complex matrices",
  differs = "Columns are not exchanged, and a matrix without full rank gives infinities, where R raises an error."
)

# R dispatches on `a` only.
overload("solve", "base",
  f = solve.xlaffi_value, topic = "Linear algebra", dtypes = "real and complex matrices",
  differs = "A singular matrix gives infinities or NaN, where R raises an error."
)

# R's own calls determinant(), and is no generic.
overload("det", "base",
  f = function(x, ...) {
    call <- method_call("det")
    check_dots_empty(..., call = call)
    if (!is_sparse(x)) {
      x <- as_doubles(as_value(x, "x", call = call))
      check_kind(x, "a floating-point number", "det()", "x", call)
      check_square(x, "x", "det()", call)
    }
    found <- determinant(x)
    found$sign * exp(found$modulus)
  }, topic = "Linear algebra", dtypes = "real matrices", derivative = "yes, of matrices that are not singular"
)

overload("determinant", "base",
  f = determinant.xlaffi_value, by = "method", topic = "Linear algebra", dtypes = "real matrices",
  derivative = "yes, of matrices that are not singular", differs = "A plain list."
)

overload("chol", "base",
  f = chol.xlaffi_value, by = "method", topic = "Linear algebra", dtypes = "real and complex matrices",
  differs = "A matrix that is not positive definite gives NaN, where R raises an error; `pivot` is refused."
)

# Triangular systems: backsolve(), forwardsolve() and chol2inv().

overload_backsolve <- function(r, x, k = ncol(r), upper.tri = TRUE, transpose = FALSE) { # nolint
  call <- method_call("backsolve")
  triangular_overload("backsolve()", list(r = r, x = x), if (!missing(k)) known_size(k), upper.tri, transpose, call)
}

overload_forwardsolve <- function(l, x, k = ncol(l), upper.tri = FALSE, transpose = FALSE) { # nolint
  call <- method_call("forwardsolve")
  triangular_overload("forwardsolve()", list(l = l, x = x), if (!missing(k)) known_size(k), upper.tri, transpose, call)
}

# Whatever lies in the other triangle is not read. `size` is R's `k`, NULL for all columns.
triangular_overload <- function(shown, operands, size, upper, transpose, call) {
  check_flag(upper, "upper.tri", call)
  check_flag(transpose, "transpose", call)
  both <- same_dtype(operands[[1L]], operands[[2L]], shown, names(operands), call)
  both <- lapply(both, as_doubles)
  a <- both[[1L]]
  x <- both[[2L]]
  check_kind(a, "a floating-point number", shown, names(operands)[[1L]], call)
  if (length(a) == 1L) {
    a <- reshaped(a, c(1L, 1L))
  }
  vector <- rank_of(x) < 2L
  if (vector) {
    x <- reshaped(x, c(length(x), 1L))
  }
  if (rank_of(a) != 2L || rank_of(x) != 2L) {
    abort(
      sprintf("%s: `%s` and `x` must be matrices, not %s and %s", shown, names(operands)[[1L]], type_text(a),
        type_text(x)
      ),
      op = shown, operand = "x", call = call
    )
  }
  size <- check_system_size(size, stats::setNames(list(a, x), names(operands)), shown, "k", call)
  a <- sliced(a, c(1L, 1L), c(size, size))
  x <- sliced(x, c(1L, 1L), c(size, x@shape[[2L]]))
  solved <- triangular_solve(a, x, list(
    left = TRUE, lower = !upper, unit = FALSE, transpose = if (transpose) "transpose" else "none"
  ))
  if (vector) reshaped(solved, size) else solved
}

# NULL stands for a size that is left out.
known_size <- function(size) if (is.null(size)) integer() else size

# `operands` are the matrices by name, the system's own first, `argument` the name of `size`.
check_system_size <- function(size, operands, shown, argument, call) {
  if (is.null(size)) {
    size <- operands[[1L]]@shape[[2L]]
  }
  if (is_value(size) || !is.numeric(size) || length(size) != 1L || is.na(size) || size < 1 || size != trunc(size)) {
    what <- if (is_value(size)) type_text(size) else describe(size)
    abort(sprintf("%s: `%s` must be a whole number from 1, not %s", shown, argument, what),
      op = shown, operand = argument, call = call
    )
  }
  rows <- vapply(operands, function(x) x@shape[[1L]], 0L)
  if (size > min(rows, operands[[1L]]@shape)) {
    what <- paste(sprintf("`%s` %s", names(operands), vapply(operands, type_text, "")), collapse = " and ")
    abort(sprintf("%s: a system of %.0f rows does not fit %s", shown, size, what),
      op = shown, operand = names(operands)[[1L]], call = call
    )
  }
  as.integer(size)
}

overload_chol2inv <- function(x, size = NCOL(x), LINPACK = FALSE) { # nolint
  call <- method_call("chol2inv")
  if (!missing(LINPACK)) {
    abort("chol2inv(): R has no `LINPACK` any more", op = "chol2inv", operand = "LINPACK", call = call)
  }
  x <- as_doubles(as_value(x, "x", call = call))
  check_kind(x, "a floating-point number", "chol2inv()", "x", call)
  if (length(x) == 1L) {
    x <- reshaped(x, c(1L, 1L))
  }
  if (rank_of(x) != 2L) {
    abort(sprintf("chol2inv(): `x` must be a matrix, not %s", type_text(x)),
      op = "chol2inv", operand = "x", call = call
    )
  }
  size <- check_system_size(if (!missing(size)) known_size(size), list(x = x), "chol2inv()", "size", call)
  inverse <- triangular_overload("chol2inv()", list(x = x, x = unit_rows(size, x@dtype)), size, TRUE, FALSE, call)
  hlo_matmul(inverse, transposed(inverse, c(2L, 1L)))
}

for (name in c("backsolve", "forwardsolve", "chol2inv")) {
  overload(name, "base", get(paste0("overload_", name)),
    topic = "Linear algebra", dtypes = "real numbers",
    differs = "A singular matrix gives infinities or NaN where R has an error."
  )
}
rm(name)
