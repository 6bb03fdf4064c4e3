#' Linear algebra
#'
#' Matrix factorisations and solvers for one matrix or a batch of them, compiled by XLA: QR
#' ([xla_qr()]), LU ([xla_lu()]), singular values ([xla_svd()]), eigenvalues of symmetric and
#' Hermitian matrices ([xla_eigh()]), Cholesky ([xla_chol()]) and linear systems ([xla_solve()]).
#'
#' @section Shapes:
#' A matrix is the last two axes of its argument, and all axes before count a batch: an array of
#' dimensions `c(100, 4, 3)` is 100 matrices of 4 rows and 3 columns, `x[i, , ]` the i-th. Every
#' matrix of a batch is treated as if it were alone, and batches are worked on in parallel. Any
#' dimension may be 0.
#'
#' @section Arguments and results:
#' As in [xla_jit()]: R matrices and arrays give R arrays, a buffer gives buffers, and in a function
#' that is being compiled a [value][xlaffi_value] gives values. Programs are compiled once for each dtype
#' and shape and kept. Dimnames are dropped.
#'
#' @section Precision:
#' R's numbers are computed in double precision (`f64`, complex numbers `c128`), integers and
#' logicals as doubles. Buffers and values are computed in their own dtype, which must be `f32`, `f64`, `c64`
#' or `c128`; `dtype` converts before.
#'
#' @section What cannot be computed:
#' Nothing is an error that depends on the numbers: the matrix concerned gives NaN (or infinities, as
#' the page of the function tells), its neighbours in the batch are right. NA counts as NaN.
#'
#' @section Derivatives:
#' All have rules for [xla_jvp()], [xla_vjp()] and [xla_grad()], of any order, for real and for complex
#' matrices. The pages tell where a derivative does not exist and what comes out.
#' The formulas follow M. Giles, "An extended collection of matrix derivative results for forward
#' and reverse mode algorithmic differentiation", Oxford University Computing Laboratory, report
#' NA-08/01 (2008), M. Seeger and others, "Auto-Differentiating Linear Algebra", arXiv:1710.08717
#' (2017) and I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527 (2016).
#' @examplesIf plugins_downloaded()
#' # 100 least squares problems of 4 equations and 2 unknowns, by QR, in one program
#' fit <- xla_jit(function(x, y) {
#'   parts <- xla_qr(x)
#'   xla_solve(parts$r, hlo_matmul(hlo_t(parts$q), y))
#' })
#' x <- array(rnorm(800), c(100, 4, 2))
#' y <- array(rnorm(400), c(100, 4, 1))
#' b <- fit(x, y)
#' all.equal(b[7, , 1], qr.solve(x[7, , ], y[7, , 1]))
#' @name xla_linalg
NULL

linalg_dtypes <- c("f32", "f64", "c64", "c128")

# The argument of a wrapper, ready for xla_jit(): (..., m, n), R data as doubles or complex.
check_matrices <- function(x, name, dtype, square = FALSE, call = rlang::caller_env()) {
  x <- check_numbers(x, name, dtype, call)
  dims <- argument_type(x, name, call)@shape
  rank <- length(dims)
  if (rank < 2L || (is.null(dim(x)) && !is_on_device(x))) {
    abort(sprintf("`%s` must be a matrix or an array of matrices, not %s", name, dims_text(x, dims)),
      operand = name, call = call
    )
  }
  if (square && dims[[rank]] != dims[[rank - 1L]]) {
    abort(sprintf("`%s` must have square matrices, not %d x %d", name, dims[[rank - 1L]], dims[[rank]]),
      operand = name, call = call
    )
  }
  x
}

dims_text <- function(x, dims) {
  if (is.null(dim(x)) && !is_on_device(x)) {
    sprintf("a vector of length %d", length(x))
  } else {
    sprintf("an array of shape %s", shape_text(dims))
  }
}

# Numbers of a dtype that the handlers take, or R numbers that become some.
check_numbers <- function(x, name, dtype, call) {
  if (!is_on_device(x)) {
    x <- r_data(x)
    if (!is_data(x)) {
      abort(sprintf("`%s` must be a matrix of numbers, a buffer or a value, not %s", name, describe(x)),
        operand = name, hint = data_hint(x), call = call
      )
    }
    if (is.integer(x) || is.logical(x)) storage.mode(x) <- "double"
  }
  own <- argument_type(x, name, call)@dtype
  if (is.null(dtype)) {
    if (!own %in% linalg_dtypes) {
      abort(sprintf("`%s` has dtype %s, but must have one of %s", name, own, toString(linalg_dtypes)),
        operand = name, hint = "The argument `dtype` converts.", call = call
      )
    }
  } else if (is_complex(own) && !is_complex(dtype)) {
    abort(sprintf("`%s` is complex, which dtype %s cannot hold", name, dtype), operand = "dtype", call = call)
  }
  x
}

check_linalg_dtype <- function(dtype, call = rlang::caller_env()) {
  if (is.null(dtype)) {
    return(NULL)
  }
  dtype <- check_dtype(dtype, "dtype", call)
  if (!dtype %in% linalg_dtypes) {
    abort(sprintf("`dtype` must be one of %s, not %s", toString(linalg_dtypes), dtype),
      operand = "dtype", call = call
    )
  }
  dtype
}

check_uplo <- function(uplo, call = rlang::caller_env()) {
  if (!identical(uplo, "L") && !identical(uplo, "U")) {
    abort(sprintf("`uplo` must be \"L\" or \"U\", not %s", describe(uplo)), operand = "uplo", call = call)
  }
}

# What `run`, which checks the arguments and ends with run_linalg(), gives. Where that went well before for
# arguments of these types, which `key` completes, the program that it ran is run at once: a small matrix is
# factored in the time that the checks take.
checked_once <- function(key, arguments, program, run) {
  result <- if (!program) run_known(key, arguments)
  if (!is.null(result)) {
    return(result)
  }
  signature <- if (!program && !is_tracing()) .Call(wrap__signature, key, arguments)
  call <- if (!is.null(signature)) jit_state$calls[[signature]]
  if (!is.null(call)) {
    return(run_again(call, arguments))
  }
  result <- run
  ran <- jit_state$ran
  jit_state$ran <- NULL
  if (!is.null(signature) && !is.null(ran)) {
    # Not where something was converted on the way
    same <- identical(.Call(wrap__signature, "", arguments), .Call(wrap__signature, "", ran$arguments))
    call <- if (same) jit_state$calls[[.Call(wrap__signature, ran$identity, ran$arguments)]]
    if (!is.null(call)) {
      # A function of the package's own
      call$captured <- NULL
      remember_call(call, signature)
    }
  }
  result
}

# Runs a function of values on the arguments, converted to `dtype`, or gives its program.
run_linalg <- function(key, f, arguments, dtype, program) {
  compiled <- made_once(paste("run", key, dtype), function() {
    convert <- function(x) if (is.null(dtype)) x else hlo_convert(x, dtype)
    # Its trace depends on nothing of the session.
    lasting <- function() own_digest(list("linalg", key, dtype))
    new_jit(function(...) do.call(f, lapply(list(...), convert)), "function", list(), lasting = lasting)
  })
  if (program) {
    return(do.call(xla_program, c(compiled, arguments)))
  }
  result <- do.call(compiled, arguments)
  jit_state$ran <- list(identity = environment(compiled)$identity, arguments = arguments)
  result
}

# An op on matrices, with its rule for derivatives. A batch of its arguments is one of more axes.
matrix_op <- function(name, key, call, jvp) {
  made_once(paste(c("op", name, key), collapse = " "), function() {
    ffi_op(call, jvp, batch_in_front(call), name = name)
  })
}

# A call of a handler that takes and gives column-major matrices. Vectors, with an axis less, and
# numbers are batches by rows.
call_handler <- function(target, operands, results, attributes = list()) {
  operands <- tree_leaves(operands)
  layouts <- function(arrays) {
    lapply(arrays, function(x) if (rank_of(x) == rank_of(operands[[1L]])) "column")
  }
  hlo_custom_call(private_target(target), operands, results, attributes,
    operand_layouts = layouts(operands), result_layouts = layouts(tree_leaves(results))
  )
}

# The type of `x` without its last `less` axes, and with others behind
stacked_type <- function(x, dims, dtype = x@dtype, less = 2L) {
  new_type(dtype, c(x@shape[seq_len(rank_of(x) - less)], dims))
}

# Rows, columns, and the smaller of both
matrix_dims <- function(x) {
  dims <- utils::tail(x@shape, 2L)
  c(dims, min(dims))
}

# The sign of a determinant. R's is an integer. Other numbers than R's do not go together with integers.
as_sign <- function(sign) if (sign@dtype == "f64") hlo_convert(sign, "i32") else sign
