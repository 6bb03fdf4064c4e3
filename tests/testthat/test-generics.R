test_that("what has no method is refused, with a word on objects of pjrt", {
  foreign <- structure(list(), class = "PJRTBuffer")
  expect_snapshot(error = TRUE, {
    shape(1)
    dtype(NULL)
    elt_type("f32")
    device(list())
    platform("cpu")
    as_array(diag(2))
    as_array(foreign)
    as_raw(foreign, row_major = TRUE)
    as_array_async(foreign)
    await(foreign)
    is_ready(1)
    value(1)
  })
})

test_that("what methods do not know is no argument of theirs", {
  ns <- asNamespace("xlaffi")
  # A function among the names is a method that another test has registered.
  methods <- Filter(is.character, as.list(getNamespaceInfo(ns, "S3methods")[, 3L]))
  names <- unique(c(unlist(methods), getNamespaceExports(ns)))
  # They hand `...` on, or look at each argument.
  known <- c(
    "Math.xlaffi_value", "Summary.xlaffi_value", "[.xlaffi_draws", "[.xlaffi_sharded", "[.xlaffi_value",
    "[<-.xlaffi_value", "[[.xlaffi_value", "[[<-.xlaffi_value", "all.equal.xlaffi_buffer", "all.equal.xlaffi_graph",
    "anova.xlaffi_fit",
    "c.xlaffi_value", "cbind.xlaffi_value", "ffi_check", "ffi_elementwise", "hlo_add", "hlo_block_sum", "hlo_case",
    "hlo_concatenate", "hlo_cond", "hlo_fixed_point", "hlo_integrate", "hlo_minimize", "hlo_ode", "hlo_root",
    "hlo_token", "map_tree", "pjrt_buffer.default", "pjrt_buffer.integer64", "pjrt_client", "pjrt_distributed",
    "pjrt_execute", "pjrt_scalar.default", "pjrt_scalar.integer64", "pjrt_scalar.xlaffi_buffer", "pjrt_shard",
    "plot.xlaffi_profile", "pmap_tree", "predict.xlaffi_fit", "rbind.xlaffi_value", "update.xlaffi_objective",
    "xla_graph", "xla_objective", "xla_program", "xla_sample", "xla_spec"
  )
  refuses <- c(
    "check_dots_empty", "check_print_dots", "check_format_dots", "check_str_dots", "check_equal_dots", "UseMethod",
    "refuse_object"
  )
  silent <- Filter(function(name) {
    f <- get(name, ns)
    is.function(f) && "..." %in% names(formals(f)) && !any(refuses %in% all.names(body(f)))
  }, setdiff(names, known))
  expect_identical(silent, character())
  expect_identical(setdiff(known, names), character())
})

test_that("arguments that R gives on its own go, others are named", {
  spec <- xla_spec("data", NULL)
  type <- xlaffi:::new_type("f32", 2L)
  expect_output(print(data.frame(spec = I(list(spec)))), "data")
  expect_snapshot({
    print(list(spec), digits = 3)
    utils::str(type)
    utils::str(list(type))
    format(spec, justify = "left")
  })
  expect_snapshot(error = TRUE, {
    print(spec, digit = 3)
    print(spec, 3)
    format(spec, wide = TRUE)
    shape(type, 1)
  })
})
