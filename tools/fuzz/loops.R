# Random functions with loops of R's, which become loops of the program, beside R and turn by turn, until the time is
# up.
#
#   Rscript tools/fuzz/loops.R SECONDS [SEED [COUNT [FIRST]]]
#
# The functions are put together from programs/loops.R. A value is compared with what R computes, and a gradient, a
# derivative along a direction, a Hessian or a batch with that of the same function turn by turn. Findings are made
# small and printed as R code, each kind once. A seed repeats a run, and with FIRST, the number of a batch, a part of
# it.
folder <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "programs")
source(file.path(folder, "run.R"))
load_programs(folder)
run_command(run_loops)
