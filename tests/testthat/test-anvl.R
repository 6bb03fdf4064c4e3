# With stand-ins for anvl and stablehlo, which take the calls that are made to the real ones: the recorded interface
# says which. tools/peers/check-bridge.sh runs the real ones.

interface <- read.csv(test_path("data", "anvl-0.2.csv"), colClasses = "character")

# Code for a process of its own: `lowered(f, ...)` runs a function of anvl's boxes on R data, by anvl's way to a
# program.
with_anvl <- function(libraries, code) {
  run <- run_r(c(
    libraries, "options(digits = 15)",
    "aval <- function(x) anvl::AbstractArray('f64', if (is.null(dim(x))) length(x) else dim(x))",
    "lowered <- function(f, ...) {",
    "  data <- list(...)",
    "  graph <- anvl::trace_fn(f, args_flat = lapply(data, aval), in_tree = data, mode = 'toplevel')",
    "  text <- stablehlo::repr(anvl::stablehlo(graph)[[1]])",
    "  constants <- lapply(graph$constants, function(x) {",
    "    pjrt_buffer(x$aval$data$data, as.character(x$aval$dtype), shape = x$aval$shape)",
    "  })",
    "  buffers <- c(constants, lapply(data, pjrt_buffer, dtype = 'f64'))",
    "  out <- do.call(pjrt_execute, c(pjrt_compile(pjrt_program(text)), buffers, simplify = FALSE))",
    "  anvl::unflatten(graph$out_tree, lapply(out, function(x) as.vector(as_array(x))))",
    "}",
    "same <- function(x, y) cat(isTRUE(all.equal(unlist(list(x)), unlist(list(y)), check.attributes = FALSE)), '\\n')",
    code
  ))
  expect_identical(run$status, 0L)
  trimws(run$output)
}

test_that("what is called of anvl and stablehlo is in the recorded interface, and the stand-ins have it", {
  called <- called_of_anvl()
  expect_identical(setdiff(called, paste0(interface$package, "::", interface$name)), character())
  expect_identical(setdiff(paste0(interface$package, "::", interface$name), called), character())
  ours <- xlaffi:::anvl_names
  ours$stablehlo <- sort(c(ours$stablehlo, xlaffi:::stablehlo_op_names), method = "radix")
  expect_identical(split(interface$name, interface$package), ours)
  for (package in c("anvl", "stablehlo")) {
    home <- new.env()
    sys.source(test_path("stand-ins", paste0(package, ".R")), home)
    wanted <- interface[interface$package == package, ]
    expect_identical(
      vapply(wanted$name, function(name) arguments_text(get(name, home)), "", USE.NAMES = FALSE), wanted$arguments
    )
  }
})

test_that("a version of stablehlo that lacks what is used is told", {
  skip_unless_all()
  code <- readLines(test_path("stand-ins", "stablehlo.R"))
  names <- setdiff(stand_in_names(test_path("stand-ins", "stablehlo.R")), c(".onLoad", "ValueId", "OpName"))
  library <- local_package("stablehlo", sprintf('"%s"', names), code)
  run <- run_r(c(
    local_anvl(), use_library(library),
    "told <- function(e) writeLines(conditionMessage(e))",
    "for (f in list(as_anvl, from_anvl)) tryCatch(f(function(x) x), error = told)"
  ))
  expect_snapshot(writeLines(sub("^.*Known", "i Known", run$output)))
})

test_that("as_anvl() makes primitives with derivatives of every order", {
  skip_without_plugin()
  code <- c(
    "x <- matrix(c(2, 1, 0, 3, 1, 1, 0.5, 2, 4), 3)",
    "values <- function(x) xla_svd(x)$d * c(1, 2, 3)",
    "f <- as_anvl(values, name = 'values')",
    "class(f)[[1]]; names(formals(f))",
    "same(lowered(function(x) f(x), x), values(x))",
    "cubes <- function(f) function(x) { y <- f(x); sum(y * y * y) }",
    "first <- function(f) function(x) anvl::gradient(f, 'x')(x)$x",
    "along <- function(g) function(x) { y <- g(x); sum(y * y) }",
    "same(lowered(first(cubes(f)), x), xla_grad(cubes(values))(x))",
    if (all_run()) "same(lowered(first(along(first(cubes(f)))), x), xla_grad(along(xla_grad(cubes(values))))(x))",
    # Lists, an argument that is no array, several results, one of them integers
    "g <- as_anvl(function(p, twice, scale = 3) {",
    "  lu <- xla_lu(p$a)",
    "  list(u = lu$u * scale, order = lu$p, twice = if (twice) 2 * p$b else p$b)",
    "})",
    "out <- lowered(function(a, b) g(list(a = a, b = b), TRUE), x, c(1, 2))",
    "names(out)",
    "same(out, list(3 * xla_lu(x)$u, xla_lu(x)$p, c(2, 4)))",
    "total <- function(a, b) { out <- g(list(a = a, b = b), FALSE, scale = 2); sum(out$u) + sum(out$twice) }",
    "same(lowered(function(a, b) anvl::gradient(total, c('a', 'b'))(a, b)$a, x, c(1, 2)),",
    "  xla_grad(function(a) 2 * sum(xla_lu(a)$u))(x))",
    "same(lowered(function(a, b) anvl::gradient(total, c('a', 'b'))(a, b)$b, x, c(1, 2)), c(1, 1))"
  )
  for (version in c(if (all_run()) "0.3", "0.4")) {
    expect_identical(with_anvl(local_anvl(version), code), c(
      "[1] \"JitPrimitive\"", "[1] \"x\"", rep("TRUE", if (all_run()) 3L else 2L),
      "[1] \"u\"     \"order\" \"twice\"", "TRUE", "TRUE", "TRUE"
    ))
  }
})

test_that("from_anvl() makes ops with derivatives of both modes and batches", {
  skip_without_plugin()
  second_order <- c(
    "same(xla_hessian(loss(op))(x, y), xla_hessian(loss(own))(x, y))",
    "twice <- function(op) function(x) sum(xla_grad(loss(op))(x, y)^2)",
    "same(xla_grad(twice(op))(x), xla_grad(twice(own))(x))"
  )
  output <- with_anvl(local_anvl(), c(
    "weights <- anvl::nv_array(c(1, 2, 3))",
    "g <- function(p, y) list(cubes = p$x * p$x * p$x * weights, total = sum(p$x * y))",
    "own <- function(p, y) list(cubes = p$x^3 * c(1, 2, 3), total = sum(p$x * y))",
    "op <- from_anvl(g)",
    "x <- c(0.5, -1, 2); y <- c(1, 0, 3)",
    "same(op(list(x = x), y), own(list(x = x), y))",
    "loss <- function(op) function(x, y) { out <- op(list(x = x), y); sum(out$cubes)^2 * out$total }",
    "same(xla_grad(loss(op), 1:2)(x, y), xla_grad(loss(own), 1:2)(x, y))",
    "change <- list(c(1, 0, 0), c(0, 1, 1))",
    "same(xla_jvp(loss(op))(list(x, y), change), xla_jvp(loss(own))(list(x, y), change))",
    if (all_run()) second_order,
    "m <- rbind(x, 2 * x)",
    "same(xla_vmap(function(x) op(list(x = x), y))(m), xla_vmap(function(x) own(list(x = x), y))(m))",
    # In a loop, and one in the other
    "steps <- function(op) function(x) hlo_fori(1, 3, function(i, x) x + 0.1 * op(list(x = x), y)$cubes, x)",
    "same(xla_jit(steps(op))(x), xla_jit(steps(own))(x))",
    "scaled <- function(op) function(x) op(list(x = x), y)$total * x",
    "back <- as_anvl(scaled(op))",
    "same(lowered(function(x) anvl::gradient(function(x) sum(back(x)), 'x')(x)$x, x),",
    "  xla_grad(function(x) sum(scaled(own)(x)))(x))",
    "any(grepl('stablehlo_text', format(xla_graph(op, list(x = x), y))))",
    # 64-bit integers that are no doubles
    "wide <- bit64::as.integer64('9007199254740993') + 0:1",
    "held <- anvl::nv_array(wide, 'i64')",
    "identical(xla_jit(from_anvl(function(x) x + held))(wide), wide + wide)"
  ))
  expect_identical(output, c(rep("TRUE", if (all_run()) 8L else 6L), rep("[1] TRUE", 2L)))
})

test_that("what cannot be done with anvl is told", {
  skip_without_plugin()
  skip_unless_all()
  output <- with_anvl(local_anvl(), c(
    "told <- function(expression) tryCatch({expression; cat('nothing\\n')}, error = function(e) {",
    "  cat(class(e)[[1]], sub('\\n.*', '', cli::ansi_strip(conditionMessage(e))), '\\n')",
    "})",
    "told(lowered(as_anvl(function(x) x + 0i), c(1, 2)))",
    "told(lowered(as_anvl(function(x) NULL), c(1, 2)))",
    "random <- ffi_callback(function(x) x + 1, 'x: f64[n] -> y: f64[n]', side_effect = TRUE, jvp = 'numeric')",
    "f <- as_anvl(function(x) random(x) * x, name = 'noisy')",
    "told(lowered(function(x) anvl::gradient(function(x) sum(f(x)), 'x')(x)$x, c(1, 2)))",
    "told(from_anvl(function(x) x * x)(c(1i, 2)))",
    "outer <- function(x) { op <- from_anvl(function(y) y * x); as_anvl(function(z) op(z))(x) }",
    "told(lowered(outer, c(1, 2)))",
    # Printing is no part of a derivative
    "say <- as_anvl(function(x) { hlo_custom_call('print_tensor', x, list(), has_side_effect = TRUE); x * x })",
    "x <- lowered(function(x) anvl::gradient(function(x) sum(say(x)), 'x')(x)$x, c(1, 2)); print(x)"
  ))
  expect_snapshot(writeLines(output))
  expect_snapshot(error = TRUE, as_anvl(1))
  expect_snapshot(error = TRUE, from_anvl("sin"))
})

test_that("that anvl is not installed is told", {
  skip_if(requireNamespace("anvl", quietly = TRUE), "anvl is installed")
  expect_snapshot(error = TRUE, as_anvl(sin))
  expect_snapshot(error = TRUE, from_anvl(sin))
})
