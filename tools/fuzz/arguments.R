# Calls every exported function with garbage, and with good objects in the wrong places.
#
#   Rscript tools/fuzz/arguments.R SECONDS [SEED [FUNCTION...]]
#
# Each call must give a value, an error of class xlaffi_error, or what R itself says of arguments that are
# missing or unknown. Anything else is a finding: a crash, a call that does not end, the text of a Rust
# panic, an error of another function's. The calls run in a process of their own, which is followed by one
# with the next seed if it dies; that seed and the number of the call repeat it.
args <- commandArgs(trailingOnly = TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
folder <- normalizePath(dirname(script))

seconds <- as.numeric(args[[1]])
seed <- if (length(args) > 1) as.integer(args[[2]]) else 1L
only <- args[-(1:2)]
log <- tempfile("fuzz")
# Some calls write a file or a folder of the name that they are given.
setwd(tempdir())
findings <- 0L
calls <- 0L
started <- proc.time()[["elapsed"]]
repeat {
  left <- seconds - (proc.time()[["elapsed"]] - started)
  if (left < 5 && calls > 0L) break
  unlink(log)
  # What hangs in native code is ended from outside.
  status <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c(file.path(folder, "worker.R"), seed, min(left, 120), log, only),
    stdout = "", stderr = FALSE, timeout = min(left, 120) + 60
  ))
  lines <- if (file.exists(log)) readLines(log, warn = FALSE, encoding = "UTF-8") else "no log"
  found <- grep("^FOUND ", lines, value = TRUE)
  last <- utils::tail(grep("^CALL ", lines, value = TRUE), 1L)
  done <- grep("^DONE ", lines, value = TRUE)
  if (!length(done)) {
    found <- c(found, sprintf("FOUND the process ended (status %s) in seed %d, %s", status, seed, last))
  }
  calls <- calls + max(0L, length(grep("^CALL ", lines)))
  if (length(done)) calls <- calls + as.integer(sub("DONE ", "", done))
  for (line in found) cat(line, "\n")
  findings <- findings + length(found)
  seed <- seed + 1L
}
cat(sprintf("%d calls, %d findings, next seed %d\n", calls, findings, seed))
quit(save = "no", status = as.integer(findings > 0L))
