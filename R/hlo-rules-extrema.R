# The largest and smallest floating-point numbers of several devices, in which NaN is kept. XLA's CPU compiles what
# devices make of their parts, be it an all-reduce of the program or one that the partitioner writes, to `a < b ? b : a`
# from device to device, which drops NaN and with it what stood before. On one device NaN is kept.

loses_nan <- function(node, reduction) {
  reduction %in% c("maximum", "minimum") && is_float(node$types[[1L]]@dtype)
}

# Beside the extremum it is reduced which numbers are NaN. `reduced(node, x, op)` writes a reduction of `x` into `text`
# and gives its name.
keeping_nan <- function(node, x, reduction, reduced, text) {
  flags_of <- function(type) new_type("pred", type@shape)
  flags <- list(params = node$params, inputs = lapply(node$inputs, flags_of), types = lapply(node$types, flags_of))
  extremum <- reduced(node, x, reduction)
  given <- mlir_type(node$inputs[[1L]])
  is_nan <- text$add(sprintf(
    "stablehlo.compare NE, %s, %s, FLOAT : (%s, %s) -> %s", x, x, given, given, mlir_type(flags$inputs[[1L]])
  ))
  any_nan <- reduced(flags, is_nan, "or")
  type <- node$types[[1L]]
  nan <- text$add(sprintf("stablehlo.constant %s : %s", mlir_dense(NaN, type@dtype, type@shape), mlir_type(type)))
  text$add(sprintf(
    "stablehlo.select %s, %s, %s : %s, %s", any_nan, nan, extremum, mlir_type(flags$types[[1L]]), mlir_type(type)
  ))
}
