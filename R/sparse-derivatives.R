# Derivatives as sparse matrices. Where they are not zero is found out while the program is written (ad-sparsity.R);
# columns that share no row, or rows that share no column, are one product with a vector of zeros and ones (see the
# crate `sparse`), and all products are one batch.

# The numbers of values that are written into the program
known_constants <- function(value) {
  node <- resolved(value)@node
  if (node$op == "constant") {
    dims <- if (length(value@shape)) value@shape else 1L
    array(rep_len(node$params$data, prod(dims)), dims)
  }
}

# The change of the result of the function `f` of a vector `x` along a direction, as a graph. `f` is traced once more.
derivative_graph <- function(f, x) {
  graph <- NULL
  silently(function() {
    root <- alias_of(x)
    first <- trace_state$node_count + 1
    output <- for_derivatives(function() all_solved(list(f(root)), first), list(root))[[1L]]
    direction <- new_parameter(x)
    change <- jvp_graph(list(output), list(root), list(direction))
    graph <<- list(change = change[[1L]], direction = direction, count = length(output))
    list()
  })
  graph
}

# For each element of the result the elements of the argument that its derivative by is not known to be zero, in order.
derivative_sets <- function(graph, known) {
  size <- length(graph$direction)
  sets <- new_sets(size)
  ids <- if (!is.null(graph$change)) {
    dependence_graph(list(graph$change), list(graph$direction), list(seq_len(size)), sets, known)[[1L]]
  }
  members_of(sets, if (is.null(ids)) integer(graph$count) else ids)
}

# What is needed of the derivative of a gradient, given as its graph: the pattern of the lower triangle, the colours of
# the columns, and where each entry is among the products, which come by colour.
hessian_plan <- function(graph, known = known_constants) {
  found <- derivative_sets(graph, known)
  n <- length(graph$direction)
  rows <- rep.int(seq_len(n), found$sizes) - 1L
  columns <- found$members - 1L
  keys <- unique(pmin(rows, columns) * as.double(n) + pmax(rows, columns))
  pattern <- ordered_pattern(keys, n, n, TRUE)
  colours <- check(.Call(wrap__sparse_star_colouring, pattern$nrow, pattern$p, pattern$i))
  list(pattern = pattern, colours = colours$colours, count = colours$count, at = colours$by * n + colours$row + 1L)
}

# The pattern with entries where the keys j * nrow + i say
ordered_pattern <- function(keys, nrow, ncol, symmetric) {
  keys <- sort(keys, method = "radix")
  new_pattern(nrow, ncol, as.integer(keys %% nrow), as.integer(keys %/% nrow), symmetric)
}

# A row for each colour: ones at the elements of this colour
colour_rows <- function(colours, count, dtype) {
  shape <- c(count, length(colours))
  own <- broadcast(constant(colours, "i32", length(colours), "colours"), shape, 2L)
  converted(compared(own, hlo_iota("i32", shape, 1), "EQ", "xla_hessian"), dtype)
}

# The Hessian at `x`
planned_hessian <- function(plan, slope, x) {
  pushed <- xla_jvp(slope)
  new_sparse(planned_entries(plan, function(direction) pushed(x, direction)$tangent, x), plan$pattern)
}

# ... its entries, where `product` is its product with a vector
planned_entries <- function(plan, product, x) {
  if (!plan$count) {
    return(constant(0, x@dtype, 0L, "x"))
  }
  products <- xla_vmap(product)(colour_rows(plan$colours, plan$count, x@dtype))
  taken(reshaped(products, length(products)), plan$at, 1L)
}

hooks$sparse_hessian <- function(gradient, x) {
  slope <- function(v) as_column(gradient(from_column(v, x@shape)))
  v <- as_column(x)
  planned_hessian(hessian_plan(derivative_graph(slope, v)), slope, v)
}

# By columns in forward mode, by rows in reverse mode, whichever has fewer colours
hooks$sparse_jacobian <- function(f, arguments, chosen, mode, call) {
  if (length(chosen) != 1L || !is_value(arguments[[chosen]]) || !is_float(arguments[[chosen]]@dtype)) {
    abort("xla_jacobian: `sparse = TRUE` is for one argument, an array of real numbers", operand = "wrt", call = call)
  }
  x <- arguments[[chosen]]
  g <- function(v) {
    arguments[[chosen]] <- from_column(v, x@shape)
    result <- call_written(f, arguments)
    if (!is_value(result) || !is_float(result@dtype)) {
      shown <- if (is_branch(result)) "a list" else describe_leaf(result)
      abort(sprintf("xla_jacobian: with `sparse = TRUE` `f` must return an array of real numbers, not %s", shown),
        operand = "f", call = call
      )
    }
    as_column(result)
  }
  v <- as_column(x)
  graph <- derivative_graph(g, v)
  found <- derivative_sets(graph, known_constants)
  m <- graph$count
  n <- length(v)
  keys <- (found$members - 1L) * as.double(m) + rep.int(seq_len(m), found$sizes) - 1L
  pattern <- ordered_pattern(keys, m, n, FALSE)
  colours <- jacobian_colours(pattern, mode)
  if (!colours$count) {
    return(new_sparse(constant(0, x@dtype, 0L, "x"), pattern))
  }
  seeds <- colour_rows(colours$colours, colours$count, x@dtype)
  columns <- pattern_columns(pattern)
  if (colours$mode == "forward") {
    pushed <- xla_jvp(g)
    products <- xla_vmap(function(direction) pushed(v, direction)$tangent)(seeds)
    at <- colours$colours[columns + 1L] * m + pattern$i + 1L
  } else {
    pulled <- xla_vjp(g)
    products <- xla_vmap(function(weights) pulled(v, weights)$gradients)(seeds)
    at <- colours$colours[pattern$i + 1L] * n + columns + 1L
  }
  new_sparse(taken(reshaped(products, length(products)), at, 1L), pattern)
}

jacobian_colours <- function(pattern, mode) {
  coloured <- function(pattern, mode) {
    found <- check(.Call(wrap__sparse_column_colouring, pattern$nrow, pattern$ncol, pattern$p, pattern$i))
    c(found, mode = mode)
  }
  by_columns <- if (mode != "reverse") coloured(pattern, "forward")
  by_rows <- if (mode != "forward") {
    keys <- pattern$i * as.double(pattern$ncol) + pattern_columns(pattern)
    coloured(ordered_pattern(keys, pattern$ncol, pattern$nrow, FALSE), "reverse")
  }
  if (is.null(by_rows) || (!is.null(by_columns) && by_columns$count <= by_rows$count)) by_columns else by_rows
}
