# What ffi_call() adds to pjrt_execute() of the same compiled program, on buffers: for one call of
# `kepler` on 4 numbers, and for a function of xla_jit() without a custom call.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))

x <- pjrt_buffer(c(0.1, 0.2, 0.3, 0.4), "f64")
kepler <- ffi_call("kepler", function(M, e) list(sin = M, cos = M))
functions <- list(`kepler, 4 numbers` = kepler, `x + y, 4 numbers` = xla_jit(function(x, y) x + y))

results <- lapply(functions, function(f) {
  program <- pjrt_compile(pjrt_program(xla_program(f, x, x)))
  alternate(list(
    `pjrt_execute()` = batches(function() pjrt_execute(program, x, x, simplify = FALSE)),
    `as a function` = batches(function() f(x, x))
  ), rounds = 41L)
})
differences <- vapply(results, function(us) us[[2L]] - us[[1L]], 0)
text <- c(
  as_markdown(results),
  "",
  sprintf("Added per call: %s.", paste(sprintf("%.1f us (%s)", differences, names(differences)), collapse = ", ")),
  paste0(
    "xlaffi ", packageVersion("xlaffi"), ", R ", getRversion(), "; medians of 41 rounds in turn; ", Sys.Date(), "."
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-ffi-call.md"))
