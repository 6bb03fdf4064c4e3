# Precision matrices of Gaussian fields that solve a stochastic partial differential equation on a mesh.

#' Precision of a Matern field on a mesh
#'
#' `hlo_spde_precision()` is the sparse precision matrix of a Gaussian field with Matern covariance on a triangular
#' mesh: the solution of a stochastic partial differential equation by linear finite elements. `fem_matrices()` gives
#' the two matrices of the mesh that it takes.
#'
#' @details
#' With `alpha = 2` the matrix is `tau^2 (kappa^4 C + 2 kappa^2 G + G C^-1 G)`, where C is diagonal, with the integrals
#' of the piecewise linear functions of the nodes, and G has the integrals of products of their gradients. In two
#' dimensions the covariance has smoothness 1, a range of about `sqrt(8) / kappa`, and away from the border the variance
#' `1 / (4 pi kappa^2 tau^2)`.
#'
#' Of a mesh that R knows, G C^-1 G is computed once, while the program is written. `c` and `g` may depend on
#' parameters, as with anisotropy: `c` then is a value, or `g` a matrix of [hlo_sparse()]. Where `g` has entries is
#' always known. \pkg{fmesher}'s and \pkg{INLA}'s `c0` and `g1`, \pkg{TMB}'s `M0` and `M1` can be given as they are.
#'
#' @param nodes The coordinates, a matrix of two columns.
#' @param triangles The nodes of each triangle, counted from 1: a matrix of three columns.
#' @param c The diagonal of C: a vector, or a diagonal matrix of the package \pkg{Matrix}.
#' @param g The symmetric matrix G: a matrix of \pkg{Matrix} or of [hlo_sparse()], or a list of `i`, `j` and `x` as
#'   `fem_matrices()` gives it, with the entries of one triangle and the diagonal.
#' @param kappa,tau One number each, positive.
#' @return `fem_matrices()` a list: `c`, a vector, and `g`, a list of `i`, `j` and `x`, the entries of the lower
#'   triangle. `hlo_spde_precision()` a symmetric sparse matrix, for `hlo_dmvnorm(precision = )`, [solve()] and so on.
#' @section Errors:
#' Matrices that do not fit each other, nodes that do not exist, and triangles without an area are an error
#' (`xlaffi_error_invalid_argument`).
#' @references
#' F. Lindgren, H. Rue, J. Lindstrom, "An explicit link between Gaussian fields and Gaussian Markov random fields: the
#' stochastic partial differential equation approach", Journal of the Royal Statistical Society B 73 (2011).
#' @examplesIf plugins_downloaded()
#' # A mesh of two triangles for each cell of a grid
#' nodes <- as.matrix(expand.grid(0:4, 0:3))
#' corner <- c(outer(1:4, 5 * (0:2), "+"))
#' triangles <- rbind(cbind(corner, corner + 1, corner + 6), cbind(corner, corner + 6, corner + 5))
#' fem <- fem_matrices(nodes, triangles)
#' log_density <- function(p, x) {
#'   hlo_dmvnorm(x, precision = hlo_spde_precision(fem$c, fem$g, exp(p[1]), exp(p[2])), log = TRUE)
#' }
#' xla_grad(log_density)(c(0, -1), sin(1:20))
#' # As a matrix of the package Matrix
#' with(fem$g, Matrix::sparseMatrix(i, j, x = x, symmetric = TRUE))
#' @export
hlo_spde_precision <- function(c, g, kappa, tau = 1) {
  check_given(c, g, kappa)
  call <- environment()
  given <- vector_parameters(list(kappa = kappa, tau = tau), "hlo_spde_precision", call)
  given <- Map(one_number, given, names(given), "hlo_spde_precision", list(call))
  if (is_matrix_object(c)) c <- Matrix::diag(c)
  dtype <- given$kappa@dtype
  parts <- if (is_sparse(g) || is_value(c)) spde_of_values(c, g, dtype, call) else spde_of_numbers(c, g, dtype, call)
  kappa2 <- given$kappa * given$kappa
  factors <- list(kappa2 * kappa2, 2 * kappa2, 1)
  tau2 <- given$tau * given$tau
  terms <- Map(function(part, factor) sparse_operator("*", part, factor * tau2, call), parts, factors)
  sum <- function(x, y) sparse_operator("+", x, y, call)
  Reduce(sum, terms)
}

is_matrix_object <- function(x) isS4(x) && !is_value(x) && !is_sparse(x) && methods::is(x, "Matrix")

# C, G and G C^-1 G as constants, whose entries lie where any of them has one
spde_of_numbers <- function(c, g, dtype, call) {
  if (!is.numeric(c) || !length(c) || !all(is.finite(c) & c > 0)) {
    abort(sprintf("hlo_spde_precision: `c` must be positive numbers, the diagonal of a matrix, not %s", describe(c)),
      op = "hlo_spde_precision", operand = "c", call = call
    )
  }
  n <- length(c)
  g <- stiffness_entries(g, n, call)
  below <- g$i != g$j
  rows <- c(g$i, g$j[below])
  columns <- c(g$j, g$i[below])
  ordered <- order(columns, rows)
  pattern <- new_pattern(n, n, rows[ordered], columns[ordered], FALSE)
  x <- c(g$x, g$x[below])[ordered]
  both <- product_places(pattern, pattern)
  inner <- pattern_columns(pattern)[both$a] + 1L
  diagonal <- seq_len(n) - 1L
  parts <- list(
    list(i = diagonal, j = diagonal, x = c), g,
    list(i = pattern$i[both$a], j = pattern_columns(pattern)[both$b], x = x[both$a] / c[inner] * x[both$b])
  )
  keys <- lapply(parts, function(part) ifelse(part$i >= part$j, part$i + as.double(n) * part$j, NA))
  places <- sort(unique(unlist(keys)))
  whole <- new_pattern(n, n, places %% n, places %/% n, TRUE)
  Map(function(part, key) {
    here <- which(!is.na(key))
    sums <- rowsum(part$x[here], match(key[here], places))
    values <- numeric(length(places))
    values[as.integer(rownames(sums))] <- sums
    new_sparse(constant(values, dtype, length(values), "g", rounded = TRUE), whole)
  }, parts, keys)
}

spde_of_values <- function(c, g, dtype, call) {
  c <- as_doubles(as_value(c, "c", new_type(dtype, integer()), call))
  n <- length(c)
  if (!is_sparse(g)) {
    g <- stiffness_entries(g, n, call)
    g <- sparse_from(g$i, g$j, constant(g$x, dtype, length(g$x), "g", rounded = TRUE), n, n, TRUE)
  }
  check_symmetric(g, "g", "hlo_spde_precision", call)
  check_stiffness_size(g@pattern$nrow, n, call)
  c <- reshaped(c, n)
  twice <- sparse_sparse_product(g, sparse_operator("/", g, c, call))
  kept <- which(twice@pattern$i >= pattern_columns(twice@pattern))
  lower <- new_pattern(n, n, twice@pattern$i[kept], pattern_columns(twice@pattern)[kept], TRUE)
  diagonal <- seq_len(n) - 1L
  list(sparse_from(diagonal, diagonal, c, n, n, TRUE), g, new_sparse(taken(twice@values, kept, 1L), lower))
}

check_stiffness_size <- function(rows, n, call) {
  if (rows != n) {
    abort(sprintf("hlo_spde_precision: `g` must have %d rows, as `c` has numbers, not %.0f", n, rows),
      op = "hlo_spde_precision", operand = "g", call = call
    )
  }
}

# The lower triangle of G, counted from 0: each entry once
stiffness_entries <- function(g, n, call) {
  if (is_matrix_object(g)) {
    check_stiffness_size(nrow(g), n, call)
    if (!Matrix::isSymmetric(g, check.attributes = FALSE)) {
      abort("hlo_spde_precision: `g` must be symmetric", op = "hlo_spde_precision", operand = "g", call = call)
    }
    g <- methods::as(Matrix::forceSymmetric(methods::as(g, "CsparseMatrix"), "L"), "TsparseMatrix")
    return(lower_entries(g@i, g@j, g@x, n))
  }
  fits <- is.list(g) && all(c("i", "j", "x") %in% names(g)) && is.numeric(g$x) && all(is.finite(g$x)) &&
    length(unique(lengths(g[c("i", "j", "x")]))) == 1L
  if (!fits) {
    abort(
      sprintf("hlo_spde_precision: `g` must be a symmetric sparse matrix, or `i`, `j` and `x`, not %s", describe(g)),
      op = "hlo_spde_precision", operand = "g", call = call
    )
  }
  i <- check_entries(g$i, "g$i", call)
  j <- check_entries(g$j, "g$j", call)
  if (any(i > n | j > n)) check_stiffness_size(max(i, j), n, call)
  if (any(i > j) && any(i < j)) {
    abort("hlo_spde_precision: `g` must have the entries of one triangle, but has them in both",
      op = "hlo_spde_precision", operand = "g", call = call
    )
  }
  lower_entries(pmax(i, j) - 1L, pmin(i, j) - 1L, g$x, n)
}

lower_entries <- function(i, j, x, n) {
  keys <- i + as.double(n) * j
  places <- sort(unique(keys))
  list(i = as.integer(places %% n), j = as.integer(places %/% n), x = as.vector(rowsum(x, match(keys, places))))
}

#' @rdname hlo_spde_precision
#' @export
fem_matrices <- function(nodes, triangles) {
  if (!is.matrix(nodes) || ncol(nodes) != 2L || !is.numeric(nodes) || !all(is.finite(nodes))) {
    abort("`nodes` must be a matrix of two columns, the coordinates", operand = "nodes")
  }
  n <- nrow(nodes)
  corners <- is.matrix(triangles) && ncol(triangles) == 3L && is.numeric(triangles) &&
    all(triangles %in% seq_len(n))
  if (!corners) {
    abort(sprintf("`triangles` must be a matrix of three columns, of nodes from 1 to %d", n), operand = "triangles")
  }
  corner <- lapply(1:3, function(k) nodes[triangles[, k], , drop = FALSE])
  # The edge opposite to each corner
  edge <- lapply(1:3, function(k) corner[[(k + 1L) %% 3L + 1L]] - corner[[k %% 3L + 1L]])
  area <- abs(edge[[1L]][, 1L] * edge[[2L]][, 2L] - edge[[1L]][, 2L] * edge[[2L]][, 1L]) / 2
  if (any(area == 0)) {
    abort(sprintf("`triangles` has one without an area, in row %d", which(area == 0)[[1L]]), operand = "triangles")
  }
  mass <- rowsum(rep(area / 3, 3L), as.vector(triangles))
  c <- numeric(n)
  c[as.integer(rownames(mass))] <- mass
  pairs <- list(c(1L, 1L), c(2L, 2L), c(3L, 3L), c(2L, 1L), c(3L, 1L), c(3L, 2L))
  products <- lapply(pairs, function(p) rowSums(edge[[p[[1L]]]] * edge[[p[[2L]]]]) / (4 * area))
  first <- unlist(lapply(pairs, function(p) triangles[, p[[1L]]]))
  second <- unlist(lapply(pairs, function(p) triangles[, p[[2L]]]))
  g <- lower_entries(pmax(first, second) - 1, pmin(first, second) - 1, unlist(products), n)
  list(c = c, g = list(i = g$i + 1L, j = g$j + 1L, x = g$x))
}

overload("hlo_spde_precision", "xlaffi", hlo_spde_precision,
  by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in all arguments"
)
