# Values of all kinds: garbage, and objects of the package.

fuzz_environment <- function() {
  pointer <- methods::new("externalptr")
  # A pointer of another library: what is behind it is not ours.
  foreign <- getDLLRegisteredRoutines("stats")$.Call[[1]]$address
  methods::setClass("FuzzS4", representation(x = "numeric"), where = globalenv())
  client <- xlaffi::pjrt_client()
  buffer <- xlaffi::pjrt_buffer(matrix(c(4, 1, 1, 3), 2), "f64")
  deleted <- xlaffi::pjrt_buffer(c(1, 2), "f32")
  source <- "func.func @main(%x: tensor<2x2xf64>) -> tensor<2x2xf64> { return %x : tensor<2x2xf64> }"
  program <- xlaffi::pjrt_program(source)
  executable <- xlaffi::pjrt_compile(program)
  # Objects whose pointers are gone, as readRDS() brings them back.
  stale <- function(x) unserialize(serialize(x, NULL))
  latin <- "\xe9\xe8"
  Encoding(latin) <- "latin1"
  invalid <- "a\xffb"
  good <- list(
    buffer, executable, program, client, xlaffi::devices(client)[[1]], xlaffi::pjrt_device("cpu:0"),
    xlaffi::ffi_type("f64", c(2, 2)), xlaffi::ffi_type("i32"), xlaffi::xla_jit(function(x) x + 1), deleted,
    xlaffi::pjrt_plugin("cpu"), xlaffi::ffi_handler("lu", "cpu"), xlaffi::dtype(buffer),
    function(x) x, function(x, y) x * y,
    function(...) list(...), diag(2), matrix(rnorm(9), 3), array(rnorm(12), c(3, 2, 2)), c(1, 2, 3), 0.5, 1L, 2L, TRUE,
    "f64", "f32", "cpu", "lu", "kepler", "L", c(2L, 2L), list(1, 2), list(a = 1, b = list(c = 2)), source,
    xlaffi::pjrt_scalar(1, "f64"), xlaffi::pjrt_buffer(1:3), xlaffi::flatten(list(a = 1, b = 2)),
    xlaffi::pjrt_execution_options()
  )
  bad <- list(
    NULL, NA, NA_integer_, NA_real_, NA_character_, NaN, Inf, -Inf, -1, 0, 1e300, -1e300, 2^31, 2^53, 2^63, .5, 1i,
    complex(real = NaN, imaginary = Inf), integer(), double(), character(), logical(), list(), raw(), raw(7),
    as.raw(255),
    "", " ", "\u00e9\u4e2d", latin, invalid, "no such thing", strrep("x", 1e5), c("a", NA), c(a = 1, b = 2),
    c("a", "b"),
    factor(c("u", "v")), Sys.Date(), Sys.time(), as.POSIXlt(Sys.time()), bit64::as.integer64(c(1, NA)), quote(x),
    quote(f(x, y)), y ~ x, expression(a, b), globalenv(), emptyenv(), new.env(), sum, function() stop("own"),
    function(x, ...) NULL, function(x) "text", pointer, foreign, methods::new("FuzzS4", x = 1),
    data.frame(a = 1:2, b = 3:4),
    array(0, c(0, 3)), array(0, c(2, 0, 2)), array(1, rep(1, 40)), structure(1:4, dim = c(2L, 2L), class = "odd"),
    structure(list(), class = "xlaffi_buffer"), structure(pointer, class = "xlaffi_buffer"),
    structure(pointer, class = "xlaffi_executable"), structure(foreign, class = "xlaffi_client"),
    structure(list(pointer), class = "xlaffi_program"), structure(list(1), class = c("xlaffi_jit", "function")),
    structure(pointer, class = "PJRTBuffer"), stale(buffer), stale(executable), stale(program), stale(client), 1:1e5,
    list(list(list(list(NULL)))), list(a = 1, a = 2), stats::setNames(list(1, 2), c("a", NA)), pairlist(a = 1),
    c(TRUE, NA), matrix(list(1, 2, 3, 4), 2), matrix("a", 2, 2), -0.0, .Machine$integer.max, -.Machine$integer.max,
    c(NaN, 1), c(-1L, 2L), c(1.5, 2), c(2^31, 2), matrix(NaN, 2, 2), "f8e5m2", "i2",
    "pred", "token", as.name("missing"),
    structure(1, dim = 1L), structure(c(1, 2), names = c("", NA)), .leap.seconds, Sys.getpid, new.env(hash = FALSE)
  )
  list(good = good, bad = bad)
}

# Functions that act on the machine, not on their arguments alone.
fuzz_left_alone <- c("install_pjrt")

pick <- function(values) {
  pool <- if (stats::runif(1) < 0.55) values$good else values$bad
  value <- pool[[sample.int(length(pool), 1L)]]
  if (stats::runif(1) < 0.05) list(value) else value
}

# A call's arguments: the formals, some left out, some by position, some more than there are.
fuzz_arguments <- function(f, values) {
  names <- names(formals(args(f)))
  arguments <- list()
  for (name in setdiff(names, "...")) {
    if (stats::runif(1) < 0.75) {
      value <- list(pick(values))
      if (stats::runif(1) < 0.6) names(value) <- name
      arguments <- c(arguments, value)
    }
  }
  extra <- if ("..." %in% names) sample(0:3, 1L) else sample(0:1, 1L, prob = c(0.95, 0.05))
  for (i in seq_len(extra)) {
    value <- list(pick(values))
    if (stats::runif(1) < 0.3) names(value) <- sample(c("x", "M", "e", "unknown", "", "dtype"), 1L)
    arguments <- c(arguments, value)
  }
  arguments
}
