# A program under construction is a graph: nodes point to the values that they take. Nodes are
# numbered as they are made, so the order of their numbers is an order of computation.

new_node <- function(op, inputs, types, params = list()) {
  # Making the inputs may make nodes: those come first.
  force(inputs)
  force(params)
  if ((any_token(inputs) || any_token(types)) && !op %in% of_tokens) {
    abort(sprintf("`%s` takes no token", op), op = op, hint = token_hint, call = NULL)
  }
  for (input in inputs) {
    check_living(input)
  }
  if (!is_tracing()) refuse_outside()
  checked_node(op, inputs, types, params)
}

# A node of inputs that are known to belong to this program
checked_node <- function(op, inputs, types, params) {
  trace_state$node_count <- trace_state$node_count + 1
  node <- new.env(parent = emptyenv(), size = 8L)
  node$id <- trace_state$node_count
  node$op <- op
  node$inputs <- inputs
  node$types <- types
  node$params <- params
  node$branch <- trace_state$branch
  node
}

# No program is being written that a function of this package could be a part of.
refuse_outside <- function() {
  name <- called_hlo()
  if (is.null(name)) {
    abort("a value of another program is used where none is being written", "FAILED_PRECONDITION", call = NULL,
      hint = "Values live as long as the function that is compiled is traced; its results leave it as data."
    )
  }
  abort(sprintf("%s: it is a part of programs, and none is being written here", name), "FAILED_PRECONDITION",
    op = name, call = NULL,
    hint = sprintf("Functions that are compiled may call it: `xla_jit(function(...) %s(...))(...)`.", name)
  )
}

# The name of the first function `hlo_...` that is being called, by whatever name the user has for it.
called_hlo <- function() {
  names <- grep("^hlo_", getNamespaceExports(topenv()), value = TRUE)
  known <- mget(names, topenv())
  for (i in seq_len(sys.nframe() - 1L)) {
    found <- names[vapply(known, identical, NA, sys.function(i))]
    if (length(found)) return(found[[1L]])
  }
}

# What a branch computes is there for nobody else: the branch may not have run.
check_living <- function(x) {
  if (isTRUE(x@node$branch$ended)) {
    abort(sprintf("a value of another program is used here: %s", format(x)),
      hint = "Values live as long as the function that is compiled is traced; its results leave it as data.",
      call = NULL
    )
  }
  if (isTRUE(x@node$branch$closed)) {
    abort(sprintf("a value of another branch is used here: %s", format(x)),
      hint = "Branches return what they compute; what `<<-` hands out of them does not exist where another one runs.",
      call = NULL
    )
  }
}

new_value <- function(node, index = 1L) {
  type <- node$types[[index]]
  value <- blank_value
  attr(value, "dtype") <- type@dtype
  attr(value, "shape") <- type@shape
  attr(value, "node") <- node
  attr(value, "index") <- index
  value
}

node_values <- function(node) lapply(seq_along(node$types), new_value, node = node)

# A node with one result.
bind <- function(op, inputs, dtype, shape, params = list()) {
  new_value(new_node(op, inputs, list(new_type(dtype, shape)), params))
}

# What a program or a region takes.
new_parameter <- function(type) bind("parameter", list(), type@dtype, type@shape)

# The same value under a new name: derivatives with respect to it see no other use of it.
alias_of <- function(x) labelled(bind("alias", list(x), x@dtype, x@shape), attr(x, "labels"))

#' Values of a program
#'
#' Inside [xla_jit()] and its kin, arguments are not numbers but *values*: places in a StableHLO
#' program that is being written. Arithmetic, comparisons, mathematical functions, `sum()`,
#' `max()`, `min()`, `mean()`, `t()`, `[`, `%*%`, `solve()` and the functions `hlo_*()` take values and give
#' values.
#'
#' @details
#' * R's own types, `pred`, `i32`, `f64` and `c128`, are converted as R converts logicals, integers, doubles and
#'   complex numbers: `i + 1` and `i / 2L` are `f64`, `i + 1L` is `i32`. Logicals go along with every dtype, and R
#'   numbers become constants of the value's dtype. A finite one that would become infinite in it is an error, but
#'   compared as in R. Other mixtures, `f32` with `f64` say, are an error: [hlo_convert()] changes the dtype.
#' * Integers wrap around where R gives NA with a warning. Divided by zero, `%/%` and `%%`, they give the smallest
#'   integer, which R reads as NA.
#' * Integers have no NA: data with it are refused (`as.double(x)` has NA, as NaN), and what is NA in R since it lies
#'   outside of a vector or was divided by zero is the least integer, with which arithmetic, sums and conversions to
#'   doubles give NA or NaN again; loops, ops and functions `hlo_*()` take it for a number.
#' * Shapes are equal, or one side is a vector that is repeated a whole number of times, down the columns of an array.
#'   Where R would warn there is an error.
#' * Elements are counted as in R, down the columns: in `as.vector(x)`, `matrix()`, `x[k]` of a matrix, `c()`, `rev()`,
#'   `sort()`. The functions `hlo_*()` count as StableHLO does, by rows.
#' * `x[i, j]`, `x[i]`, `x[cbind(i, j)]` and `x[[i]]` take what they take in R, and `x[i] <- value` gives a changed
#'   value the name `x`. Positions, negative ones and logicals of R's are known while the program is written. An integer
#'   (or whole) value is positions, too: outside of `x` there is NaN (for integers NA, for logicals FALSE), also for
#'   zeros and negative ones, which R would leave out; `x[-i]` leaves out one position. Known positions outside of
#'   integers and logicals are an error. What is assigned outside of `x` is dropped, and logicals are at most as many as
#'   `x` has elements. `x[x > 0]` has a length that is not known and is an error, `x[x > 0] <- 0` is not.
#' * Names of arguments, and those given by `names<-` and `dimnames<-`, are known while the program is written, and
#'   select as in R: `p["a"]`, `x[, "b"]`, `x[, colnames(x) == "b"]`. What is computed has none, nor have results: there
#'   a name is an error. A factor of R's is an index by its codes.
#' * Functions of R that are not named here give an error. So do the functions `hlo_*()` where no program is being
#'   written (`xlaffi_error_failed_precondition`): they do not compute with data. A finalizer that R calls meanwhile is
#'   no part of the program: compiled functions compute there as anywhere.
#' * R's functions take values in the code of the function that is compiled, and in functions, S3 and S4 methods and
#'   methods of reference classes of yours that it names or takes out of objects, as in `object$f(x)`. Not in S4 methods
#'   for operators and other primitive functions, nor in functions that come from `...` or by computed names, nor in
#'   `eval(parse())`.
#' * XLA may compute `x / 3` as `x * (1 / 3)` and fuse `x * y + z`, which differs from R in the last bit. It takes
#'   `exp(x) * exp(y)` for `exp(x + y)`, `log(exp(x))` for `x`, `sqrt(x^2)` for `abs(x)`, `crossprod(x, w * x)` of 1024
#'   rows or more for `crossprod(w * x, x)`, one triangle of it for both, and constants that follow one another
#'   together: so a result may be finite where in R a number on the way is too large (or the other way round, in such
#'   products), and more exact where one is too small. `xla_jit(f, exact = TRUE)` does none of this. A sum of 4096
#'   elements or more may take `exp(x)` for infinite from 709.44 on (`f32`: 88.38), where it overflows at 709.79
#'   (88.73). A complex number divided by 0 may be NaN where R has infinities.
#' * The sign of a zero is R's where one element is computed or moved. It may be the other where a sum, a product of
#'   matrices, a small whole power, `max()`, `min()` or a decomposition is 0, after `x + 0` and `x - 0`, where a complex
#'   number is divided, and in `asinh()`, `acosh()` and `atanh()` of complex numbers.
#' * A value of one axis is R's vector: `dim()` gives NULL for it and for a value without axes, [shape()] always
#'   the shape, [dtype()] the element type.
#'
#' @seealso [hlo_elementwise], [hlo_shape], [hlo_sum()], [hlo_dot()], [hlo_linalg], [hlo_while()],
#'   [hlo_custom_call()].
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(x, y) sqrt(sum((x - y)^2)))
#' f(c(1, 2, 3), c(1, 0, 3))
#' @name xlaffi_value
NULL

#' @export
dim.xlaffi_value <- function(x) if (length(x@shape) > 1L) x@shape

#' @export
length.xlaffi_value <- function(x) r_length(x@shape)

#' @export
format.xlaffi_value <- function(x, ...) {
  check_format_dots(...)
  sprintf("<value %s from %s>", type_text(x), x@node$op)
}

#' @export
print.xlaffi_value <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# What the console does with an S4 object
#' @usage NULL
#' @rdname xlaffi_value
#' @importFrom methods setMethod show
#' @export
setMethod("show", "xlaffi_typed", function(object) print(object))

# Any operand as a value: R data become constants, of the dtype and (one number) the shape of
# `like`, if it is given. `op` begins the messages.
as_value <- function(x, name, like = NULL, call = rlang::caller_env(), op = NULL) {
  check_not_missing(x, name, call)
  x <- r_data(x)
  check_operand(x, name, call, op)
  if (is_value(x)) {
    check_living(x)
    x
  } else if (is.null(like)) {
    constant(x, r_dtype(x), r_shape(x), name, call, op)
  } else {
    shape <- if (length(x) == 1L && is.null(dim(x))) like@shape else r_shape(x)
    constant(x, like@dtype, shape, name, call, op)
  }
}

check_operand <- function(x, name, call, op = NULL) {
  if (!is_value(x) && !is_data(x)) {
    hint <- if (inherits(x, "xlaffi_buffer")) "Pass the buffer as an argument of the function." else data_hint(x)
    abort(
      sprintf("%s`%s` must be a value of the program, numbers or logicals, not %s", start_of(op), name, describe(x)),
      op = op, operand = name, hint = hint, call = call
    )
  }
}

any_token <- function(types) {
  for (type in types) {
    if (is_token(type)) {
      return(TRUE)
    }
  }
  FALSE
}

# The kinds of nodes that take and give tokens; all others compute.
of_tokens <- c("after_all", "alias", "case", "custom_call", "op", "parameter", "scan", "while")

token_hint <- "Tokens are for `hlo_custom_call()`, `ffi_call()`, `hlo_while()` and `hlo_token()`."

check_no_token <- function(x, op, name, call) {
  if (is_value(x) && is_token(x)) {
    abort(sprintf("%s: `%s` is a token, not a number", op, name),
      op = op, operand = name, hint = token_hint, call = call
    )
  }
}

# A program's own arguments (types) and results (values)
check_no_tokens <- function(leaves, text) {
  if (any_token(leaves)) {
    abort(text, operand = "f", call = NULL, hint = paste(
      "`hlo_token()` makes a token inside of a program, where it stays.",
      "Calls with `has_side_effect = TRUE` are made though nobody takes their tokens."
    ))
  }
}
