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
