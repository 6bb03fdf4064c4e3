# Every exported function has a page that says what it gives and shows it in code that runs, and the map of the
# package has every page.

# A field of a help page as text, by its tag; "" where there is none.
field <- function(page, tag) {
  tags <- vapply(page, attr, "", which = "Rd_tag")
  paste(unlist(page[tags == tag]), collapse = "")
}
# Lines of code without comments and without the parts that are not run
run_code <- function(page) {
  keep <- function(part) {
    if (!is.list(part)) {
      return(part)
    }
    part[vapply(part, function(x) identical(attr(x, "Rd_tag"), "\\dontrun"), NA)] <- NULL
    lapply(part, keep)
  }
  tags <- vapply(page, attr, "", which = "Rd_tag")
  lines <- paste(unlist(keep(page[tags == "\\examples"])), collapse = "")
  lines <- sub("#.*", "", strsplit(lines, "\n", fixed = TRUE)[[1L]])
  lines[nzchar(trimws(lines))]
}

files <- list.files(source_file("man"), "[.]Rd$", full.names = TRUE)
pages <- lapply(stats::setNames(files, basename(files)), tools::parse_Rd)
aliases <- lapply(pages, function(page) {
  tags <- vapply(page, attr, "", which = "Rd_tag")
  vapply(page[tags == "\\alias"], function(alias) trimws(paste(unlist(alias), collapse = "")), "")
})
exports <- setdiff(getNamespaceExports("xlaffi"), c("%*%", "show"))
exports <- exports[!startsWith(exports, ".__")]

# Pages of functions whose arguments cannot be wrong
harmless <- c("xla_cache.Rd", "ffi_include_dir.Rd", "plugins_downloaded.Rd", "xlaffi_sitrep.Rd")

# Names of what is wrong
expect_none <- function(names) expect_identical(sort(unique(names)), character())

test_that("every exported function has a page, in whose usage it is", {
  expect_none(setdiff(exports, unlist(aliases)))
  usage <- vapply(pages, field, "", tag = "\\usage")
  shown <- vapply(exports, function(name) {
    any(grepl(paste0(name, "("), usage, fixed = TRUE))
  }, NA)
  expect_none(exports[!shown])
})

test_that("every page of functions says what is an error", {
  with_functions <- vapply(aliases, function(names) any(names %in% exports), NA)
  text <- vapply(pages, function(page) {
    tags <- vapply(page, attr, "", which = "Rd_tag")
    paste(unlist(page[!tags %in% c("\\examples", "\\usage")]), collapse = "")
  }, "")
  documented <- grepl("error|refused|fails| must ", text)
  expect_none(setdiff(names(pages)[with_functions & !documented], harmless))
})

test_that("every page of functions says what they give, and every page has an example that runs", {
  with_functions <- vapply(aliases, function(names) any(names %in% exports), NA)
  value <- vapply(pages, field, "", tag = "\\value")
  expect_none(names(pages)[with_functions & !nzchar(trimws(value))])
  code <- lapply(pages, run_code)
  expect_none(names(pages)[lengths(code) == 0L])
})

# Used as others on their page are, whose programs take less time to compile
like_others <- c("hlo_rbeta", "hlo_rchisq", "hlo_rf", "hlo_rnbinom")

test_that("every exported function is shown at work on its page or on another one", {
  code <- unlist(lapply(pages, run_code))
  words <- unlist(strsplit(code, "[^[:alnum:]._]+"))
  called <- exports %in% words
  expect_none(setdiff(exports[!called], like_others))
})

test_that("the map of the package has every page, and ?xlaffi every function", {
  groups <- yaml::read_yaml(source_file("_pkgdown.yml"))$reference
  for (group in groups) {
    expect_match(group$desc, "^[A-Z].*[.]$", label = group$title)
  }
  listed <- unlist(lapply(groups, `[[`, "contents"))
  expect_none(listed[duplicated(listed)])
  expect_none(setdiff(listed, unlist(aliases)))
  expect_none(names(pages)[!vapply(aliases, function(names) any(names %in% listed), NA)])

  text <- paste(source_lines("man", "xlaffi-package.Rd"), collapse = "\n")
  linked <- vapply(exports, function(name) grepl(sprintf("\\link[=%s]{", name), text, fixed = TRUE), NA)
  expect_none(exports[!linked])
  for (group in groups) {
    expect_true(grepl(sprintf("\\section{%s}", group$title), text, fixed = TRUE), label = group$title)
  }
})

test_that("lines of examples fit the manual, and methods of `%*%` have an alias", {
  # R's width: longer lines, comments too, are cut in the manual as a book.
  wide <- vapply(pages, function(page) {
    lines <- strsplit(field(page, "\\examples"), "\n", fixed = TRUE)[[1L]]
    any(nchar(lines[!grepl("withAutoprint", lines, fixed = TRUE)]) > 100L)
  }, NA)
  expect_none(names(pages)[wide])
  methods <- methods::findMethods("%*%", where = asNamespace("xlaffi"))
  classes <- vapply(methods@.Data, function(method) toString(method@defined), "")
  own <- sprintf("%%*%%,%s-method", gsub(", ", ",", classes[grepl("xlaffi_", classes)]))
  expect_true("%*%,xlaffi_sparse,ANY-method" %in% own)
  expect_none(setdiff(own, unlist(aliases)))
})

test_that("help pages have no braces that R takes for lost ones", {
  names <- "(^|[^\\\\a-zA-Z\\]}])[{](anvl|pjrt|stablehlo)[}]"
  lost <- vapply(files, function(file) any(grepl(names, readLines(file))), NA)
  expect_none(basename(files)[lost])
})
