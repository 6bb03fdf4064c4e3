# Gradients, Hessians and derivatives along directions of random functions, checked by differences, until the time is
# up.
#
#   Rscript tools/fuzz/derivatives.R SECONDS [SEED [COUNT [FIRST]]]
#
# The functions are put together from programs/smooth.R; many are compiled as one (programs/slopes.R). A gradient is
# compared with differences of what R computes, a Hessian with differences of the exact gradient. Findings are made
# small and printed as R code, each kind once. A seed repeats a run, and with FIRST, the number of a batch, a part of
# it.
folder <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "programs")
source(file.path(folder, "run.R"))
load_programs(folder)
run_command(run_functions)
