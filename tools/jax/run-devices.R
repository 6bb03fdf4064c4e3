# As run.R, for the programs over several devices that devices.py writes, on eight devices.
#
#   Rscript tools/jax/run-devices.R FOLDER [PYTHON]
over_devices <- TRUE
source("tools/jax/run.R")
