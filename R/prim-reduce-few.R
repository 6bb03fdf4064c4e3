# Sums and extrema of a few numbers each. XLA's CPU leaves reductions, and what is reduced, to a library (YNNPACK) where
# there are 4096 elements or more. That is quick where many numbers become one, and slow where it is a few: sums of the
# eight rows of a matrix of 200,000 columns took 8.6 ms and take 0.18 ms as the additions that they are (jaxlib 0.10.2,
# two cores); 16 rows took 3.4 ms and take 0.13 ms as a product with a vector of ones, 64 rows 1.9 ms and 0.12. From
# 128 on the library is as quick. Where numbers lie apart in memory that are added to one another, it is 1.5 to 6 times
# slower up to 8, and from there on as quick.
most_added <- 16L
most_multiplied <- 127L

few_reductions <- c("reduce_add", "reduce_max", "reduce_min")

reduces_few <- function(node, scope) {
  x <- node$inputs[[1L]]
  count <- prod(x@shape[node$params$axes])
  most <- if (node$op == "reduce_add") most_multiplied else most_added
  node$op %in% few_reductions && count > 1L && count <= most && is_for_library(x) && x@dtype %in% c("f64", "f32") &&
    is.null(scope$mesh) && begins_with_nothing(node)
}

# Whether the reduction starts with the number that changes nothing.
begins_with_nothing <- function(node) {
  start <- resolved(node$inputs[[2L]])@node
  nothing <- switch(node$op, reduce_add = 0, reduce_max = -Inf, reduce_min = Inf)
  start$op == "constant" && identical(as.double(start$params$data), nothing)
}

few_reduced_text <- function(node, x, scope) {
  text <- text_lines(scope)
  many <- prod(node$inputs[[1L]]@shape[node$params$axes]) > most_added
  name <- if (many) sum_by_ones(node, x, text) else one_by_one(node, x, text)
  list(names = name, lines = text$lines())
}

sum_by_ones <- function(node, x, text) {
  given <- node$inputs[[1L]]
  axes <- node$params$axes
  type <- mlir_type(new_type(given@dtype, given@shape[axes]))
  ones <- text$add(sprintf("stablehlo.constant dense<1.0> : %s", type))
  text$add(sprintf(
    "stablehlo.dot_general %s, %s, contracting_dims = %s x %s, precision = [HIGHEST, HIGHEST] : (%s, %s) -> %s",
    ones, x, axes_text(seq_along(axes)), axes_text(axes), type, mlir_type(given), mlir_type(node$types[[1L]])
  ))
}

one_by_one <- function(node, x, text) {
  given <- node$inputs[[1L]]
  axes <- node$params$axes
  shape <- replace(given@shape, axes, 1L)
  part <- mlir_type(new_type(given@dtype, shape))
  places <- arrayInd(seq_len(prod(given@shape[axes])), given@shape[axes]) - 1L
  parts <- apply(places, 1L, function(place) {
    from <- replace(0L * shape, axes, place)
    range <- toString(sprintf("%d:%d", from, from + shape))
    text$add(sprintf("stablehlo.slice %s [%s] : (%s) -> %s", x, range, mlir_type(given), part))
  })
  op <- reductions[[node$op]]
  result <- Reduce(function(a, b) text$add(sprintf("stablehlo.%s %s, %s : %s", op, a, b, part)), parts)
  if (op == "add") result <- without_sign_of_zero(result, given@dtype, shape, text)
  text$add(sprintf("stablehlo.reshape %s : (%s) -> %s", result, part, mlir_type(node$types[[1L]])))
}

# A reduction begins with a zero, so a sum of negative zeros is a positive one; XLA leaves out an addition of zero.
without_sign_of_zero <- function(x, dtype, shape, text) {
  type <- mlir_type(new_type(dtype, shape))
  flags <- mlir_type(new_type("pred", shape))
  zero <- text$add(sprintf("stablehlo.constant dense<0.0> : %s", type))
  is_zero <- text$add(sprintf("stablehlo.compare EQ, %s, %s, FLOAT : (%s, %s) -> %s", x, zero, type, type, flags))
  text$add(sprintf("stablehlo.select %s, %s, %s : %s, %s", is_zero, zero, x, flags, type))
}
