# One namespace holds all files: a name that two of them define is that of the later one, without a word.

test_that("no name is defined twice", {
  source <- Sys.getenv("XLAFFI_SOURCE", test_path("..", ".."))
  files <- list.files(file.path(source, "R"), "[.]R$", full.names = TRUE)
  skip_if_not(length(files) > 0, "the sources are not here")
  names <- unlist(lapply(files, function(file) {
    lapply(parse(file, keep.source = FALSE), function(code) {
      if (is.call(code) && identical(code[[1L]], quote(`<-`)) && is.symbol(code[[2L]])) as.character(code[[2L]])
    })
  }))
  expect_gt(length(names), 1000L)
  expect_identical(names[duplicated(names)], character())
})
