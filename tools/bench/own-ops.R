# What an own op costs: a call beside a handler written with XLA's C++ header, 1,000 one after the other in one program,
# so that XLA's and R's part of the execution hardly counts; elements of a batch; long arrays beside a plain loop; and
# the first use in a session of code that was compiled in another one.

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
  sprintf("PKG_CPPFLAGS = -isystem \"%s/include\" -I\"%s\"", header, system.file("include", package = "xlaffi"))
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
chain <- function(f, n) {
  function(x, y) {
    for (i in seq_len(n)) x <- f(x, y)
    x
  }
}
program <- function(f, x, y) {
  program <- pjrt_compile(pjrt_program(xla_program(f, x, y)))
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
programs <- lapply(list(`XLA's C++ header` = in_cpp, `own op` = times), function(f) program(chain(f, calls), x, y))
best <- stats::setNames(best_of(programs, 500L) / calls, names(programs))

elements <- 1e6
long <- pjrt_buffer(matrix(1, elements, 1), "f64")
each <- best_of(list(program(batch, long, y)), 20L) / elements

# As many calls after the other as make new memory for results count little; the loop makes its memory anew, too.
length <- 1e7
passes <- 20L
wide <- pjrt_buffer(rep(1, length), "f64")
bytes <- 2 * 8 * length * passes
in_program <- program(chain(times, passes), wide, y)
bandwidth <- apply(replicate(15L, {
  plain <- .C(getNativeSymbolInfo("plain_times", library), length, passes, seconds = 0)$seconds
  # The results of before, whose memory goes back to the system.
  gc(FALSE)
  start <- as.numeric(Sys.time())
  in_program()
  bytes / 1e9 / c(plain, as.numeric(Sys.time()) - start)
}), 1, max)

# Milliseconds from source, or from nothing, to the first result in a session whose client is there.
first_use <- function(code) {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c(
    # One of R's collections takes longer than all of this.
    "library(xlaffi)", "invisible(xla_jit(function(x) x + 1)(c(1, 2, 3)))", "invisible(gc())",
    "start <- as.numeric(Sys.time())", "invisible({", code, "})", "cat(1e3 * (as.numeric(Sys.time()) - start))"
  ), file)
  as.numeric(system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE))
}
uses <- c(
  'times <- ffi_source("x: T[n], y: T[] -> z: T[n]", lang = "c", dtypes = list(T = c("f32", "f64")),
     code = "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;")
   times(c(1, 2, 3), 2)',
  "kepler(c(1, 2, 3), 0.5)"
)
# The first of each compiles.
first_uses <- withr::with_envvar(
  c(R_USER_CACHE_DIR = file.path(folder, "cache")),
  apply(replicate(10L, vapply(uses, first_use, 0))[, -1L], 1, min)
)

rows <- data.frame(
  what = c("one call of `times` on 10 elements", "`times` on 1e7 elements", "first use in a session, compiled before"),
  beside = c(
    sprintf("%.0f ns (C++ with XLA's header)", best[[1L]]), sprintf("%.1f GB/s (plain C loop)", bandwidth[[1L]]),
    sprintf("%.0f ms (op of the package)", first_uses[[2L]])
  ),
  own = c(
    sprintf("%.0f ns (%.2f x)", best[[2L]], best[[2L]] / best[[1L]]),
    sprintf("%.1f GB/s (%.2f x)", bandwidth[[2L]], bandwidth[[2L]] / bandwidth[[1L]]),
    sprintf("%.0f ms (%+.0f ms)", first_uses[[1L]], first_uses[[1L]] - first_uses[[2L]])
  ),
  goal = c("at most 1.2 x", "at least 0.9 x", "at most +20 ms"),
  met = c(
    best[[2L]] <= 1.2 * best[[1L]], bandwidth[[2L]] >= 0.9 * bandwidth[[1L]], first_uses[[1L]] - first_uses[[2L]] <= 20
  )
)
text <- c(
  "| | beside | own op | goal | |", "|---|---|---|---|---|",
  sprintf("| %s | %s | %s | %s | %s |", rows$what, rows$beside, rows$own, rows$goal, ifelse(rows$met, "met", "missed")),
  sprintf("| an element of a batch of %g | | %.1f ns | at most 20 ns | %s |", elements, each,
    if (each <= 20) "met" else "missed"
  ), "",
  sprintf("xlaffi %s, R %s; the best of 500, 15, 9 and 20 rounds in turn; %s.", packageVersion("xlaffi"), getRversion(),
    Sys.Date()
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-own-ops.md"))
