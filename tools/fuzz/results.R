# Results of all kinds in types, programs and rules (tests/testthat/helper-results.R), until the time is up.
#
#   Rscript tools/fuzz/results.R SECONDS [SEED]
#
# Each call must give what was asked for, or an error of class xlaffi_error_*. A process that ends is a finding, too:
# its last line has the seed.
args <- commandArgs(trailingOnly = TRUE)
seconds <- as.numeric(args[[1]])
seed <- if (length(args) > 1) as.integer(args[[2]]) else 1L

suppressMessages(library(xlaffi))
helpers <- new.env(parent = asNamespace("xlaffi"))
sys.source("tests/testthat/helper-results.R", helpers)

findings <- 0L
calls <- 0L
end <- proc.time()[["elapsed"]] + seconds
# Seeds of the tests come first.
at <- as.integer((seed * 1e6) %% 2^30)
while (proc.time()[["elapsed"]] < end) {
  at <- at + 1L
  calls <- calls + 1L
  if (calls %% 100L == 1L) cat(sprintf("from seed %d\n", at))
  found <- helpers$fuzz_result(at)
  if (!is.null(found)) {
    findings <- findings + 1L
    cat("FOUND", found, "\n")
  }
}
cat(sprintf("%d results, %d findings\n", calls, findings))
quit(save = "no", status = as.integer(findings > 0L))
