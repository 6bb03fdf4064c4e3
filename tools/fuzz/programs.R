# Random well-typed R programs, run in R and compiled, until the time is up.
#
#   Rscript tools/fuzz/programs.R SECONDS [SEED [COUNT [FIRST]]]
#
# Many programs are compiled as one (programs/batch.R). What R computes a program computes too, to the rounding that
# programs/rounding.R estimates, with the same type, dimensions, NaN, infinities and signs of zeros; or it refuses it
# with an error that programs/refusals.R lists. Documented differences are in programs/differences.R. Findings are made
# small and printed as R code, each kind once. A seed repeats a run, and with FIRST, the number of a batch, a
# part of it.
args <- commandArgs(trailingOnly = TRUE)
seconds <- as.numeric(args[[1]])
seed <- if (length(args) > 1) as.integer(args[[2]]) else 1L
most <- if (length(args) > 2) as.numeric(args[[3]]) else Inf
first <- if (length(args) > 3) as.integer(args[[4]]) else 1L

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "programs", "run.R"))
load_programs(file.path(folder, "programs"))

# Programs on disk are asked for once and never again.
options(xlaffi.program_cache = FALSE)
result <- run_programs(seconds, seed, most, function(...) cat(..., "\n", sep = ""), first)
quit(save = "no", status = as.integer(result > 0L))
