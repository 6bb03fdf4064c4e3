# The pages for those who change the package: vignettes/architecture.Rmd, docs/decisions, tools/README.md.

pages <- function() list.files(source_file("docs", "decisions"), "^[0-9]{2}-[a-z0-9-]+[.]md$")

test_that("every decision is a short page of three sections, and is in the index with its title", {
  index <- source_lines("docs", "decisions", "README.md")
  expect_identical(as.integer(substr(pages(), 1, 2)), seq_along(pages()))
  expect_length(grep("^- \\[", index), length(pages()))
  for (page in pages()) {
    lines <- source_lines("docs", "decisions", page)
    expect_identical(grep("^#", lines, value = TRUE)[-1], paste("##", c("Context", "Decision", "Consequence")),
      label = page
    )
    title <- sub("^# ", "", lines[[1]])
    expect_match(index, sprintf("- [%s %s](%s): ", substr(page, 1, 2), title, page), fixed = TRUE, all = FALSE)
  }
})

test_that("every tool has a line", {
  lines <- grep("^\\|", source_lines("tools", "README.md"), value = TRUE)
  named <- unlist(regmatches(lines, gregexpr("(?<=`)[^` ]+(?=`[ ,])", sub("\\|[^|]*\\|$", "|", lines), perl = TRUE)))
  expect_setequal(named, setdiff(list.files(source_file("tools")), "README.md"))
})

test_that("files that these pages name are there", {
  # The end of a path is enough; `*` and NAME stand for any name.
  roots <- c("R", "docs", "inst", "src/rust/src", "src/rust/crates", "tests", "tools", "vignettes")
  inside <- lapply(roots, function(root) file.path(root, list.files(source_file(root), recursive = TRUE)))
  files <- paste0("/", c(list.files(source_file()), file.path("src", list.files(source_file("src"))), unlist(inside)))
  made <- c("src/ops/*.c", "src/rust/ops/*.rs", "inst/rust/xla-ffi.tar.xz")
  texts <- c(
    source_file("vignettes", "architecture.Rmd"), file.path(source_file("docs", "decisions"), c("README.md", pages()))
  )
  for (text in texts) {
    lines <- readLines(text)
    named <- unlist(regmatches(lines, gregexpr("(?<=`)[A-Za-z_0-9./*-]+[.](R|rs|py|cc|c|h|sh|csv|yml|md|tsan)(?=`)",
      lines, perl = TRUE
    )))
    there <- vapply(setdiff(named, made), function(name) {
      pattern <- gsub("[*]|NAME", "[^/]*", gsub(".", "[.]", name, fixed = TRUE))
      any(grepl(paste0("/", pattern, "$"), files))
    }, NA)
    expect_identical(names(there)[!there], character(), label = basename(text))
  }
})

test_that("the README's table of figures is made from the tables of the benchmarks", {
  command <- c("--no-init-file", source_file("tools", "bench", "readme.R"), "--check")
  status <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), command, stdout = FALSE, stderr = FALSE))
  expect_identical(status, 0L)
})
