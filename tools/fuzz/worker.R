# One process of arguments.R: worker.R SEED SECONDS LOG [FUNCTION...]
suppressMessages(library(xlaffi))
args <- commandArgs(trailingOnly = TRUE)
seed <- as.integer(args[[1]])
seconds <- as.numeric(args[[2]])
log <- file(args[[3]], "wb")
only <- args[-(1:3)]
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "garbage.R"))

say <- function(...) {
  writeLines(enc2utf8(paste0(...)), log, useBytes = TRUE)
  flush(log)
}

show <- function(arguments) {
  one <- function(x) {
    text <- tryCatch(paste(deparse(x, nlines = 2L, width.cutoff = 80L), collapse = ""), error = function(e) "?")
    if (is.environment(x)) text <- sprintf("<environment %s>", class(x)[[1]])
    substr(iconv(text, to = "ASCII//TRANSLIT", sub = "byte"), 1L, 90L)
  }
  names <- names(arguments)
  texts <- vapply(arguments, one, "")
  if (is.null(names)) names <- rep("", length(texts))
  paste(ifelse(nzchar(names) & !is.na(names), paste0(names, " = "), ""), texts, sep = "", collapse = ", ")
}

# R's own words about a call that does not match a function's formals, or its generic's methods.
own_words <- paste0(
  "^(argument \"[^\"]*\" is missing, with no default|unused arguments? |",
  "formal argument \"[^\"]*\" matched by multiple|",
  "argument [0-9]+ matches multiple formal arguments|promise already under evaluation|reached elapsed time limit)"
)
expected <- function(e, name) {
  message <- conditionMessage(e)
  # Of generics, and of hlo_*() on R's own data, which are base R's functions there.
  if (startsWith(message, sprintf("no applicable method for '%s' applied to", name))) {
    return(TRUE)
  }
  if (startsWith(name, "hlo_") && grepl("^(non-numeric|non-conformable|requires numeric|invalid 'type')", message)) {
    return(TRUE)
  }
  panic <- grepl("panicked|unwrap\\(\\)|called `Option|called `Result|index out of bounds|RefCell|src/.*[.]rs", message)
  # What the functions that we hand over say themselves comes through.
  own <- identical(message, "own") || deparse(conditionCall(e), nlines = 1L)[[1L]] %in% c("x + 1", "x * y")
  !panic && (inherits(e, "xlaffi_error") || own || grepl(own_words, message))
}

set.seed(seed)
values <- fuzz_environment()
exports <- if (length(only)) only else setdiff(getNamespaceExports("xlaffi"), fuzz_left_alone)
exports <- sort(Filter(function(name) is.function(get(name, asNamespace("xlaffi"))), exports))
seen <- character()
count <- 0L
end <- proc.time()[["elapsed"]] + seconds
sink(nullfile())
while (proc.time()[["elapsed"]] < end) {
  count <- count + 1L
  set.seed(seed * 100003 + count)
  name <- sample(exports, 1L)
  f <- get(name, asNamespace("xlaffi"))
  arguments <- fuzz_arguments(f, values)
  call <- sprintf("%d: %s(%s)", count, name, show(arguments))
  say("CALL ", call)
  setTimeLimit(elapsed = 20, transient = TRUE)
  begun <- proc.time()[["elapsed"]]
  problem <- tryCatch(
    {
      value <- withVisible(suppressWarnings(suppressMessages(do.call(f, arguments, quote = TRUE))))$value
      # What came out can be looked at.
      capture <- utils::capture.output(suppressWarnings(suppressMessages(print(value))))
      if (is.function(value) && stats::runif(1) < 0.7) {
        given <- list(pick(values), pick(values))[seq_len(sample(2L, 1L))]
        suppressWarnings(suppressMessages(do.call(value, given, quote = TRUE)))
      }
      NULL
    },
    error = function(e) if (!expected(e, name)) e
  )
  setTimeLimit()
  took <- proc.time()[["elapsed"]] - begun
  if (took > 15) {
    say("FOUND slow (", round(took), " s) in seed ", seed, ", ", call)
  }
  if (!is.null(problem)) {
    where <- deparse(conditionCall(problem), nlines = 1L)[[1]]
    text <- gsub("\n", " ", substr(conditionMessage(problem), 1L, 200L))
    # One of a kind is enough.
    key <- paste(name, gsub("[0-9]+", "#", text))
    if (!key %in% seen) {
      seen <- c(seen, key)
      say("FOUND \"", text, "\" from ", where, " in seed ", seed, ", ", call)
    }
  }
}
sink()
say("DONE ", 0L)
