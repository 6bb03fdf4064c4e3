# Where the microseconds of a small call go, from the inside out: jaxlib alone, the functions of the package's library,
# R's functions around them. 2 x 2 matrices of f64. The layers between, in Rust, are measured by
# `cargo run --release -p pjrt-jaxlib --example layer` (the plugin) and `-p pjrt --example cycle` (the host).

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))

floor <- system2(Sys.getenv("XLAFFI_PYTHON"), file.path(here, "calls.py"), stdout = TRUE)
if (!is.null(attr(floor, "status"))) stop("calls.py failed")
floor <- utils::read.delim(text = floor, header = FALSE, col.names = c("step", "us"))
jaxlib <- stats::setNames(floor$us, floor$step)

x <- matrix(c(1, 2, 3, 4), 2)
y <- x + 1
multiply <- function(x, y) x * y
program <- pjrt_compile(pjrt_program(xla_program(multiply, x, y)))
a <- pjrt_buffer(x, "f64")
b <- pjrt_buffer(y, "f64")
result <- await(pjrt_execute(program, a, b))
jitted <- xla_jit(multiply)
invisible(jitted(x, y))
inside <- asNamespace("xlaffi")
device <- inside$default_device()
identity <- environment(jitted)$identity
arrays <- list(x, y)
buffers <- list(a, b)
dtypes <- list("f64", "f64")

steps <- list(
  `library: signature of two matrices` = function() .Call(inside$wrap__signature, identity, arrays),
  `library: upload` = function() .Call(inside$wrap__buffer_from_r, x, "f64", device, NULL),
  `library: execute` = function() {
    .Call(inside$wrap__executable_execute, program, buffers, NULL, TRUE, FALSE, FALSE)
  },
  `library: read` = function() .Call(inside$wrap__buffer_to_r_now, result),
  `library: two uploads, execute, read` = function() {
    .Call(inside$wrap__executable_call, program, arrays, dtypes, device, TRUE, FALSE)
  },
  `R: pjrt_buffer()` = function() pjrt_buffer(x, "f64"),
  `R: pjrt_execute()` = function() pjrt_execute(program, a, b),
  `R: await(pjrt_execute())` = function() await(pjrt_execute(program, a, b)),
  `R: as_array()` = function() as_array(result),
  `R: two uploads, execute, read` = function() {
    as_array(pjrt_execute(program, pjrt_buffer(x, "f64"), pjrt_buffer(y, "f64")))
  },
  `R: xla_jit()` = function() jitted(x, y)
)
# The best of many short rounds had the processor to itself.
calls <- 20L
best <- rep(Inf, length(steps))
for (round in 1:1000) {
  for (i in seq_along(steps)) {
    step <- steps[[i]]
    start <- as.numeric(Sys.time())
    for (k in seq_len(calls)) step()
    best[[i]] <- min(best[[i]], (as.numeric(Sys.time()) - start) / calls * 1e6)
  }
}
best <- stats::setNames(best, names(steps))
# What the project aims at.
goals <- c(
  `library: execute` = 6, `R: await(pjrt_execute())` = 8, `R: two uploads, execute, read` = 12,
  `R: xla_jit()` = best[["R: two uploads, execute, read"]] + 10
)
goal <- ifelse(names(best) %in% names(goals), sprintf("%.4g", goals[names(best)]), "")
text <- c(
  "| 2 x 2 matrices of f64 | us | goal |", "|---|---|---|",
  sprintf("| jaxlib in Python: %s | %.2f | |", names(jaxlib), jaxlib),
  sprintf("| %s | %.2f | %s |", names(best), best, goal),
  "",
  sprintf("xlaffi %s, R %s; the best of 1,000 rounds in turn; %s.", packageVersion("xlaffi"), getRversion(), Sys.Date())
)
writeLines(text)
writeLines(text, file.path(here, "results-calls.md"))
