# The table of words is complete, and nothing that R dispatches on values is done by R.

entries <- function(...) as.list(xlaffi:::overloads, ...)

methods_of <- function(package) {
  table <- get(".__S3MethodsTable__.", if (package == "base") baseenv() else asNamespace(package))
  found <- grep("[.]xlaffi_(value|typed)$", names(table), value = TRUE)
  unique(sub("[.]xlaffi_(value|typed)$", "", found))
}

groups <- c("Math", "Ops", "Summary", "Complex")

refused_names <- function() unlist(xlaffi:::refused, use.names = FALSE)

test_that("every entry is whole, and every function is in the table or refused", {
  is_whole <- function(entry) {
    texts <- c(entry$dtypes, entry$derivative)
    by_name <- !entry$by %in% c("method", "conversion")
    entry$topic %in% xlaffi:::overload_topics && entry$by %in% c("method", "conversion", "group", "own") &&
      is.character(texts) && length(texts) == 2L && all(nzchar(texts)) &&
      (by_name || is.function(entry$f) && exists(entry$name, asNamespace(entry$package), inherits = FALSE))
  }
  expect_identical(names(Filter(Negate(is_whole), entries())), character())
  there <- names(entries(all.names = TRUE))
  methods <- setdiff(unlist(lapply(c("base", "stats", "utils", "methods"), methods_of)), groups)
  expect_identical(setdiff(methods, c(there, refused_names())), character())
  own <- grep("^hlo_", getNamespaceExports("xlaffi"), value = TRUE)
  expect_identical(setdiff(own, there), character())
  expect_identical(intersect(there, refused_names()), character())
})

test_that("the help topic has every word", {
  text <- paste(xlaffi:::overload_sections(), collapse = "\n")
  for (entry in entries()) {
    expect_match(text, sprintf("\\code{%s} \\tab", xlaffi:::escaped(entry$name)), fixed = TRUE)
  }
  table <- xla_supported()
  expect_identical(nrow(table), length(entries(all.names = TRUE)))
  expect_identical(unique(xla_supported("Sorting")$topic), "Sorting")
  expect_error(xla_supported("Nothing"), "`topic` must be one of", class = "xlaffi_error_invalid_argument")
})

# Called on a value by a function of R's that is not traced, as in other packages
test_that("R's generics give a value, what R says of such a vector, or an error of ours", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  generics <- unique(c(
    .S3PrimitiveGenerics, tools:::.get_internal_S3_generics(),
    unlist(lapply(c("Math", "Summary", "Complex"), methods::getGroupMembers, recursive = TRUE))
  ))
  # What is known of it, and what is no function of vectors; is.unsorted() and `@<-` do not dispatch.
  methods <- c(
    "length", "dim", "names", "dimnames", "levels", "is.array", "is.matrix", "is.numeric", "lengths", "seq.int",
    "is.unsorted", "@<-"
  )
  # Of two, and of names
  other <- c("%*%", "matrixOps", "@")
  for (name in setdiff(generics, c(methods, other))) {
    f <- get0(name, baseenv(), mode = "function")
    if (is.null(f) || name %in% groups) next
    second <- list("[" = 1, "[[" = 1, "$" = "a", "$<-" = "a", "[<-" = 1, "[[<-" = 1, rep.int = 2, rep_len = 4)[[name]]
    arguments <- c(list(x), second, if (grepl("<-$", name)) list(value = 1))
    result <- tryCatch(suppressWarnings(do.call(f, arguments)), error = identity)
    known <- inherits(result, "xlaffi_error") || all(vapply(xlaffi:::tree_leaves(result), xlaffi:::is_value, NA))
    expect_true(known, label = sprintf("%s() of a value: %s", name, class(result)[[1L]]))
  }
})

# Nothing is compiled: a trace knows types and shapes.
test_that("types and dimensions of results are R's, also of logicals, integers and arrays without elements", {
  data <- list(
    i = c(2L, 1L, 3L), lm = matrix(c(TRUE, FALSE, TRUE), 2, 3), im0 = matrix(1L, 0, 3), dm0 = matrix(0, 0, 3)
  )
  kind_in_r <- function(x) {
    if (is.list(x)) lapply(unname(x), kind_in_r) else list(typeof(x), if (length(dim(x)) > 1L) dim(x) else length(x))
  }
  types <- c(pred = "logical", i32 = "integer", f64 = "double", c128 = "complex")
  kind_here <- function(x) {
    if (is.list(x)) {
      return(lapply(unname(x), kind_here))
    }
    list(types[[x@dtype]], if (length(x@shape) > 1L) x@shape else as.integer(prod(x@shape)))
  }
  # Results that are not their function's; documented
  other <- c(
    "simplify2array", "print", "invisible", "Recall", "fivenum"
  )
  for (entry in one_in(8L, Filter(function(entry) entry$package %in% c("base", "stats"), entries(sorted = TRUE)))) {
    f <- get0(entry$name, asNamespace(entry$package), mode = "function")
    if (is.null(f) || entry$name %in% other || entry$by == "own") next
    for (form in c("`%s`(x)", "`%s`(x, 1)")) {
      code <- str2lang(sprintf(form, entry$name))
      traced <- as.function(c(alist(x = ), code), envir = globalenv()) # nolint
      for (name in names(data)) {
        in_r <- tryCatch(suppressWarnings(traced(data[[name]])), error = function(e) NULL)
        if (!(is.numeric(in_r) || is.logical(in_r) || is.complex(in_r) || is.list(in_r))) next
        here <- tryCatch(
          xlaffi:::trace_program(traced, list(x = xlaffi:::argument_type(data[[name]], "x")))$results,
          error = function(e) NULL
        )
        if (is.null(here)) next
        expect_identical(kind_here(here), kind_in_r(in_r), label = paste(deparse1(code), name))
      }
    }
  }
})
