#' Sparse matrices in programs
#'
#' `hlo_sparse()` makes a sparse matrix of a program: where it has entries is known while the program is written, what
#' stands there are [values][xlaffi_value]. `hlo_nonzeros()` gives these, `hlo_sparse_inverse()` the inverse of a
#' symmetric positive definite matrix where the matrix itself has entries.
#'
#' @details
#' Sparse matrices of the package \pkg{Matrix} need no `hlo_sparse()`: they are arguments of compiled functions, data of
#' [xla_objective()] and variables that a function reads, and results are such matrices, `dgCMatrix` or `dsCMatrix`.
#' Their entries are doubles, and what is stored is an entry, zeros too. A program is for one pattern: other numbers at
#' the same places need no other one.
#'
#' In functions that are being compiled, R's own functions work on sparse matrices: `+`, `-`, `*` and `/` (with another
#' sparse matrix, a number, or a vector of one number for each row), `^` with a positive exponent, `%*%`, [crossprod()],
#' [tcrossprod()], [kronecker()], `[` with indices that are known, [cbind()], [rbind()], `cbind2()`, `rbind2()`, [t()],
#' [diag()], [solve()] with a right side, [determinant()], [det()], [norm()], [sum()], [mean()], [max()], [min()],
#' [range()], [rowSums()], [colSums()], [dim()], [as.matrix()], [chol()], those of numbers that are zero at zero, such
#' as [sqrt()] and [expm1()], and of \pkg{Matrix} `sparseMatrix()`, `Diagonal()`, `bdiag()`, `forceSymmetric()`,
#' `tril()`, `triu()`, `band()` and `drop0()`, which leaves the entries as they are. Other functions of \pkg{Matrix},
#' and what would have to be dense, such as `A + 1` or `solve(A)`, are errors that say so; `as.matrix(A)` has all
#' elements. What has no entry stays 0, where a matrix of R's that is divided by 0 has NaN.
#'
#' `A[i, j] <- v` and `diag(A) <- v` make entries of the elements that are replaced, but for zeros that are known. A
#' symmetric matrix stays symmetric where the same rows and columns become one number or a symmetric sparse matrix. The
#' solution for a sparse right side is a sparse matrix with an entry wherever it can be other than zero: where no
#' entries link rows of `A` with those of the right side there is none, but of a connected part all are.
#'
#' `solve()` and `determinant()` take symmetric positive definite matrices: rows and columns are put into an order in
#' which the Cholesky factor stays sparse (approximate minimum degree: P. Amestoy, T. Davis, I. Duff, "An Approximate
#' Minimum Degree Ordering Algorithm", SIAM Journal on Matrix Analysis and Applications 17, 1996), once for a program.
#' The same factor serves all that is computed of one matrix. The inverse at the entries follows K. Takahashi, J. Fagan
#' and M.-S. Chin, "Formation of a Sparse Bus Impedance Matrix and its Application to Short Circuit Study" (1973).
#'
#' `chol()` gives the upper triangular factor of the matrix in its own order, as \pkg{Matrix} does, with the entries
#' that the elimination fills in. It is slower than `solve()`, and may have many more entries than the factor behind
#' that.
#'
#' A matrix that is not positive definite, or has NaN, has no factor: `solve()`, `determinant()`, `chol()` and
#' `hlo_sparse_inverse()` are then NaN throughout, as [xla_chol()] is; other matrices of a batch are not touched.
#' There is no factorisation L D L' of indefinite matrices. A semidefinite one, as the precision of a random walk or of
#' another intrinsic field, gets a factor by a shift, `A + eps * Matrix::Diagonal(n)`, where `eps` may be a value: then
#' solutions are those of ridge regression, and have lost `log10(max(A) / eps)` of 16 digits. Without it rounding
#' decides: the last pivot of a singular matrix may come out as a small positive number, with a small determinant and
#' large solutions. The custom call `sparse_cholesky` ([ffi_targets()]) tells by `info` at which column it ended.
#'
#' All have derivatives, also by [xla_vmap()]: of every order, but for `determinant()`, which has five, and `chol()` and
#' `hlo_sparse_inverse()`, which have four.
#'
#' Derivatives in a sparse matrix are matrices of its pattern, in its entries: of a symmetric one an entry off the
#' diagonal stands for two elements. [xla_jacobian()] gives arrays, whose last axes go along the entries. Branches and
#' the carries of loops may be sparse matrices; their patterns stay. A batch has no sparse matrices, only entries.
#'
#' @param x A matrix of the package \pkg{Matrix}, or the entries: values, numbers, or one number for all of them. A
#'   Matrix's own class says whether it is symmetric.
#' @param i,j The rows and columns of the entries, counted from 1: R numbers, for `x` that is no Matrix. Entries at the
#'   same place are added up.
#' @param dims The numbers of rows and columns; those of the last entries by default.
#' @param symmetric Whether the matrix is symmetric and the entries are those of its lower triangle with the diagonal,
#'   or of its upper one.
#' @param a A sparse matrix; for `hlo_sparse_inverse()` a symmetric one.
#' @return `hlo_sparse()` and `hlo_sparse_inverse()` a sparse matrix; `hlo_nonzeros()` a value of one axis, the entries
#'   column by column, of a symmetric matrix those of the lower triangle.
#' @section Errors:
#' Entries outside of `dims`, in both triangles of a symmetric matrix, or as many `x` as do not fit, are an error
#' (`xlaffi_error_invalid_argument`).
#' @aliases %*%,xlaffi_sparse,ANY-method %*%,ANY,xlaffi_sparse-method %*%,xlaffi_sparse,xlaffi_sparse-method
#'   %*%,xlaffi_sparse,xlaffi_value-method %*%,xlaffi_value,xlaffi_sparse-method
#' @examplesIf plugins_downloaded()
#' # The log density of an autoregressive process, by its precision matrix
#' n <- 5
#' density <- function(phi, x) {
#'   diagonal <- c(1, rep(1 + phi^2, n - 2), 1)
#'   q <- hlo_sparse(c(diagonal, rep(-phi, n - 1)), c(1:n, 2:n), c(1:n, 1:(n - 1)), symmetric = TRUE)
#'   0.5 * (determinant(q)$modulus - sum(x * (q %*% x)) - n * log(2 * pi))
#' }
#' x <- c(0.3, 0.1, -0.2, 0.5, 0.4)
#' xla_jit(density)(0.5, x)
#' xla_grad(density)(0.5, x)
#'
#' # The variances of the process are on the diagonal of the inverse
#' variances <- function(phi) {
#'   diagonal <- c(1, rep(1 + phi^2, n - 2), 1)
#'   q <- hlo_sparse(c(diagonal, rep(-phi, n - 1)), c(1:n, 2:n), c(1:n, 1:(n - 1)), symmetric = TRUE)
#'   inverse <- hlo_sparse_inverse(q)
#'   list(diag(inverse), hlo_nonzeros(inverse))
#' }
#' xla_jit(variances)(0.5)
#'
#' # Matrices of the package Matrix are arguments and results
#' q <- Matrix::bandSparse(5, k = 0:1, diagonals = list(rep(2, 5), rep(-1, 4)), symmetric = TRUE)
#' xla_jit(function(q, x) list(q * 2, solve(q, x)))(q, x)
#' xla_grad(function(q) determinant(q)$modulus)(q)
#' @export
hlo_sparse <- function(x, i = NULL, j = NULL, dims = NULL, symmetric = FALSE) {
  check_given(x)
  call <- environment()
  check_flag(symmetric, "symmetric")
  if (is_sparse(x)) {
    return(x)
  }
  if (is.null(i) && is.null(j)) {
    return(sparse_of_matrix(x, call))
  }
  i <- check_entries(i, "i", call)
  j <- check_entries(j, "j", call)
  if (length(i) != length(j)) {
    abort(sprintf("`j` must have %d elements, as `i` has, not %d", length(i), length(j)), operand = "j")
  }
  if (is.null(dims)) {
    dims <- c(max(i, 0L), max(j, 0L))
    if (symmetric) dims <- rep(max(dims), 2L)
  }
  dims <- check_sparse_dims(dims, i, j, symmetric)
  values <- as_doubles(as_value(x, "x"))
  if (!is_float(values@dtype)) {
    abort(sprintf("`x` must be real numbers, not %s", type_text(values)), operand = "x")
  }
  if (length(values) == 1L) values <- broadcast(reshaped(values, integer()), length(i), integer())
  if (length(values) != length(i) || rank_of(values) != 1L) {
    abort(sprintf("`x` must be one number or %d, as `i` and `j` are, not %s", length(i), type_text(values)),
      operand = "x"
    )
  }
  if (symmetric) {
    if (any(i > j) && any(i < j)) {
      abort("of a symmetric matrix the entries must lie in one triangle, but they lie in both",
        operand = "i", hint = "`symmetric = FALSE` takes both triangles."
      )
    }
    lower <- pmax(i, j)
    j <- pmin(i, j)
    i <- lower
  }
  sparse_from(i - 1L, j - 1L, values, dims[[1L]], dims[[2L]], symmetric)
}

#' @rdname hlo_sparse
#' @export
hlo_nonzeros <- function(a) {
  check_given(a)
  check_sparse(a, "a")@values
}

#' @rdname hlo_sparse
#' @export
hlo_sparse_inverse <- function(a) {
  check_given(a)
  check_symmetric(a, "a", "hlo_sparse_inverse()", environment())
  new_sparse(sparse_inverse(a@pattern, a@values, factor_of(a)), a@pattern)
}

check_sparse <- function(a, name, call = rlang::caller_env()) {
  if (!is_sparse(a)) {
    abort(sprintf("`%s` must be a sparse matrix made by hlo_sparse(), not %s", name, describe(a)),
      operand = name, call = call
    )
  }
  a
}

check_symmetric <- function(a, name, shown, call) {
  check_sparse(a, name, call)
  if (!a@pattern$symmetric) {
    abort(sprintf("%s: `%s` must be a symmetric sparse matrix", shown, name),
      op = sub("()", "", shown, fixed = TRUE), operand = name, call = call,
      hint = paste(
        "`hlo_sparse(symmetric = TRUE)` takes the entries of one triangle, `Matrix::forceSymmetric()` makes a",
        "symmetric Matrix. There is no sparse factor of others: `as.matrix(a)` has all elements, and",
        "`solve(crossprod(a), crossprod(a, b))` solves equations."
      )
    )
  }
}

check_entries <- function(x, name, call) {
  numbers <- is.numeric(x) && !is.object(x) && !is_value(x)
  bad <- if (numbers) which(is.na(x) | x < 1 | x > .Machine$integer.max | x != trunc(x))
  if (!numbers || length(bad)) {
    shown <- if (!numbers) {
      describe(x)
    } else {
      sprintf("%s%s", format(x[[bad[[1L]]]], digits = 15), if (length(x) > 1L) sprintf(" at %d", bad[[1L]]) else "")
    }
    abort(sprintf("`%s` must be positions from 1, known while the program is written, not %s", name, shown),
      operand = name, call = call
    )
  }
  as.integer(x)
}

check_sparse_dims <- function(dims, i, j, symmetric, call = rlang::caller_env()) {
  fits <- is.numeric(dims) && length(dims) == 2L && !anyNA(dims) && all(dims >= 0 & dims == trunc(dims))
  if (!fits) {
    abort(sprintf("`dims` must be the numbers of rows and columns, not %s", values_text(dims)),
      operand = "dims", call = call
    )
  }
  if (any(i > dims[[1L]]) || any(j > dims[[2L]])) {
    abort(
      sprintf("entries lie outside of a %.0f x %.0f matrix: row %d, column %d", dims[[1L]], dims[[2L]], max(i), max(j)),
      operand = "dims", call = call
    )
  }
  if (symmetric && dims[[1L]] != dims[[2L]]) {
    abort(sprintf("a symmetric matrix must be square, not %.0f x %.0f", dims[[1L]], dims[[2L]]),
      operand = "dims", call = call
    )
  }
  as.integer(dims)
}

# Of a matrix of the package Matrix
sparse_of_matrix <- function(x, call) {
  if (!isS4(x) || !requireNamespace("Matrix", quietly = TRUE) || !methods::is(x, "Matrix")) {
    abort(sprintf("`x` must be a matrix of the package Matrix, or come with `i` and `j`, not %s", describe(x)),
      operand = "x", call = call
    )
  }
  data <- sparse_data(if (is_sparse_matrix(x)) x else methods::as(x, "CsparseMatrix"))
  new_sparse(constant(data@values, "f64", length(data@values), "x"), data@pattern)
}

# What stands beside a sparse matrix: another one, where it is one of the package Matrix
sparse_operand <- function(x) if (is_sparse_matrix(x)) sparse_of_matrix(x, NULL) else r_data(x)

# One factor of a matrix in a program
factor_of <- function(a) {
  # With the node of the values, and not with the pattern, which may live longer than the program
  node <- a@values@node
  key <- paste("factor", a@values@index)
  found <- node[[key]]
  lives <- !is.null(found) && !isTRUE(found$factor@node$branch$ended) && !isTRUE(found$factor@node$branch$closed)
  if (!lives || !same_pattern(found$pattern, a@pattern)) {
    found <- list(pattern = a@pattern, factor = sparse_factor(a@pattern, a@values))
    node[[key]] <- found
  }
  found$factor
}

#' @export
dim.xlaffi_sparse <- function(x) c(x@pattern$nrow, x@pattern$ncol)

#' @export
length.xlaffi_sparse <- function(x) prod(dim(x))

#' @export
is.numeric.xlaffi_sparse <- function(x) TRUE

#' @export
`$.xlaffi_sparse` <- function(x, name) {
  abort("sparse matrices of programs have no fields",
    operand = name, hint = "`hlo_nonzeros()` gives the entries, `dim()` the dimensions.", call = method_call("$")
  )
}

#' @export
format.xlaffi_sparse <- function(x, ...) {
  check_format_dots(...)
  sprintf("<%ssparse matrix %d x %d of %s with %d entries>", if (x@pattern$symmetric) "symmetric " else "",
    x@pattern$nrow, x@pattern$ncol, x@values@dtype, length(x@pattern$i)
  )
}

#' @export
print.xlaffi_sparse <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
t.xlaffi_sparse <- function(x) {
  pattern <- x@pattern
  if (pattern$symmetric) {
    return(x)
  }
  sparse_from(pattern_columns(pattern), pattern$i, x@values, pattern$ncol, pattern$nrow)
}

#' @export
as.matrix.xlaffi_sparse <- function(x, ...) {
  check_dots_empty(...)
  x <- as_general(x)
  pattern <- x@pattern
  # By rows, as values lie
  at <- pattern$i * pattern$ncol + pattern_columns(pattern)
  reshaped(scattered_at(x@values, at, pattern$nrow * pattern$ncol), dim(x))
}

# The diagonal, with zeros where there is no entry
sparse_diagonal <- function(x) {
  pattern <- x@pattern
  here <- which(pattern$i == pattern_columns(pattern))
  size <- min(dim(x))
  values <- taken(x@values, here, 1L)
  if (length(here) == size) {
    return(values)
  }
  scattered_at(values, pattern$i[here], size)
}

# Sums of rows, or of columns
sparse_sums <- function(x, rows) {
  x <- as_general(x)
  at <- if (rows) x@pattern$i else pattern_columns(x@pattern)
  zeros <- filled(0, new_type(x@values@dtype, if (rows) x@pattern$nrow else x@pattern$ncol))
  scattered("add", zeros, constant(at, "i32", length(at), "index"), x@values, 1L)
}
