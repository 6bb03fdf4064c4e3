# Processes that the package mirai started: see tools/places.sh. This session computes meanwhile, too.
library(mirai)
library(xlaffi)

daemons(2)
running <- lapply(0:1, function(number) {
  mirai(
    {
      commandArgs <- function(trailingOnly) c("together", "127.0.0.1:29505", "2", number)
      utils::capture.output(sys.source("tools/places/process.R", environment()))
    },
    number = number, .timeout = 180000
  )
})
stopifnot(identical(as.vector(xla_jit(function(x) sum(x^2))(c(1, 2, 3))), 14))
outcomes <- lapply(running, function(one) as.character(one[]))
for (number in 0:1) {
  writeLines(sprintf("  %d: %s", number, outcomes[[number + 1L]]))
}
passed <- all(vapply(outcomes, function(said) identical(said[length(said)], "ok"), NA))

# What a daemon computes without others comes back as it is.
daemons(0)
daemons(1)
value <- mirai(xlaffi::xla_jit(function(x) x * x)(x), x = c(1.5, -2), .timeout = 180000)
passed <- passed && identical(as.vector(value[]), c(2.25, 4))
daemons(0)
cat("mirai:", if (passed) "passed" else "failed", "\n")
quit(status = if (passed) 0L else 1L)
