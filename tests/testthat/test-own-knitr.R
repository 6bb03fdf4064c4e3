# The Markdown that chunks become.
knitted <- function(..., envir = new.env(parent = globalenv())) {
  file <- withr::local_tempfile(fileext = ".Rmd", lines = c(...))
  output <- withr::local_tempfile(fileext = ".md")
  knitr::knit(file, output, quiet = TRUE, envir = envir)
  readLines(output)
}

test_that("a chunk defines an op under its label", {
  skip_if_not_installed("knitr")
  skip_without_plugin()
  envir <- new.env(parent = globalenv())
  page <- knitted(
    "```{xlaffi chunk_times, signature = 'x: T[n], y: T[] -> z: T[n]', dtypes = list(T = 'f64')}",
    "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;",
    "```", "",
    "```{r}",
    "chunk_times(c(1, 2, 3), 2)",
    "```",
    envir = envir
  )
  # Newer knitr has a blank there.
  expect_true("```c" %in% sub("``` ", "```", page, fixed = TRUE))
  expect_true(any(grepl("z[i] = x[i] * *y", page, fixed = TRUE)))
  expect_true(any(grepl("2 4 6", page)))
  expect_s3_class(envir$chunk_times, "xlaffi_own_op")
  expect_identical(attr(envir$chunk_times, "op")$own$dtypes, list(T = "f64"))
})

test_that("a chunk has a language, a name and rules", {
  skip_if_not_installed("knitr")
  skip_without_plugin()
  envir <- new.env(parent = globalenv())
  envir$rule <- function(primals, results, cotangents) list(x = 2 * primals$x * cotangents)
  page <- knitted(
    "```{xlaffi a-label, signature = 'x: f64[] -> z: f64[]', lang = 'c++', name = 'chunk_square', vjp = rule}",
    "*z = std::pow(*x, 2);",
    "```",
    envir = envir
  )
  expect_true(any(c("```cpp", "```c++") %in% sub("``` ", "```", page, fixed = TRUE)))
  expect_equal(xla_grad(envir$chunk_square)(3), 6)
})

test_that("a chunk that is not evaluated is shown, and an error is told", {
  skip_unless_all()
  skip_if_not_installed("knitr")
  skip_without_plugin()
  code <- c("*z = *x", "```")
  head <- "```{xlaffi broken, signature = 'x: f64[] -> z: f64[]', %s = %s}"
  page <- knitted(sprintf(head, "eval", "FALSE"), code)
  expect_true("*z = *x" %in% page)
  page <- knitted(sprintf(head, "error", "TRUE"), code)
  expect_true(any(grepl("expected .*;", page)))
  expect_s3_class(error_of(knitted(sprintf(head, "error", "FALSE"), code)), "xlaffi_error")
  expect_s3_class(
    error_of(knitted("```{xlaffi, signature = 'x: f64[] -> z: f64[]', error = FALSE}", "*z = *x;", "```")),
    "xlaffi_error_invalid_argument"
  )
})
