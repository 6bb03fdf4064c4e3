# Products of tall matrices on the CPU, by a handler of the package that adds up over rows and reads each matrix once:
# `crossprod()`, also with weights, and what reverse mode makes of `x %*% beta`. XLA packs both operands first, makes a
# copy of `x * w` in memory that is new at each call, and computes both triangles of a symmetric result; see
# docs/decisions/77-tall-products.md, where the measurements are.

# Rows from which on a product is tall; columns of a symmetric one, and elements of any other, up to which the handler
# is the quicker one.
least_tall <- 1024L
most_symmetric <- 512L
most_product <- 1024

# The operands of a product as the handler takes them: two matrices, or one with itself and perhaps with weights. NULL
# where XLA is to compute it.
tall_product <- function(node, scope) {
  p <- node$params
  axes <- unlist(p$contract)
  rows <- prod(node$inputs[[1L]]@shape[p$contract[[1L]]])
  is_plain <- scope$platform == "cpu" && is.null(scope$mesh) && node$types[[1L]]@dtype %in% c("f32", "f64") &&
    length(axes) == 2L && !length(p$batch[[1L]]) && rows >= least_tall
  if (!is_plain) {
    return()
  }
  sides <- Map(upright, node$inputs, axes, MoreArgs = list(scope = scope))
  columns <- vapply(sides, function(x) if (is.null(x)) Inf else prod(x@shape) / rows, 0)
  if (max(columns) == 1) {
    return()
  }
  is_square <- columns[[1L]] == columns[[2L]] && columns[[1L]] <= most_symmetric
  if (is_square && identical(value_key(sides[[1L]]), value_key(sides[[2L]]))) {
    return(sides)
  }
  weighted <- if (is_square && !scope$ordered) c(weighted_by(sides, scope), weighted_by(rev(sides), scope))
  if (length(weighted)) weighted[1:3] else if (prod(columns) <= most_product) sides
}

# What a product adds up over the rows of: a matrix, which may have been transposed since, or a vector of any shape.
# NULL for what is neither, or has no name here.
upright <- function(x, axis, scope) {
  x <- resolved(x)
  is_vector <- prod(x@shape) == x@shape[[axis]]
  while (!is_vector && x@node$op == "transpose") {
    axis <- x@node$params$permutation[[axis]]
    x <- resolved(x@node$inputs[[1L]])
  }
  if ((is_vector || axis == 1L && length(x@shape) == 2L) && has_name(x, scope)) x
}

has_name <- function(x, scope) !is.null(of_node(scope$names, x@node))

# `x`, `x` and `w`, if the second side is `x * w` with a number for each row
weighted_by <- function(sides, scope) {
  x <- sides[[1L]]
  product <- sides[[2L]]@node
  if (product$op != "multiply") {
    return()
  }
  factors <- lapply(product$inputs, resolved)
  is_x <- value_keys(factors) == value_key(x)
  repeated <- factors[!is_x]
  if (length(repeated) != 1L || repeated[[1L]]@node$op != "broadcast_in_dim") {
    return()
  }
  w <- resolved(repeated[[1L]]@node$inputs[[1L]])
  if (identical(repeated[[1L]]@node$params$axes, 1L) && identical(w@shape, x@shape[1L]) && has_name(w, scope)) {
    list(x, x, w)
  }
}

crossprod_text <- function(node, product, scope) {
  text <- text_lines(scope)
  rows <- node$inputs[[1L]]@shape[[node$params$contract[[1L]]]]
  reshaped_to <- function(name, from, to) {
    if (identical(from@shape, to@shape)) {
      return(name)
    }
    text$add(sprintf("stablehlo.reshape %s : (%s) -> %s", name, mlir_type(from), mlir_type(to)))
  }
  matrices <- lapply(product[1:2], function(x) new_type(x@dtype, c(rows, as.integer(prod(x@shape) / rows))))
  names <- vapply(product, value_name, "", scope = scope)
  operands <- Map(reshaped_to, names[1:2], product[1:2], matrices)
  # Equal memory says that the result is symmetric.
  if (names[[1L]] == names[[2L]]) operands[[2L]] <- operands[[1L]]
  types <- c(matrices, lapply(product[-(1:2)], type_of))
  result <- node$types[[1L]]
  type <- new_type(result@dtype, c(matrices[[1L]]@shape[[2L]], matrices[[2L]]@shape[[2L]]))
  name <- text$add(sprintf(
    "stablehlo.custom_call @%s(%s) {api_version = 4 : i32, backend_config = {}} : (%s) -> %s",
    private_target("crossprod"), toString(c(operands, names[-(1:2)])), toString(vapply(types, mlir_type, "")),
    mlir_type(type)
  ))
  names <- reshaped_to(name, type, result)
  list(names = names, lines = text$lines(), calls = TRUE)
}
