# The larger and the smaller of two numbers. XLA's CPU leaves reductions of 4096 elements or more, and what is computed
# for them, to a library (YNNPACK, in jaxlib 0.10.2) whose `maximum` and `minimum` drop NaN. So of arrays of that size
# they are written as a choice, which the library does not take. Of programs that have them as they are XLA is told to
# leave out the library (the crate `programs`).
least_elements_of_library <- 4096

is_for_library <- function(type) is_float(type@dtype) && prod(type@shape) >= least_elements_of_library

# The lines that choose between `a` and `b`, of `type`; `add` takes the text of one and gives its name. A NaN is chosen.
chosen_extremum <- function(op, a, b, type, add) {
  shown <- mlir_type(type)
  flags <- mlir_type(new_type("pred", type@shape))
  compared <- function(direction, a, b) {
    add(sprintf("stablehlo.compare %s, %s, %s, FLOAT : (%s, %s) -> %s", direction, a, b, shown, shown, flags))
  }
  better <- compared(if (op == "maximum") "GE" else "LE", a, b)
  nan <- compared("NE", a, a)
  either <- add(sprintf("stablehlo.or %s, %s : %s", better, nan, flags))
  add(sprintf("stablehlo.select %s, %s, %s : %s, %s", either, a, b, flags, shown))
}

primitive(c("maximum", "minimum"), text = function(node, operands, scope) {
  type <- node$types[[1L]]
  if (!is_for_library(type)) {
    return(plain_text(node, operands, scope))
  }
  text <- text_lines(scope)
  name <- chosen_extremum(node$op, operands[[1L]], operands[[2L]], type, text$add)
  list(names = name, lines = text$lines())
})

# A reduction by such a choice
extremum_reduction_text <- function(node, operands, reduction, scope) {
  type <- new_type(node$types[[1L]]@dtype, integer())
  text <- text_lines(replace(scope, "indent", paste0(scope$indent, "  ")))
  name <- chosen_extremum(reduction, "%x", "%y", type, text$add)
  shown <- mlir_type(type)
  c(
    sprintf("\"stablehlo.reduce\"(%s) ({", toString(operands)),
    sprintf("%s  ^bb0(%%x: %s, %%y: %s):", scope$indent, shown, shown),
    text$lines(),
    sprintf("%s  stablehlo.return %s : %s", scope$indent, name, shown),
    sprintf(
      "%s}) {dimensions = array<i64: %s>} : %s", scope$indent, toString(node$params$axes - 1L), signature_text(node)
    )
  )
}
