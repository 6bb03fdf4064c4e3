#' An elementwise op from one expression
#'
#' Makes an op of an expression for one element: it is compiled as a loop in C and as a kernel for CUDA, works on arrays
#' whose shapes broadcast, and knows its derivatives.
#'
#' @details
#' The expression is R code and means what R means by it: `x^2` and `x**2` are powers, `/` is never cut off to whole
#' numbers, `ifelse(a, b, c)` chooses, `pmin()`, `pmax()`, `abs()`, `sign()`, `round()`, `Re()`, `Im()`, `Conj()` and
#' `Mod()` are R's. A real result that is given a complex number is an error. Other functions are those of C's
#' `<math.h>`, in the precision of what they are given, or come from `support`. Statements are separated by `;` or
#' lines; names that are no results are variables, of the type of what they are given; a result has its dtype from then
#' on: `d = x - y; z = d * d`. What R cannot read is taken for C as it is (`z = x > 0 ? x : 0`), where `/` of whole
#' numbers is cut off, and `&` and `|` are of bits. Then there are no derivatives but by `jvp` or `vjp`, and what C
#' means otherwise than R is refused: `^`, a quotient of whole numbers such as `1/2`, and the functions `abs()`
#' (`fabs()` in C), `gamma()` (`tgamma()`), `logb()` (`log()`) and `round()` (`rint()`). Arithmetic of whole numbers
#' wraps around, as in C, where R has NA; shorter ones than 32 bits are computed with as i32. Where that of constants
#' such as `2L`, which are C's `int`, would wrap it is refused.
#'
#' Shapes broadcast as numpy's: axes are matched from the last one on, where they have one length or one of them has
#' length 1. Operands are not repeated in memory: for those that stay the same along the last axes a loop of its own is
#' compiled when it is first needed. Only where the last axes are short, and a loop along them would not pay, operands
#' are repeated. Long arrays are worked on by several threads.
#'
#' On CUDA the same expression is a kernel, with a thread for each element, unless there are complex numbers among the
#' operands and results. It is compiled by NVRTC when it is first called, or with the op if CUDA's plugin is loaded by
#' then. `support` must be code that C and CUDA's C++ both take.
#'
#' Where there is no rule, derivatives are those of the same expression in operations of XLA, as far as
#' [values][xlaffi_value] have its functions.
#'
#' @param signature Operands, attributes and results, see [ffi_signature()], without dimensions:
#'   `"x: T, y: T; alpha: f64 = 1 -> z: T"`.
#' @param expression One string or several: assignments.
#' @param name The op's name.
#' @param ... More arguments of [ffi_source()]: `support`, `flags`, `libraries`, `native` and the like.
#' @param jvp,vjp Rules for derivatives in place of the expression's own, see [ffi_op()].
#' @inheritParams ffi_source
#' @return An op, class `xlaffi_own_op`.
#' @seealso [ffi_source()] for ops that are not elementwise.
#' @examplesIf plugins_downloaded() && nzchar(Sys.which("gcc"))
#' square <- ffi_elementwise("x: T, y: T -> z: T", "z = (x - y) * (x - y)")
#' square(c(1, 2, 3), 1)
#' xla_grad(function(x) sum(square(x, 1)))(c(1, 2, 3))
#'
#' huber <- ffi_elementwise("x: T; delta: f64 = 1 -> z: T",
#'   "z = ifelse(abs(x) < delta, x^2 / 2, delta * (abs(x) - delta / 2))"
#' )
#' huber(c(-3, 0.5), delta = 2)
#' @export
ffi_elementwise <- function(signature, expression, name = NULL, dtypes = list(), jvp = NULL, vjp = NULL, ...) {
  check_string(signature, "signature")
  given <- read_signature(signature)
  if (is.null(name)) {
    name <- paste0("elementwise_", substr(text_digest(c(signature, expression)), 1L, 8L))
  }
  check_op_name(name, environment())
  check_elementwise(given, name)
  check_rules(list(jvp = jvp, vjp = vjp), name)
  code <- elementwise_code(expression, given, dtypes, name)
  code$widened <- widened_operands(given, code, dtypes, name)
  loops <- new.env(parent = emptyenv())
  options <- list(dtypes = dtypes, ...)
  call <- environment()
  loop <- function(along) {
    key <- paste(c("of", along), collapse = " ")
    if (is.null(loops[[key]])) {
      assign(key, elementwise_loop(given, code, name, along, options, call), envir = loops)
    }
    loops[[key]]
  }
  # What does not compile is an error here.
  dtypes <- attr(loop(names(given$operands)), "op")$own$dtypes
  check_computable(c(unlist(dtypes), array_dtypes(given)), name)
  if (is.null(jvp) && is.null(vjp)) {
    jvp <- elementwise_jvp(code, given, name)
  }
  run <- function(own, attributes) {
    force(attributes)
    function(...) elementwise_call(name, list(...), attributes, loop)
  }
  vmap <- function(arguments, axes, size, attributes) {
    do.call(run(NULL, attributes), elementwise_batch(arguments, axes, size))
  }
  own_function(list(
    name = name, signature = given, dtypes = dtypes, call = run, rules = list(jvp = jvp, vjp = vjp, vmap = vmap)
  ))
}

# C takes the sum of -1 and an unsigned 1 for an unsigned number, and compares them so. Operands of ui32 are computed
# with as i64 where there are signed integers of 32 bits or less, or constants; for ui64 there is no such dtype. Where
# the expression is C it means what it means there.
widened_operands <- function(signature, code, dtypes, name, call = rlang::caller_env()) {
  sets <- lapply(c(signature$operands, signature$attributes), function(spec) {
    if (spec$dtype %in% names(dtypes)) dtypes[[spec$dtype]] else spec$dtype
  })
  signed <- names(Filter(function(set) any(grepl("^i[0-9]", set)), sets))
  short <- names(Filter(function(set) any(set %in% c("i8", "i16", "i32")), sets))
  beside <- function(x, others) any(vapply(setdiff(others, x), function(other) !identical(kind(x), kind(other)), NA))
  kind <- function(x) c(signature$operands, signature$attributes)[[x]]$dtype
  operands <- if (!is.null(code$calls)) names(signature$operands)
  constants <- any(vapply(code$calls, has_integer, NA))
  widened <- character()
  for (x in operands) {
    if ("ui64" %in% sets[[x]] && beside(x, signed)) {
      text <- "%s: `%s` is ui64, and there are signed integers beside it, for which R has no common type"
      abort(sprintf(text, name, x),
        "UNIMPLEMENTED", op = name, operand = x, hint = "`hlo_convert()` gives arguments another dtype.", call = call
      )
    }
    if ("ui32" %in% sets[[x]] && (constants || beside(x, short))) {
      if (!identical(sets[[x]], "ui32")) {
        abort(sprintf("%s: `%s` may be ui32, and there are signed integers beside it", name, x), "UNIMPLEMENTED",
          op = name, operand = x, hint = "Give it the dtype \"ui32\" itself, or another one.", call = call
        )
      }
      widened <- c(widened, x)
    }
  }
  widened
}

has_integer <- function(x) is.integer(x) || is.call(x) && any(vapply(as.list(x)[-1L], has_integer, NA))

array_dtypes <- function(signature) {
  vapply(c(signature$operands, signature$results), `[[`, "", "dtype")
}

check_elementwise <- function(signature, name, call = rlang::caller_env()) {
  refuse <- function(text) {
    abort(sprintf("%s: %s", name, text), op = name, operand = "signature", call = call)
  }
  for (array in c(signature$operands, signature$results)) {
    if (length(array$dims) || array$order != "row" || isTRUE(array$optional) || !is.null(array$count)) {
      refuse(sprintf("`%s`: operands and results of an elementwise op have a name and a dtype only", array$text))
    }
    if (isTRUE(array$in_place)) {
      refuse(sprintf("`%s` cannot be an operand and a result", array$name))
    }
  }
  names <- names(c(signature$operands, signature$attributes, signature$results))
  constants <- intersect(names, c("Inf", "NaN", "TRUE", "FALSE"))
  if (length(constants)) {
    refuse(sprintf("`%s` cannot be a name: in an expression it is a constant of R", constants[[1L]]))
  }
  if (length(signature$scratch) || !length(signature$operands) || !length(signature$results)) {
    refuse("an elementwise op has operands and results, and no scratch memory")
  }
}

# Those are bits to C compilers.
check_computable <- function(dtypes, name, call = rlang::caller_env()) {
  short <- intersect(dtypes, setdiff(dtypes_of_kind("float"), c("f32", "f64")))
  if (length(short)) {
    abort(sprintf("%s: C does not compute in %s", name, short[[1L]]), "UNIMPLEMENTED",
      op = name, operand = "dtypes", call = call
    )
  }
}

# Writes the call for operands whose shapes broadcast.
elementwise_call <- function(name, operands, attributes, loop) {
  shapes <- lapply(operands, function(x) x@shape)
  plan <- broadcast_plan(shapes, broadcast_shape(shapes, name))
  arranged <- Map(function(x, dims, repeats) {
    reshaped(if (repeats) broadcast_to(x, plan$shape) else x, dims)
  }, operands, plan$dims, plan$repeats)
  results <- do.call(loop(names(operands)[plan$along]), c(arranged, attributes))
  tree_map(results, reshaped, plan$shape)
}

broadcast_to <- function(x, shape) broadcast(x, shape, length(shape) - length(x@shape) + seq_along(x@shape))

broadcast_shape <- function(shapes, name) {
  rank <- max(lengths(shapes))
  shape <- vapply(seq_len(rank), function(axis) {
    lengths <- vapply(shapes, function(shape) {
      at <- axis - rank + length(shape)
      if (at < 1L) 1L else shape[[at]]
    }, 0L)
    other <- unique(lengths[lengths != 1L])
    if (length(other) > 1L) {
      abort(
        sprintf(
          "%s: the shapes of operands must broadcast, but %s", name,
          paste(sprintf("`%s` is %s", names(shapes), vapply(shapes, shape_text, "")), collapse = ", ")
        ),
        op = name, call = NULL,
        hint = "From the last axis on, lengths are equal or 1."
      )
    }
    if (length(other)) other else 1L
  }, 0L)
  if (prod(shape) >= 2^31) {
    abort(sprintf("%s: results of shape %s have 2^31 elements or more", name, shape_text(shape)), "UNIMPLEMENTED",
      op = name, call = NULL
    )
  }
  shape
}

# How long the last axes must be for a loop along them, and what of a long one a thread takes.
shortest_loop <- 32L
shortest_share <- 8192L

# The shape of the results and, for each operand, whether it changes `along` the last axes, whether it is first
# repeated, and the dimensions in which the loop takes it: those of a batch, and the last axes as one.
broadcast_plan <- function(shapes, shape) {
  rank <- length(shape)
  changes <- vapply(shapes, function(own) c(rep(FALSE, rank - length(own)), own != 1L), logical(rank))
  changes <- matrix(changes, rank, length(shapes))[shape != 1L, , drop = FALSE]
  sizes <- shape[shape != 1L]
  # Neighbours along which the same operands change are one axis.
  group <- cumsum(c(TRUE, rowSums(changes[-1L, , drop = FALSE] != changes[-nrow(changes), , drop = FALSE]) > 0L))
  group <- group[seq_along(sizes)]
  changes <- changes[!duplicated(group), , drop = FALSE]
  sizes <- as.integer(vapply(split(sizes, group), prod, 0))
  count <- length(sizes)
  whole <- count > 1L && (0L %in% sizes || sizes[[count]] < shortest_loop)
  repeats <- whole & colSums(changes) > 0L
  if (whole) {
    changes <- matrix(repeats, 1L)
    sizes <- as.integer(prod(sizes))
  } else if (!count) {
    changes <- matrix(TRUE, 1L, length(shapes))
    sizes <- 1L
  }
  along <- changes[nrow(changes), ]
  shares <- thread_shares(sizes)
  if (shares > 1L) {
    last <- length(sizes)
    changes <- changes[c(seq_len(last), last), , drop = FALSE]
    sizes <- c(sizes[-last], shares, sizes[[last]] %/% shares)
  }
  dims <- lapply(seq_along(shapes), function(i) {
    dims <- ifelse(changes[, i], sizes, 1L)
    if (!any(changes[, i])) integer() else if (along[[i]]) dims else dims[-length(dims)]
  })
  list(shape = shape, along = along, repeats = repeats, dims = dims)
}

# Into how many equal parts a long loop is cut, so that threads can share it.
thread_shares <- function(sizes) {
  size <- sizes[[length(sizes)]]
  if (prod(sizes[-length(sizes)]) >= 16 || size < 2L * shortest_share) {
    return(1L)
  }
  parts <- seq.int(min(64L, size %/% shortest_share), 1L)
  parts[size %% parts == 0L][[1L]]
}

# Arguments for a batch: its axis comes before those of the operand with the most.
elementwise_batch <- function(arguments, axes, size) {
  mapped <- !vapply(axes[names(arguments)], is.null, NA)
  ranks <- vapply(arguments, function(x) length(x@shape), 0L) - mapped
  Map(function(x, mapped, rank) {
    if (mapped) reshaped(x, c(size, rep(1L, max(ranks) - rank), x@shape[-1L])) else x
  }, arguments, mapped, ranks)
}
