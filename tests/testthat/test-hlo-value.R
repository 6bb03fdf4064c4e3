test_that("no function of base R takes a value apart or changes it", {
  skip_without_plugin()
  looking <- list(
    deparse = deparse, dput = function(x) capture.output(dput(x)), str = function(x) capture.output(str(x)),
    print = function(x) capture.output(print(x)), show = function(x) capture.output(methods::show(x)),
    format = format, identical = function(x) identical(x, x), all.equal = function(x) all.equal(x, x),
    serialize = function(x) unserialize(serialize(x, NULL)), hash = rlang::hash, c = function(x) c(x, x),
    list = function(x) list(x, a = x), rapply = function(x) rapply(list(x), identity, how = "list"),
    unlist = unlist, unlist_list = function(x) unlist(list(x)), unclass = unclass,
    deparsed_call = function(x) deparse(as.call(list(as.name("f"), x))),
    deparsed_list = function(x) deparse(list(x)), try = function(x) try(do.call("stop", list(x)), silent = TRUE),
    error = function(x) try(do.call("hlo_reshape", list(x, c(7L, 7L))), silent = TRUE),
    summary = summary, object.size = utils::object.size, ls = ls, as.environment = as.environment,
    as.list = as.list, attributes = attributes, attr = function(x) attr(x, "node") <- NULL,
    class = function(x) class(x) <- NULL, dollar = function(x) x$node, set = function(x) x$node <- NULL,
    set2 = function(x) x[["node"]] <- NULL, rm = function(x) rm("node", envir = x), dump = function(x) {
      dump("x", file = tempfile(), envir = environment())
    }, expect_equal = function(x) expect_equal(x, x), asS4 = function(x) asS4(x, FALSE), cat = cat, paste = paste,
    is.na = is.na, rep = function(x) rep(x, 2), sapply = function(x) sapply(x, identity),
    split = function(x) split(x, 1)
  )
  for (name in one_in(5L, names(looking))) {
    found <- xla_jit(function(x) {
      tryCatch(suppressWarnings(looking[[name]](x)), xlaffi_error = function(e) NULL, error = function(e) NULL)
      expect_true(methods::is(x, "xlaffi_value"), label = name)
      expect_identical(format(x), "<value f64(3) from parameter>", label = name)
      x + 1
    })(c(1, 2, 3))
    expect_identical(found, c(2, 3, 4), label = name)
  }
})

test_that("values and types have no fields, and show what they are", {
  x <- NULL
  xla_program(function() x <<- hlo_constant(matrix(1, 2, 3)))
  expect_false(is.list(x) || is.vector(x) || is.environment(x) || is.function(x))
  expect_identical(names(x), NULL)
  expect_output(str(list(a = x, b = ffi_type("f32", 2))), "a: +<value f64\\(2, 3\\) from constant> *\n.* f32\\(2\\)")
  expect_snapshot(error = TRUE, {
    x
    methods::show(x)
    x$shape
    ffi_type("f32", 3)
    ffi_type("f32", 3)$dtype
    all.equal(x, x)
  })
})

test_that("matrix products take methods wherever the value stands", {
  skip_without_plugin()
  a <- matrix(c(1, 2, 3, 4), 2)
  products <- function(x) list(x %*% a, a %*% x, x %*% x, x %*% 1:2)
  expect_identical(xla_jit(products)(a), products(a))
})
