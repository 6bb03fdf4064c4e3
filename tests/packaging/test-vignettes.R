# All vignettes, knitted once into the folder `doc` of a package without code.
package <- withr::local_tempdir(.local_envir = teardown_env())
knitted <- local({
  done <- NULL
  function(name) {
    if (is.null(done)) {
      done <<- withr::with_dir(source_file(), suppressWarnings(system2(
        file.path(R.home("bin"), "Rscript"), shQuote(c("tools/vignettes.R", file.path(package, "inst", "doc"))),
        stdout = TRUE, stderr = TRUE
      )))
    }
    page <- file.path(package, "inst", "doc", paste0(name, ".html"))
    if (!file.exists(page)) {
      stop(paste(c(sprintf("%s does not knit:", name), done), collapse = "\n"))
    }
    readLines(page)
  }
})
names <- sub("[.]Rmd$", "", list.files(source_file("vignettes"), "[.]Rmd$"))

# A text that only code that ran can have put there.
results <- c(
  "custom-calls" = "row_quantile: p must lie between 0 and 1",
  "ffi-call" = "check of lambert_w: all is well",
  kepler = "data:image/png",
  "linear-algebra" = "#&gt;",
  "own-ops" = "logs: x[3] is -3"
)

for (name in names) {
  test_that(paste(name, "knits"), {
    skip_unless_all()
    text <- knitted(name)
    expect_match(text, "</html>", fixed = TRUE, all = FALSE)
    if (name %in% names(results)) {
      expect_match(text, results[[name]], fixed = TRUE, all = FALSE)
    }
  })
}

test_that("vignettes that are expected to run code are there", {
  expect_identical(setdiff(names(results), names), character())
})

test_that("an installed package has every vignette that was knitted", {
  skip_unless_all()
  knitted(names[[1]])
  fields <- c(read.dcf(source_file("DESCRIPTION"), c("Version", "Title"))[1, ],
    Package = "vignettesonly", VignetteBuilder = "knitr", License = "MIT", Description = "None.",
    Author = "Nobody", Maintainer = "Nobody <nobody@example.org>"
  )
  write.dcf(t(fields), file.path(package, "DESCRIPTION"))
  file.create(file.path(package, "NAMESPACE"))
  # R asks for the sources, too, before it looks at inst/doc.
  dir.create(file.path(package, "vignettes"))
  sources <- list.files(source_file("vignettes"), "[.]Rmd$", full.names = TRUE)
  stopifnot(file.copy(sources, file.path(package, "vignettes")))
  library <- withr::local_tempdir()
  output <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"),
    c("CMD", "INSTALL", "--no-test-load", shQuote(paste0("--library=", library)), shQuote(package)),
    stdout = TRUE, stderr = TRUE
  ))
  expect_null(attr(output, "status"), info = paste(output, collapse = "\n"))
  found <- utils::vignette(package = "vignettesonly", lib.loc = library)$results
  expect_setequal(found[, "Item"], names)
  pages <- vapply(names, function(name) utils::vignette(name, "vignettesonly", lib.loc = library)$PDF, "")
  expect_true(all(file.exists(file.path(library, "vignettesonly", "doc", pages))))
})
