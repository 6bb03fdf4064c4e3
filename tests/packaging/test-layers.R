# The files of R/ are in layers, named by the first part of a file's name: each uses only its own layer and those before
# it in the list with which tools/collate.R begins, which puts them in order for loading.
layers <- eval(parse(source_file("tools", "collate.R"))[[1L]][[3L]])
# What is in no layer: the package's page, what the glue generates, and what runs as the package is loaded.
below <- c("xlaffi-package.R", "extendr-wrappers.R")
above <- "zzz.R"

# One for each expression of the package's code: its file, the name that it defines ("" for none), its `body`, its
# `text` and the words of that.
expressions <- function() {
  unlist(lapply(list.files(source_file("R"), "[.]R$", full.names = TRUE), function(file) {
    parsed <- parse(file, keep.source = TRUE)
    unname(Map(function(code, place) {
      defines <- is.call(code) && identical(code[[1L]], quote(`<-`)) && is.name(code[[2L]])
      text <- paste(as.character(place), collapse = "\n")
      list(
        file = basename(file), name = if (defines) as.character(code[[2L]]) else "",
        body = if (defines) code[[3L]] else code, text = text,
        words = unique(unlist(regmatches(text, gregexpr("[A-Za-z.][A-Za-z0-9._]*", text))))
      )
    }, as.list(parsed), attr(parsed, "srcref")))
  }), recursive = FALSE)
}

# Of `names` those from elsewhere that an expression uses, as codetools finds them in the parsed code. It takes longer
# than to look for words, which cannot tell a function's local names from the package's.
used_by <- function(code, names) {
  if (length(names)) intersect(codetools::findGlobals(eval(call("function", NULL, code$body), new.env())), names)
}

layer_of <- function(file) {
  place <- match(sub("-.*", "", file), layers)
  place[file %in% below] <- 0L
  place[file %in% above] <- length(layers) + 1L
  place
}

all <- expressions()

test_that("no file of R/ uses a layer that is not its own or below it, and every file is in one", {
  files <- vapply(all, `[[`, "", "file")
  expect_identical(unique(files[is.na(layer_of(files))]), character(), label = "files without a layer")
  names <- vapply(all, `[[`, "", "name")
  home <- stats::setNames(files, names)[nzchar(names)]
  # Operators and names in backticks
  others <- grep("^[A-Za-z.][A-Za-z0-9._]*$", names(home), value = TRUE, invert = TRUE)
  upwards <- unlist(lapply(all, function(code) {
    others <- others[vapply(others, grepl, NA, x = code$text, fixed = TRUE)]
    named <- c(intersect(code$words, names(home)), others)
    up <- used_by(code, named[layer_of(home[named]) > layer_of(code$file)])
    if (length(up)) sprintf("%s: %s uses %s of %s", code$file, code$name, up, home[up])
  }))
  expect_identical(as.character(upwards), character())
  # The check sees what it is for.
  used <- unlist(lapply(all, function(code) layer_of(home[intersect(code$words, names(home))]) - layer_of(code$file)))
  expect_gt(sum(used < 0), 2000)
  wrong <- list(body = quote(function(x, y = xla_jit(x)) xla_grad(x)))
  expect_setequal(used_by(wrong, c("xla_jit", "xla_grad", "x")), c("xla_jit", "xla_grad"))
  expect_identical(names[nzchar(names) & duplicated(names)], character(), label = "names that are defined twice")
})

test_that("every hook is described, called by its name, and set once by a layer above", {
  described <- grep("^# [a-z_]+\\(", source_lines("R", "base-hooks.R"), value = TRUE)
  described <- unlist(regmatches(described, gregexpr("[a-z_]+(?=\\([a-z, ]*\\)(,| ))", described, perl = TRUE)))
  text <- lapply(list.files(source_file("R"), "[.]R$", full.names = TRUE), readLines)
  names(text) <- list.files(source_file("R"), "[.]R$")
  found <- function(pattern) {
    hits <- lapply(text, function(lines) unlist(regmatches(lines, gregexpr(pattern, lines, perl = TRUE))))
    stats::setNames(unlist(hits, use.names = FALSE), rep(names(hits), lengths(hits)))
  }
  set <- found("(?<=^hooks[$])[a-z_]+(?= <- )")
  called <- found("(?<=hooks[$])[a-z_]+(?! <- |[a-z_])")
  expect_identical(sort(unname(set)), sort(described))
  expect_setequal(called, described)
  for (name in described) {
    lowest <- min(layer_of(names(called)[called == name]))
    expect_gt(layer_of(names(set)[set == name]), lowest, label = sprintf("the layer that sets %s", name))
  }
})

test_that("files are loaded in the order of the layers", {
  loaded <- scan(text = read.dcf(source_file("DESCRIPTION"), "Collate"), what = "", quiet = TRUE)
  expect_setequal(loaded, list.files(source_file("R"), "[.]R$"))
  expect_false(is.unsorted(layer_of(loaded)))
})

test_that("no file of R/ is long", {
  files <- setdiff(list.files(source_file("R"), "[.]R$"), "extendr-wrappers.R")
  lengths <- vapply(files, function(file) length(source_lines("R", file)), 0L)
  expect_identical(lengths[lengths > 350L], lengths[0L])
})
