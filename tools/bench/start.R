# What a fresh R session waits for: the package, the first result, the first call of a function with a shape, with and
# without compiled programs on disk. Every figure is the least of some sessions, each an R of its own.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
folder <- tempfile("programs")

# Seconds from the beginning of the second to that of the last expression, in a new session
session <- function(before, timed) {
  code <- sprintf(
    "%s; start <- Sys.time(); %s; cat(format(as.numeric(Sys.time() - start, units = \"secs\"), digits = 9L))",
    before, timed
  )
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", "-e", shQuote(code)),
    stdout = TRUE, env = paste0("XLAFFI_PROGRAM_CACHE=", folder)
  )
  if (!is.null(attr(said, "status"))) stop("a session failed")
  as.numeric(said[[length(said)]])
}

least <- function(before, timed, sessions = 7L) min(replicate(sessions, session(before, timed)))

package <- "suppressMessages(library(xlaffi))"
first <- "xla_chol(diag(2))"
matrix <- "x <- outer(1:%d, 1:20, function(i, j) sin(i * j))"
ready <- function(rows) paste(package, first, sprintf(matrix, rows), sep = "; ")

steps <- list()
steps[["`library(xlaffi)`"]] <- least("NULL", package)
cold <- session("NULL", paste(package, first, sep = "; "))
steps[["first result of a session, its program on disk: `library(xlaffi)`, `xla_chol(diag(2))`"]] <-
  least("NULL", paste(package, first, sep = "; "))
steps[["the same, nothing on disk"]] <- cold
compiled <- vapply(21:27, function(rows) session(ready(rows), "xla_svd(x)"), 0)
steps[["first `xla_svd()` of a shape, its program on disk"]] <- least(ready(21L), "xla_svd(x)")
steps[["the same, to be compiled"]] <- min(compiled)
unlink(folder, recursive = TRUE)

goals <- c("150", "450", "", "6", "")
text <- c(
  "| | ms | goal |", "|---|---|---|",
  sprintf("| %s | %.3g | %s |", names(steps), 1000 * unlist(steps), goals),
  "",
  sprintf(
    "xlaffi %s, R %s; the least of 7 sessions, or the only one that finds nothing on disk; %s.",
    packageVersion("xlaffi"), getRversion(), Sys.Date()
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-start.md"))
