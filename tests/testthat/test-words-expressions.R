# Everyday expressions in programs, each as in R or with an error of ours.

# Several programs: one alone takes XLA long.
all_results <- function(expressions) {
  functions <- expression_functions(expressions)
  parts <- split(functions, seq_along(functions) %/% 60L)
  unlist(lapply(unname(parts), expression_results), recursive = FALSE)
}

test_that("expressions give what they give in R", {
  skip_without_plugin()
  expressions <- unlist(equal_expressions, use.names = FALSE)
  expect_identical(anyDuplicated(expressions), 0L)
  expressions <- one_in(6L, expressions)
  functions <- expression_functions(expressions)
  results <- all_results(expressions)
  for (text in expressions) {
    given <- results[[text]]
    expected <- suppressWarnings(do.call(functions[[text]], expression_data))
    expect_equal(given, expected, tolerance = 1e-10, ignore_attr = c("names", "dimnames"), label = text)
  }
})

test_that("expressions without a meaning give an error of ours", {
  skip_without_plugin()
  refused <- one_in(3L, refused_expressions)
  results <- all_results(refused)
  for (text in refused) {
    expect_s3_class(!!results[[text]], "xlaffi_error")
  }
})
