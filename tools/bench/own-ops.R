# What a call of an own op costs beside a handler written with XLA's C++ header: 1,000 calls one after the other in
# one program, so that XLA's and R's part of the execution hardly counts; and elements of a batch.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))

folder <- tempfile("own-ops")
dir.create(folder)
file.copy(file.path(here, "own-ops.cc"), folder)
header <- system2(Sys.getenv("XLAFFI_PYTHON"),
  c("-c", shQuote("import jaxlib, os; print(os.path.dirname(jaxlib.__file__))")),
  stdout = TRUE
)
writeLines(c(
  "CXX_STD = CXX17",
  sprintf("PKG_CPPFLAGS = -I\"%s/include\" -I\"%s\"", header, system.file("include", package = "xlaffi"))
), file.path(folder, "Makevars"))
r <- file.path(R.home("bin"), "R")
output <- withr::with_dir(folder, system2(r, c("CMD", "SHLIB", "own-ops.cc"), stdout = TRUE))
library <- dyn.load(file.path(folder, paste0("own-ops", .Platform$dynlib.ext)))

pjrt_register_custom_call("bench_times", list(host = getNativeSymbolInfo("times_handler", library)))
in_cpp <- ffi_call("bench_times", function(x, y) x)
own_op <- function(name, signature, dtypes = list(), chosen = character()) {
  instances <- list(list(dtypes = chosen, pointer = getNativeSymbolInfo("times_body", library)$address))
  xlaffi:::new_own_op(xlaffi:::own_op_new(name, signature, dtypes, instances))
}
times <- own_op("bench_own_times", "x: T[n], y: T[] -> z: T[n]", list(T = "f64"), "f64")
batch <- own_op("bench_batch", "x: f64[..., n], y: f64[] -> z: f64[..., n]")

calls <- 1000L
chain <- function(f, n = calls) {
  function(x, y) {
    for (i in seq_len(n)) x <- f(x, y)
    x
  }
}
program <- function(f, x, y) {
  program <- pjrt_compile(pjrt_program(ffi_program(f, x, y)))
  function() pjrt_execute(program, x, y, simplify = FALSE)
}
x <- pjrt_buffer(seq_len(10) / 10, "f64")
y <- pjrt_scalar(1, "f64")
# The best of many short rounds had the processor to itself.
best_of <- function(runs, rounds) {
  times <- replicate(rounds, vapply(runs, function(run) {
    start <- as.numeric(Sys.time())
    for (i in 1:5) run()
    (as.numeric(Sys.time()) - start) / 5
  }, 0))
  1e9 * apply(matrix(times, length(runs)), 1, min)
}
programs <- lapply(list(`XLA's C++ header` = in_cpp, `own op` = times), function(f) program(chain(f), x, y))
best <- stats::setNames(best_of(programs, 500L) / calls, names(programs))

elements <- 1e6
long <- pjrt_buffer(matrix(1, elements, 1), "f64")
each <- best_of(list(program(batch, long, y)), 20L) / elements

text <- c(
  "| one call of `times` on 10 elements | ns | goal |", "|---|---|---|",
  sprintf("| %s | %.0f (%.2g x) | %s |", names(best), best, best / best[[1L]], c("", "1.2 x")), "",
  sprintf("An element of a batch of %g: %.1f ns.", elements, each),
  sprintf("xlaffi %s, R %s; the best of 500 rounds in turn; %s.", packageVersion("xlaffi"), getRversion(), Sys.Date())
)
writeLines(text)
writeLines(text, file.path(here, "results-own-ops.md"))
