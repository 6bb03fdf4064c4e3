# Products of tall matrices on the CPU, by a handler of the package that adds up over rows and reads each matrix once,
# also for several products: `crossprod()`, also with weights, and what reverse mode makes of `x %*% beta`. XLA packs
# both operands first, makes a copy of `x * w` in memory that is new at each call, and computes both triangles of a
# symmetric result; see docs/decisions/77-tall-products.md, where the measurements are.

# Rows from which on a product is tall; columns of a symmetric one, and elements of any other, up to which the handler
# is the quicker one.
least_tall <- 1024L
most_symmetric <- 512L
most_product <- 1024

# The operands of a product as the handler takes them: two matrices, or one with itself and perhaps with weights. NULL
# where XLA is to compute it. `is_named(value)` tells whether the program has a value as it stands.
tall_product <- function(node, scope, is_named = function(value) has_name(value, scope)) {
  p <- node$params
  axes <- unlist(p$contract)
  rows <- prod(node$inputs[[1L]]@shape[p$contract[[1L]]])
  is_plain <- scope$platform == "cpu" && is.null(scope$mesh) && node$types[[1L]]@dtype %in% c("f32", "f64") &&
    length(axes) == 2L && !length(p$batch[[1L]]) && rows >= least_tall
  if (!is_plain) {
    return()
  }
  sides <- Map(upright, node$inputs, axes, MoreArgs = list(is_named = is_named))
  columns <- vapply(sides, function(x) if (is.null(x)) Inf else prod(x@shape) / rows, 0)
  if (max(columns) == 1) {
    return()
  }
  is_square <- columns[[1L]] == columns[[2L]] && columns[[1L]] <= most_symmetric
  if (is_square && identical(value_key(sides[[1L]]), value_key(sides[[2L]]))) {
    return(sides)
  }
  weighted <- if (is_square && !scope$ordered) c(weighted_by(sides, is_named), weighted_by(rev(sides), is_named))
  if (length(weighted)) weighted[1:3] else if (prod(columns) <= most_product) sides
}

# What a product adds up over the rows of: a matrix, which may have been transposed since, or a vector of any shape.
# NULL for what is neither, or has no name here.
upright <- function(x, axis, is_named) {
  x <- resolved(x)
  is_vector <- prod(x@shape) == x@shape[[axis]]
  while (!is_vector && x@node$op == "transpose") {
    axis <- x@node$params$permutation[[axis]]
    x <- resolved(x@node$inputs[[1L]])
  }
  if ((is_vector || axis == 1L && length(x@shape) == 2L) && is_named(x)) x
}

has_name <- function(x, scope) !is.null(of_node(scope$names, x@node))

# `x`, `x` and `w`, if the second side is `x * w` with a number for each row
weighted_by <- function(sides, is_named) {
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
  if (identical(repeated[[1L]]@node$params$axes, 1L) && identical(w@shape, x@shape[1L]) && is_named(w)) {
    list(x, x, w)
  }
}

# Products that have a tall matrix in common are one call, written for the last of them, whose `together` has the
# others. What is computed from these comes after it; a product of what is computed from them stays one of its own.
with_products_together <- function(nodes, scope) {
  keys <- vapply(nodes, function(node) {
    if (node$op != "dot_general") {
      return("")
    }
    node$together <- NULL
    sides <- tall_product(node, scope, is_named = function(value) TRUE)
    if (is.null(sides)) "" else value_key(sides[[which.max(vapply(sides[1:2], function(x) prod(x@shape), 0))]])
  }, "")
  shared <- unique(keys[nzchar(keys) & duplicated(keys)])
  if (!length(shared)) {
    return(nodes)
  }
  ids <- node_ids(nodes)
  behind <- lapply(nodes, function(node) match(node_ids(nodes_of(lapply(node$inputs, resolved))), ids, 0L))
  items <- as.list(seq_along(nodes))
  has_effects <- vapply(nodes, acts, NA)
  for (key in shared) items <- joined_items(items, which(keys == key), behind, has_effects)
  for (item in items[lengths(items) > 1L]) {
    nodes[[item[[length(item)]]]]$together <- nodes[item[-length(item)]]
  }
  nodes[vapply(items, function(item) item[[length(item)]], 0L)]
}

# Nodes by their places, each an item or, where they are one call, several; `behind` has the places of what they are
# computed from. Joins the items of some products as far as none is computed from another one, then those of the
# others. What has side effects stays where it is.
joined_items <- function(items, products, behind, has_effects) {
  if (length(products) < 2L) {
    return(items)
  }
  joined <- integer()
  # In the item of a product, or computed from it
  later <- logical(length(behind))
  waiting <- done <- list()
  for (item in items) {
    depends <- any(later[unlist(behind[item])])
    if (any(item %in% products) && !depends) {
      joined <- c(joined, item)
      later[item] <- TRUE
    } else if (depends && any(has_effects[item])) {
      return(items)
    } else if (depends) {
      later[item] <- TRUE
      waiting <- c(waiting, list(item))
    } else {
      done <- c(done, list(item))
    }
  }
  c(done, list(joined), joined_items(waiting, setdiff(products, joined), behind, has_effects))
}

# The nodes whose results the lines of a node compute
written_with <- function(node) c(node$together, list(node))

# The lines of products that are one call
together_lines <- function(node, scope) {
  nodes <- written_with(node)
  products <- lapply(nodes, tall_product, scope)
  is_tall <- !vapply(products, is.null, NA)
  plain <- lapply(nodes[!is_tall], node_lines, scope = scope, alone = TRUE)
  nodes <- nodes[is_tall]
  products <- products[is_tall]
  keys <- vapply(products, function(product) toString(vapply(product, value_name, "", scope = scope)), "")
  keys <- paste(keys, vapply(nodes, function(node) mlir_type(node$types[[1L]]), ""))
  once <- !duplicated(keys)
  text <- crossprod_text(nodes[once], products[once], scope)
  names <- text$names[match(keys, keys[once])]
  for (i in seq_along(nodes)) set_of_node(scope$names, nodes[[i]], names[[i]])
  c(unlist(plain), text$lines)
}

crossprod_text <- function(nodes, products, scope) {
  text <- text_lines(scope)
  operands <- Map(product_operands, nodes, products, MoreArgs = list(text = text, scope = scope))
  all <- function(of) unlist(lapply(operands, `[[`, of))
  types <- vapply(operands, function(product) mlir_type(product$result), "")
  call <- sprintf(
    "stablehlo.custom_call @%s(%s) {api_version = 4 : i32, backend_config = {}} : (%s) -> %s",
    private_target("crossprod"), toString(all("names")), toString(all("types")),
    if (length(types) == 1L) types else sprintf("(%s)", toString(types))
  )
  names <- text$add(call, length(types))
  names <- unlist(Map(function(node, name, operands) {
    reshaped_to(text, name, operands$result, node$types[[1L]])
  }, nodes, names, operands))
  list(names = names, lines = text$lines(), calls = TRUE)
}

# The operands of a product as they are written, and their types
product_operands <- function(node, product, text, scope) {
  rows <- node$inputs[[1L]]@shape[[node$params$contract[[1L]]]]
  matrices <- lapply(product[1:2], function(x) new_type(x@dtype, c(rows, as.integer(prod(x@shape) / rows))))
  names <- vapply(product, value_name, "", scope = scope)
  operands <- c(Map(reshaped_to, list(text), names[1:2], product[1:2], matrices), names[-(1:2)])
  # Equal memory says that the result is symmetric.
  if (names[[1L]] == names[[2L]]) operands[[2L]] <- operands[[1L]]
  result <- new_type(node$types[[1L]]@dtype, c(matrices[[1L]]@shape[[2L]], matrices[[2L]]@shape[[2L]]))
  list(
    names = unlist(operands), types = vapply(c(matrices, lapply(product[-(1:2)], type_of)), mlir_type, ""),
    result = result
  )
}

reshaped_to <- function(text, name, from, to) {
  if (identical(from@shape, to@shape)) name else text$add(reshape_text(name, from, to))
}
