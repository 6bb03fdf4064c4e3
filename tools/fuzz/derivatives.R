# Gradients, Hessians and derivatives along directions of random functions, checked by differences, until the time is
# up.
#
#   Rscript tools/fuzz/derivatives.R SECONDS [SEED [COUNT [FIRST]]]
#
# The functions are put together from programs/smooth.R; many are compiled as one (programs/slopes.R). A gradient is
# compared with differences of what R computes, a Hessian with differences of the exact gradient. Findings are made
# small
# and printed as R code, each kind once. A seed repeats a run, and with FIRST, the number of a batch, a part of
# it.
args <- commandArgs(trailingOnly = TRUE)
seconds <- as.numeric(args[[1]])
seed <- if (length(args) > 1) as.integer(args[[2]]) else 1L
most <- if (length(args) > 2) as.numeric(args[[3]]) else Inf
first <- if (length(args) > 3) as.integer(args[[4]]) else 1L

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "programs", "run.R"))
load_programs(file.path(folder, "programs"))

options(xlaffi.program_cache = FALSE)
result <- run_functions(seconds, seed, most, function(...) cat(..., "\n", sep = ""), first)
quit(save = "no", status = as.integer(result > 0L))
