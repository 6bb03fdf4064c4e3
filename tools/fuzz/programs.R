# Random well-typed R programs, run in R and compiled, until the time is up.
#
#   Rscript tools/fuzz/programs.R SECONDS [SEED [COUNT [FIRST]]]
#
# Many programs are compiled as one (programs/batch.R). What R computes a program computes too, to the rounding that
# programs/rounding.R estimates, with the same type, dimensions, NaN, infinities and signs of zeros; or it refuses it
# with an error that programs/refusals.R lists. Documented differences are in programs/differences.R. Findings are made
# small and printed as R code, each kind once. A seed repeats a run, and with FIRST, the number of a batch, a part of
# it.
folder <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "programs")
source(file.path(folder, "run.R"))
load_programs(folder)
run_command(run_programs)
