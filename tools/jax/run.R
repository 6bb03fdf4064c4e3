# Runs every program that export.py wrote to a folder and tells how far its results are from JAX's.
#
#   Rscript tools/jax/run.R FOLDER [PYTHON]     exports first if FOLDER is not there
library(xlaffi)
args <- commandArgs(trailingOnly = TRUE)
folder <- args[[1]]
source("tests/testthat/helper-jax.R")
# Set by run-devices.R.
over_devices <- exists("over_devices")
exporter <- if (over_devices) "devices.py" else "export.py"
if (!dir.exists(folder)) {
  python <- if (length(args) > 1) args[[2]] else Sys.getenv("XLAFFI_PYTHON", "python3")
  if (system2(python, c(file.path("tools/jax", exporter), shQuote(folder))) != 0) {
    stop("the export failed")
  }
}
if (over_devices) {
  invisible(pjrt_client("cpu", cpu_device_count = 8L))
}
errors_of <- if (over_devices) device_errors else function(program) max(jax_errors(program))
programs <- jax_programs(folder)
limit <- 300
errors <- vapply(programs, function(program) {
  tryCatch(errors_of(program), error = function(e) {
    message(program$file, ": ", conditionMessage(e))
    Inf
  })
}, 0)
parts <- strsplit(names(errors), "-", fixed = TRUE)
print(tapply(errors, lapply(1:2, function(i) vapply(parts, `[[`, "", i)), function(x) round(max(x), 1)))
cat(sprintf("%d programs, %d agree to %g eps\n", length(errors), sum(errors < limit), limit))
quit(status = if (all(errors < limit)) 0 else 1)
