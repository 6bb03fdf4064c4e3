# Runs every program that devices.py wrote to a folder on eight devices and tells how far its results are from JAX's.
#
#   Rscript tools/jax/run-devices.R FOLDER [PYTHON]     exports first if FOLDER is not there
library(xlaffi)
args <- commandArgs(trailingOnly = TRUE)
folder <- args[[1]]
source("tests/testthat/helper-jax.R")
if (!dir.exists(folder)) {
  python <- if (length(args) > 1) args[[2]] else Sys.getenv("XLAFFI_PYTHON", "python3")
  if (system2(python, c("tools/jax/devices.py", shQuote(folder))) != 0) {
    stop("the export failed")
  }
}
invisible(pjrt_client("cpu", cpu_device_count = 8L))
programs <- jax_programs(folder)
limit <- 300
errors <- vapply(programs, function(program) {
  tryCatch(device_errors(program), error = function(e) {
    message(program$file, ": ", conditionMessage(e))
    Inf
  })
}, 0)
parts <- strsplit(names(errors), "-", fixed = TRUE)
print(tapply(errors, lapply(1:2, function(i) vapply(parts, `[[`, "", i)), function(x) round(max(x), 1)))
cat(sprintf("%d programs, %d agree to %g eps\n", length(errors), sum(errors < limit), limit))
quit(status = if (all(errors < limit)) 0 else 1)
