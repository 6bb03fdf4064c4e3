# Where the largest or smallest elements along axes are: the positions of the first and the last one, counted from 0
# along these axes as StableHLO counts, the last axis fastest. One reduction takes each element once. To look for the
# extremum among elements that are computed a second time may find none.

# `first` and `last`, in i32, or in i64 where there are more positions. Without `nan` NaN is left out: where there is
# nothing else, `first` is the largest integer and `last` is -1. Where NaN takes part it hides elements, and any
# position may come out.
extremum_places <- function(x, axes, largest, nan = TRUE) {
  at <- places_along(x@shape, axes)
  nothing <- if (at@dtype == "i32") filled(.Machine$integer.max, scalar_type("i32")) else highest("i64")
  none <- filled(-1, scalar_type(at@dtype))
  start <- reduction_start(if (largest) "reduce_max" else "reduce_min", x)
  first <- last <- at
  if (!nan && is_float(x@dtype)) {
    missing <- compared(x, x, "NE", "which.max()")
    everywhere <- function(number) broadcast(number, x@shape, integer())
    first <- selected(missing, everywhere(nothing), at)
    last <- selected(missing, everywhere(none), at)
    x <- selected(missing, everywhere(start), x)
  }
  shape <- x@shape[-axes]
  types <- list(new_type(x@dtype, shape), new_type(at@dtype, shape), new_type(at@dtype, shape))
  inputs <- list(x, first, last, start, nothing, none)
  node <- new_node("extremum_places", inputs, types, list(axes = axes, largest = largest))
  list(first = new_value(node, 2L), last = new_value(node, 3L))
}

scalar_type <- function(dtype) new_type(dtype, integer())

places_along <- function(shape, axes) {
  sizes <- shape[axes]
  dtype <- if (prod(sizes) <= .Machine$integer.max) "i32" else "i64"
  of_all <- function(op, x, y) bind(op, list(x, y), dtype, shape)
  parts <- Map(function(axis, step) {
    at <- hlo_iota(dtype, shape, axis)
    if (step == 1) at else of_all("multiply", at, filled(step, at))
  }, axes, rev(cumprod(c(1, rev(sizes)[-length(sizes)]))))
  Reduce(function(x, y) of_all("add", x, y), parts)
}

# XLA's CPU makes a loop without branches of this reduction: 0.8 ms for 1e6 numbers, where one that asks for equality
# took 3.7 (jaxlib 0.10.2, one core). It has no `maximum` and no `minimum`, as programs with these do without the
# library that adds up large arrays (see prim-extremum.R).
extremum_places_text <- function(node, operands, scope) {
  scalars <- vapply(node$inputs[4:6], mlir_type, "")
  kind <- comparison_kind(node$inputs[[1L]]@dtype)
  number <- scalars[[1L]]
  place <- scalars[[2L]]
  beyond <- if (node$params$largest) c("GT", "LT") else c("LT", "GT")
  in_region <- function(...) paste0(scope$indent, "  ", sprintf(...))
  compared <- function(name, direction, x, y, kind, type) {
    in_region(
      "%%%s = stablehlo.compare %s, %%%s, %%%s, %s : (%s, %s) -> tensor<i1>", name, direction, x, y, kind, type, type
    )
  }
  chosen <- function(name, pred, x, y, type) {
    in_region("%%%s = stablehlo.select %%%s, %%%s, %%%s : tensor<i1>, %s", name, pred, x, y, type)
  }
  c(
    sprintf("\"stablehlo.reduce\"(%s) ({", toString(operands)),
    in_region(
      "^bb0(%%x: %s, %%x_first: %s, %%x_last: %s, %%y: %s, %%y_first: %s, %%y_last: %s):", number, place, place, number,
      place, place
    ),
    compared("beyond", beyond[[1L]], "x", "y", kind, number),
    compared("behind", beyond[[2L]], "x", "y", kind, number),
    compared("is_sooner", "LT", "x_first", "y_first", "SIGNED", place),
    chosen("sooner", "is_sooner", "x_first", "y_first", place),
    compared("is_later", "GT", "x_last", "y_last", "SIGNED", place),
    chosen("later", "is_later", "x_last", "y_last", place),
    chosen("value", "behind", "y", "x", number),
    chosen("other_first", "behind", "y_first", "sooner", place),
    chosen("first", "beyond", "x_first", "other_first", place),
    chosen("other_last", "behind", "y_last", "later", place),
    chosen("last", "beyond", "x_last", "other_last", place),
    in_region("stablehlo.return %%value, %%first, %%last : %s, %s, %s", number, place, place),
    sprintf(
      "%s}) {dimensions = array<i64: %s>} : %s", scope$indent, toString(node$params$axes - 1L), signature_text(node)
    )
  )
}

primitive("extremum_places",
  text = extremum_places_text,
  jvp = function(node, tangents) vector("list", 3L),
  vmap = function(node, inputs, mapped, size) {
    params <- node$params
    params$axes <- params$axes + 1L
    rebind_batch(node, c(all_in_front(inputs[1:3], mapped[1:3], size), inputs[4:6]), size, params)
  },
  export = exported_params("axes", "largest")
)
