expect_programs_agree <- function(folder) {
  programs <- jax_programs(folder)
  expect_gt(length(programs), 9)
  for (name in one_in(2L, names(programs))) {
    # A few hundred roundings: factors computed in another order, by another build of LAPACK.
    expect_lt(max(jax_errors(programs[[name]])), 300, label = sprintf("the error of %s in eps", name))
  }
}

test_that("linear algebra that JAX exported gives JAX's recorded results", {
  skip_without_plugin()
  expect_programs_agree(test_path("data", "jax"))
})

test_that("the comparison sees one wrong number", {
  skip_without_plugin()
  skip_unless_all()
  for (program in jax_programs(test_path("data", "jax"))) {
    for (i in seq_along(program$results)) {
      if (!any(abs(program$results[[i]]$value) > 0, na.rm = TRUE)) {
        next
      }
      wrong <- program
      largest <- which.max(Mod(wrong$results[[i]]$value))
      wrong$results[[i]]$value[largest] <- wrong$results[[i]]$value[largest] * 1.001
      expect_gt(max(jax_errors(wrong)), 300)
    }
  }
})

test_that("linear algebra that this JAX exports gives its results", {
  skip_unless_all()
  skip_without_plugin()
  script <- file.path(Sys.getenv("XLAFFI_SOURCE"), "tools/jax/export.py")
  skip_if_not(nzchar(Sys.getenv("XLAFFI_SOURCE")) && file.exists(script), "the sources are not here")
  python <- plugin_python()
  has_jax <- system2(python, c("-c", shQuote("import jax")), stdout = FALSE, stderr = FALSE) == 0
  skip_if_not(has_jax, "Python has no jax")
  folder <- withr::local_tempdir()
  expect_identical(system2(python, c(shQuote(script), shQuote(folder), "--few")), 0L)
  expect_programs_agree(folder)
})
