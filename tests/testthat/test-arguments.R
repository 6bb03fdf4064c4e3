# What tools/fuzz/arguments.R found: calls that gave errors of other functions.

pointer <- getDLLRegisteredRoutines("stats")$.Call[[1]]$address

test_that("garbage is refused by errors of the package's own", {
  skip_without_plugin()
  setClass("NoVector", representation(x = "numeric"), where = environment())
  calls <- list(
    function() pjrt_program("x", format = 1L),
    function() pjrt_program("x", format = "cpu"),
    function() hlo_triangular_solve(diag(2), diag(2), transpose = NULL),
    function() hlo_triangular_solve(diag(2), diag(2), transpose = "kepler"),
    function() pjrt_buffer(1, check = NA),
    function() pjrt_buffer(1, check = "x"),
    function() pjrt_scalar(1, check = list(0)),
    function() pjrt_buffer(1, pointer),
    function() pjrt_empty(pointer, 2),
    function() as_array(pjrt_buffer(1), check = matrix(TRUE, 2, 2)),
    function() ffi_type(pointer),
    function() ffi_type(new("NoVector", x = 1)),
    function() ffi_attribute(1, pointer),
    function() hlo_iota(pointer, 2),
    function() hlo_convert(1, pointer),
    function() xla_solve(diag(2), dtype = pointer),
    function() plugins_downloaded(pointer),
    function() kepler_rv(1, 1, as.name("x"), 0.5, 0, 1),
    function() kepler(quote(f(x)), 0.5),
    function() as_pjrt_client(strrep("x", 1e5)),
    function() pjrt_device(strrep("x", 1e5)),
    function() plugins_downloaded(strrep("x", 1e5)),
    function() pjrt_buffer(pjrt_scalar(1), shape = data.frame(a = 1:2))
  )
  for (call in calls) {
    expect_error(call(), class = "xlaffi_error", info = deparse(body(call)))
  }
})

test_that("errors about a choice name what there is", {
  expect_snapshot(error = TRUE, {
    pjrt_program("x", format = "cpu")
    pjrt_program("x", format = 1:2)
  })
})

test_that("an argument that did not come is told of by its name", {
  skip_without_plugin()
  # An error that R raises itself shows the user's call, never that of a function within.
  said <- function(f, ...) {
    error <- rlang::catch_cnd(f(...), "error")
    inherits(error, "xlaffi_error") || identical(conditionCall(error)[[1L]], quote(f))
  }
  is_required <- function(default) is.symbol(default) && !nzchar(as.character(default))
  exports <- setdiff(getNamespaceExports("xlaffi"), "show")
  exports <- Filter(is.function, mget(exports, asNamespace("xlaffi")))
  required <- lapply(exports, function(f) setdiff(names(Filter(is_required, formals(f))), "..."))
  exports <- exports[lengths(required) > 0L]
  expect_gt(length(exports), 200)
  expect_identical(names(exports)[!vapply(exports, said, NA)], character())
  first <- Filter(Negate(is.null), lapply(c("hlo_fixed_point", "hlo_minimize", "hlo_integrate"), function(name) {
    if (!said(exports[[name]], identity)) name
  }))
  expect_length(first, 0L)
  messages <- lapply(list(xla_lu, unflatten, is_ready, kepler), function(f) conditionMessage(error_of(f())))
  expect_identical(unlist(messages), sprintf("`%s` is missing", c("x", "tree", "x", "M")))
  expect_match(conditionMessage(error_of(pjrt_empty("f32"))), "`shape` is missing")
  expect_match(conditionMessage(error_of(ffi_callback(function(x) x))), "`signature` is missing")
  # What has a default of the user's came.
  erf <- function(x = 0) xla_jit(function(x = 0) hlo_erf(x))(x)
  expect_identical(as.vector(erf()), 0)
})
