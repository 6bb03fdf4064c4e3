# What the site adds to the help pages and vignettes.

rscript <- function(lines) {
  script <- withr::local_tempfile(fileext = ".R")
  writeLines(lines, script)
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = TRUE, stderr = TRUE))
}

test_that("the code of the cheat sheet runs", {
  skip_unless_all()
  code <- withr::local_tempfile(fileext = ".R")
  knitr::purl(source_file("tools", "site", "cheatsheet.Rmd"), code, documentation = 0L, quiet = TRUE)
  output <- rscript(c(readLines(code), "cat('to the end\\n')"))
  expect_null(attr(output, "status"), info = paste(output, collapse = "\n"))
  expect_match(output, "^to the end$", all = FALSE)
})

# Code in a README, a part for each that begins with library(xlaffi): those are sessions of their own.
readme_sessions <- function(text) {
  fence <- grep("^```", text)
  begin <- fence[c(TRUE, FALSE)]
  end <- fence[c(FALSE, TRUE)]
  r <- text[begin] == "```r"
  code <- Map(function(from, to) text[seq(from + 1L, to - 1L)], begin[r], end[r])
  session <- cumsum(vapply(code, function(lines) lines[[1L]] == "library(xlaffi)", NA))
  lapply(split(code, session), unlist)
}

test_that("the code of the README runs, and gives what it says", {
  readme <- source_lines("README.md")
  sessions <- readme_sessions(readme)
  expect_gt(length(sessions), 1L)
  outputs <- lapply(sessions, function(lines) rscript(c(lines, "cat('to the end\\n')")))
  for (output in outputs) {
    expect_match(output, "^to the end$", all = FALSE, info = paste(output, collapse = "\n"))
  }
  # The results that are shown, in blocks without a language, are lines of what was printed.
  fence <- grep("^```", readme)
  shown <- Map(
    function(from, to) if (readme[[from]] == "```") readme[seq(from + 1L, to - 1L)],
    fence[c(TRUE, FALSE)], fence[c(FALSE, TRUE)]
  )
  expect_identical(setdiff(unlist(shown), unlist(outputs)), character())
})

test_that("what the README links to is there", {
  text <- paste(source_lines("README.md"), collapse = "\n")
  links <- unlist(regmatches(text, gregexpr("\\]\\([^)]+\\)", text)))
  links <- grep("^https?:", gsub("^\\]\\(|\\)$", "", links), value = TRUE, invert = TRUE)
  expect_true("man/figures/xlaffi.svg" %in% links)
  expect_identical(links[!file.exists(source_file(links))], character())
})

test_that("functions that the cheat sheet names between its code are there", {
  text <- source_lines("tools", "site", "cheatsheet.Rmd")
  fence <- cumsum(grepl("^```", text)) %% 2L == 1L
  text <- text[!fence]
  named <- unlist(regmatches(text, gregexpr("`[a-z_.0-9]+[(]", text)))
  named <- gsub("[`(]", "", named)
  expect_gt(length(named), 5)
  known <- c(getNamespaceExports("xlaffi"), ls(baseenv()), getNamespaceExports("stats"), getNamespaceExports("utils"))
  expect_identical(setdiff(named, known), character())
})

test_that("every vignette is in the list of articles, and every article has a sentence about it", {
  groups <- yaml::read_yaml(source_file("_pkgdown.yml"))$articles
  listed <- unlist(lapply(groups, `[[`, "contents"))
  files <- list.files(source_file("vignettes"), "[.]Rmd$", recursive = TRUE)
  expect_setequal(listed, sub("[.]Rmd$", "", files))
  for (file in files) {
    front <- rmarkdown::yaml_front_matter(source_file("vignettes", file))
    expect_match(front$description, "^[A-Z].*[.]$", label = file)
  }
})

# An entry of the search's index
entry <- function(path, id, title) {
  fields <- list(path = path, id = id, dir = "", title = title, what = "", text = "", code = "")
  jsonlite::toJSON(fields, auto_unbox = TRUE)
}

# A small site: `pages` are the bodies of pages by path.
check_site <- function(pages, llms, search) {
  folder <- withr::local_tempdir()
  for (path in names(pages)) {
    dir.create(dirname(file.path(folder, path)), showWarnings = FALSE, recursive = TRUE)
    writeLines(pages[[path]], file.path(folder, path))
  }
  writeLines(llms, file.path(folder, "llms.txt"))
  writeLines(paste0("window.searchIndex = [", toString(search), "];"), file.path(folder, "search-index.js"))
  suppressWarnings(system2("python3", shQuote(c(source_file("tools", "site", "check.py"), folder)), stdout = TRUE))
}

test_that("the check of a site finds links that lead nowhere, and what is loaded from elsewhere", {
  good <- check_site(
    list(
      "index.html" = "<a href='articles/a.html#part'>a</a><a href='https://example.org'>b</a>",
      "articles/a.html" = "<h2 id='part'></h2><a href='../index.html'>up</a><img src='p.png' alt='p'>",
      "articles/p.png" = ""
    ),
    "- [A](articles/a.html): a.", entry("articles/a.html", "part", "A")
  )
  expect_identical(good, "site: clean")
  bad <- check_site(
    list(
      "index.html" = c(
        "<a href='gone.html'>a</a><a href='articles/a.html#gone'>b</a><a href='/index.html'>c</a>",
        "<script src='https://example.org/x.js'></script><img src='data:,'>"
      ),
      "articles/a.html" = "<p id='x'>"
    ),
    "- [B](articles/b.html): b.",
    c(entry("articles/b.html", "", "B"), entry("articles/a.html", "y", "A"), entry("index.html", "", ""), "{}")
  )
  expect_identical(attr(bad, "status"), 1L)
  attributes(bad) <- NULL
  expect_setequal(bad, c(
    "index.html: 1 pictures without a description",
    "index.html: loads https://example.org/x.js",
    "index.html: gone.html leads nowhere",
    "index.html: articles/a.html#gone names no place on that page",
    "index.html: /index.html is not relative, so the site would have to stand at a server's root",
    "search: articles/b.html# is not there",
    "search: articles/a.html#y is not there",
    "search: index.html has no title",
    "search: None has no path, id, dir, title, what, text, code",
    "llms.txt: articles/b.html is not there",
    "llms.txt: articles/a.html is missing"
  ))
})
