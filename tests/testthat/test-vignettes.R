# Knits a vignette in a session of its own; an error in a chunk that does not expect one stops it.
knit <- function(name) {
  skip_without_plugin()
  file <- file.path(Sys.getenv("XLAFFI_SOURCE"), "vignettes", paste0(name, ".Rmd"))
  skip_if_not(nzchar(Sys.getenv("XLAFFI_SOURCE")) && file.exists(file), "the sources are not here")
  skip_if_not_installed("rmarkdown")
  folder <- withr::local_tempdir()
  code <- sprintf(
    "knitr::opts_chunk$set(error = FALSE); knitr::knit('%s', '%s/out.md', quiet = TRUE)", normalizePath(file), folder
  )
  output <- withr::with_dir(folder, suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)),
    stdout = TRUE, stderr = TRUE
  )))
  if (!file.exists(file.path(folder, "out.md"))) {
    stop(paste(c("it does not knit:", output), collapse = "\n"))
  }
  readLines(file.path(folder, "out.md"))
}

test_that("custom-calls knits, with its handler compiled", {
  text <- knit("custom-calls")
  expect_match(text, "row_quantile: p must lie between 0 and 1", fixed = TRUE, all = FALSE)
})

test_that("ffi-call knits, with its op compiled and fitted", {
  text <- knit("ffi-call")
  expect_match(text, "relative_error", fixed = TRUE, all = FALSE)
  expect_match(text, "^#> n 0.25 0.25", all = FALSE)
})

test_that("kepler knits", {
  expect_match(knit("kepler"), "#>", fixed = TRUE, all = FALSE)
})

test_that("the other vignettes knit", {
  expect_match(knit("architecture"), "crates", fixed = TRUE, all = FALSE)
  expect_match(knit("cuda"), "cuSOLVER", fixed = TRUE, all = FALSE)
  expect_match(knit("linear-algebra"), "#>", fixed = TRUE, all = FALSE)
  expect_match(knit("performance"), "f64 qr", fixed = TRUE, all = FALSE)
})
