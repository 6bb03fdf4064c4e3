# Results of all kinds for what users write: types, programs and rules. tools/fuzz/results.R runs them for a time.

pick_one <- function(pool) pool[[sample.int(length(pool), 1L)]]

maybe <- function(chance) stats::runif(1L) < chance

random_dtype <- function() {
  good <- c("f64", "f32", "i32", "pred", "c128", "i64", "ui8", "bf16", "f8e5m2", "bool", "s8", "u16")
  bad <- list(
    "f65", "", NA_character_, NULL, NA, 1, c("f32", "f64"), "F64", "token", list("f64"), quote(f64),
    dtype(ffi_type("i8")), strrep("f", 1000L), "f64 ", factor("f64"), sum, ffi_type("f64"), "\u00e9", "a\xffb"
  )
  if (maybe(0.7)) sample(good, 1L) else pick_one(bad)
}

random_shape <- function() {
  bad <- list(
    NULL, NA, -1, 1.5, NaN, Inf, -Inf, 1e300, 2^31, 2^31 - 1, c(2^31 - 1, 2^31 - 1), c(2^31 - 1, 2^31 - 1, 0),
    rep(65536, 4), "2", TRUE, 1i, list(2, 3), list(2, list(3)), integer(), rep(1, 40), c(2, NA), c(a = 2, b = 3),
    matrix(1:4, 2), as.name("n"), bit64::as.integer64(3), raw(2), sum, -0.0, factor(2), c(0, 2, 0)
  )
  if (maybe(0.7)) sample(0:4, sample(0:3, 1L), replace = TRUE) else pick_one(bad)
}

# `x` is a value of the program that is being written.
random_leaf <- function(x) {
  type <- function() ffi_type(sample(c("f64", "f32", "i32", "pred", "c128"), 1L), sample(0:3, sample(0:2, 1L), TRUE))
  good <- list(
    function() x, function() x * 2, function() x > 1, function() sum(x), type, type, type, function() 1,
    function() c(1, 2), function() 3L, function() TRUE, function() matrix(1:4, 2), function() 1i,
    function() hlo_constant(1:3), function() bit64::as.integer64(2), function() array(0, c(0, 3))
  )
  bad <- list(
    function() NULL, function() NA, function() NaN, function() NA_integer_, function() "f64", function() "a",
    function() character(), function() list(), function() list(NULL), function() raw(2), function() as.name("x"),
    function() quote(x + 1), function() y ~ x, function() expression(a), function() globalenv(), function() sum,
    function() function() 1, function() factor("a"), function() Sys.Date(), function() as.POSIXlt(Sys.time()),
    function() data.frame(a = 1), function() ffi_type(random_dtype(), random_shape()), function() hlo_token(),
    function() ffi_type("token"), function() methods::new("externalptr"), function() hlo_add, function() Inf,
    function() array(1, rep(1, 40)), function() structure(list(), class = "xlaffi_type"),
    function() structure(list(), class = "xlaffi_value"), function() structure(1, class = "xlaffi_value"),
    function() dtype(x), function() matrix(list(x, 1), 1), function() pairlist(x), function() xla_jit(sum),
    function() pjrt_scalar(1), function() 1e300, function() .Machine$integer.max, function() c(TRUE, NA),
    function() structure(1:2, names = c("a", NA)), function() emptyenv(), function() 2^60
  )
  pick_one(if (maybe(0.6)) good else bad)()
}

random_results <- function(x, depth = 3L) {
  if (depth == 0L || maybe(0.5)) {
    return(random_leaf(x))
  }
  results <- lapply(seq_len(sample(0:3, 1L)), function(i) random_results(x, depth - 1L))
  if (maybe(0.5)) {
    names(results) <- sample(c("a", "b", "a", "", "sin", "lu", "x y", "\u00e9"), length(results), replace = TRUE)
  }
  if (maybe(0.02)) names(results) <- rep(NA_character_, length(results))
  results
}

# The types of what `f` gives; its program is compiled now and then.
result_types <- function(f, ...) {
  traced <- trace_program(f, argument_types(list(...)))
  if (maybe(0.02)) pjrt_compile(pjrt_program(written_program(traced$region, NULL, "cpu", FALSE)$text))
  tree_leaves(traced$results)
}

# What is wrong with the types of what came for `given`
other_types <- function(given, types) {
  force(types)
  want <- lapply(tree_leaves(given), function(leaf) {
    if (methods::is(leaf, "xlaffi_typed")) type_of(leaf) else new_type(r_dtype(leaf), r_shape(leaf))
  })
  if (!identical(want, unname(types))) sprintf("%s for %s", types_text(types), types_text(want))
}

# What users can give results for. Each gives NULL, or what is wrong with what came out.
result_cases <- list(
  type = function() {
    dtype <- random_dtype()
    shape <- random_shape()
    type <- ffi_type(dtype, shape)
    if (!identical(as.numeric(shape(type)), as.numeric(unlist(shape)))) "another shape"
  },
  call = function() {
    given <- random_results(hlo_constant(c(1, 2)))
    target <- sample(c("kepler", "lu", "print_tensor", "qr"), 1L)
    types <- result_types(ffi_call(target, given), c(1, 2))
    # A function gives others each time.
    if (!is.function(given)) other_types(given, types)
  },
  rule = function() {
    given <- NULL
    op <- ffi_call(sample(c("kepler", "lu"), 1L), function(...) given <<- random_results(..1))
    types <- result_types(op, c(1, 2), 1)
    other_types(given, types)
  },
  custom_call = function() {
    result_types(function(x) {
      hlo_custom_call("lu", random_results(x), random_results(x))
      x
    }, c(1, 2))
    NULL
  },
  program = function() {
    given <- NULL
    f <- function(x) given <<- random_results(x)
    if (maybe(0.9)) {
      types <- result_types(f, c(1, 2))
      return(other_types(given, types))
    }
    came <- xla_jit(f)(c(1, 2))
    data <- tree_leaves(given)
    same <- mapply(function(given, came) {
      is_value(given) || isTRUE(all.equal(as.vector(came), as.vector(given), check.attributes = FALSE))
    }, data, tree_leaves(came))
    if (length(data) != length(tree_leaves(came)) || !all(unlist(same))) "other data"
  },
  op = function() {
    given <- NULL
    types <- result_types(ffi_op(function(x) given <<- random_results(x)), c(1, 2))
    other_types(given, types)
  },
  jvp = function() {
    op <- ffi_op(function(x) list(a = x * 2, b = x > 1), jvp = function(p, r, t) random_results(pick_one(c(p, t))))
    result_types(function(x) xla_jvp(op)(x, x), c(1, 2))
    NULL
  },
  transpose = function() {
    linear <- ffi_op(function(x) x * 2, transpose = function(p, c) random_results(c))
    op <- ffi_op(function(x) x * 2, jvp = function(p, r, t) linear(t[[1L]]))
    result_types(function(x) xla_vjp(op)(x, x), c(1, 2))
    NULL
  },
  vmap = function() {
    op <- ffi_op(function(x) x * 2, vmap = function(arguments, axes, size) random_results(arguments[[1L]]))
    result_types(xla_vmap(op), matrix(1, 2, 3))
    NULL
  },
  mapped = function() {
    result_types(xla_vmap(function(x) random_results(x), out_axes = pick_one(list(1, 2, NULL, 0))), matrix(1, 2, 3))
    NULL
  },
  loop = function() {
    init <- random_results(hlo_constant(1))
    result_types(function(x) {
      hlo_while(
        function(...) if (maybe(0.7)) x[1] < 1 else random_results(x),
        function(...) if (maybe(0.5)) list(...) else random_results(x), init
      )
      x
    }, c(1, 2))
    NULL
  }
)

# One random call: NULL, or what was found.
fuzz_result <- function(seed) {
  set.seed(seed)
  name <- sample(names(result_cases), 1L)
  found <- tryCatch(
    withCallingHandlers(result_cases[[name]](), warning = function(w) stop("warning: ", conditionMessage(w))),
    xlaffi_error = function(e) if (!any(grepl("^xlaffi_error_", class(e)))) "an error without a code",
    error = function(e) sprintf("%s from `%s`", conditionMessage(e)[[1L]], deparse(conditionCall(e), nlines = 1L)[[1L]])
  )
  if (!is.null(found)) sprintf("seed %d (%s): %s", seed, name, found)
}
