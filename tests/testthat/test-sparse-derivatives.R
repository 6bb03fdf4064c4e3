# Sparse derivatives beside dense ones: all entries are there, and where a function's structure is plain no others.
functions <- list(
  chain = function(x) sum(100 * (x[-1] - x[-12]^2)^2 + (1 - x[-12])^2),
  walk = function(x) -sum(dnorm(x[-1], x[-12], 0.5, log = TRUE)) - sum(dpois(1:12, exp(x), log = TRUE)),
  running = function(x) sum(cumsum(x)^2),
  groups = function(x) sum(exp(x[c(1L, 1L, 2L, 3L, 3L, 3L, 2L, 7L, 9L)]) * (1:9)) + sum(x^2),
  matrices = function(x) {
    m <- matrix(x, 4, 3)
    sum(exp(rowSums(m))) + sum(m[, 1] * m[, 3])
  },
  design = function(x) sum(exp(kronecker(diag(4), matrix(1, 2, 3)) %*% x)),
  design_left = function(x) sum(exp(x %*% kronecker(diag(6), matrix(1, 2, 2)))),
  scan = function(x) {
    parts <- hlo_scan(function(last, x) list(x, (x - last)^2), 0, x)
    sum(parts$y) + parts$carry^3
  },
  loop = function(x) hlo_fori(1, 5, function(i, s) s * cos(x[1]) + x[2] * x[3], 1) + sum(x^2),
  branch = function(x) hlo_cond(x[1] > 0, function() x[2] * x[3], function() x[4] * x[5]^2) + sum(x^4),
  sorted = function(x) sum(sort(x)^3),
  extremes = function(x) sum(pmax(x[1:6], x[7:12])^2 + abs(x[1:6])),
  assigned = function(x) {
    y <- x * 2
    y[3] <- x[4] * x[5]
    y[1:2] <- 0
    sum(y^2)
  },
  reversed = function(x) sum(x * rev(x)),
  product = function(x) prod(x[1:3]) + sum(x^2),
  precision = function(x) {
    q <- hlo_sparse(c(rep(2, 12), rep(-1, 11)), c(1:12, 2:12), c(1:12, 1:11), symmetric = TRUE)
    sum(x * (q %*% x)) + sum(exp(q %*% x))
  },
  values = function(x) {
    q <- hlo_sparse(c(exp(x), rep(-0.3, 11)), c(1:12, 2:12), c(1:12, 1:11), symmetric = TRUE)
    sum((q %*% (1:12))^2)
  },
  convolved = function(x) sum(convolve(x, c(1, 2, 3), type = "open")^2),
  linear = function(x) 3 * x[1]
)
# Those of which more entries are kept than are not zero
wider <- c("branch", "sorted", "extremes", "convolved")

test_that("sparse Hessians are the dense ones, with no entry too many where none is needed", {
  skip_without_plugin()
  x <- sin(1:12)
  functions <- one_in(4L, functions)
  both <- xla_jit(function(x) {
    lapply(functions, function(f) {
      h <- xla_hessian(f, sparse = TRUE)(x)
      list(sparse = as.matrix(h), dense = xla_hessian(f)(x), entries = length(hlo_nonzeros(h)))
    })
  })(x)
  for (name in names(functions)) {
    one <- both[[name]]
    expect_equal(one$sparse, one$dense, tolerance = 1e-12, label = name)
    needed <- sum(one$dense[lower.tri(one$dense, diag = TRUE)] != 0)
    expect_identical(one$entries > needed, name %in% wider, label = name)
    expect_gte(one$entries, needed)
  }
})

test_that("sparse Jacobians are the dense ones, by columns and by rows", {
  skip_without_plugin()
  wide <- function(x) x[1:3]^2 * sum(x[4:9])
  tall <- function(x) c(exp(x[2:9] - x[1:8]), x[1] * x)
  x <- cos(1:9)
  integral <- function(x) hlo_integrate(function(t) t * x[1], 0, 1)$value * x
  chosen <- function(x) hlo_select(x[1] > 0, x[2] * x, rev(x))
  both <- xla_jit(function(x) {
    lapply(c(list(wide, tall, chosen), if (all_run()) list(integral)), function(f) {
      c(list(xla_jacobian(f)(x)), lapply(c("auto", "forward", "reverse"), function(mode) {
        as.matrix(xla_jacobian(f, mode = mode, sparse = TRUE)(x))
      }))
    })
  })(x)
  for (one in both) for (k in 2:4) expect_equal(one[[k]], one[[1]], tolerance = 1e-14)
  expect_s4_class(xla_hessian(functions$walk, sparse = TRUE)(sin(1:12)), "dsCMatrix")
})

test_that("what has no sparse derivative is refused", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_hessian(sum, sparse = NA)
    xla_jacobian(function(x) sum(x$a), sparse = TRUE)(list(a = 1))
    xla_jacobian(function(x) list(x, x), sparse = TRUE)(c(1, 2))
  })
})

test_that("every primitive with derivatives says what its results depend on", {
  # These mix all elements, or act on devices.
  all_on_all <- c(
    "all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter", "shard_map", "permute_rows",
    "extremum_places"
  )
  rules <- mget(ls(xlaffi:::primitives), xlaffi:::primitives)
  with_jvp <- names(Filter(function(rule) !is.null(rule$jvp), rules))
  without <- Filter(function(name) is.null(rules[[name]]$sparsity), with_jvp)
  expect_setequal(without, all_on_all)
})

test_that("the program names what made a sparse derivative fuller than it need be", {
  skip_without_plugin()
  f <- function(x) sum(solve(matrix(x, 2, 2) + diag(2)))
  hessian <- function(x) hlo_nonzeros(xla_hessian(f, sparse = TRUE)(x))
  text <- xla_program(hessian, c(0.1, 0.2, 0.3, 0.4))
  expect_snapshot(writeLines(grep("^//", strsplit(text, "\n")[[1]], value = TRUE)))
  expect_no_error(pjrt_compile(pjrt_program(text)))
  # Other programs do not: those whose structure is known, and one that comes after.
  walk <- function(x) hlo_nonzeros(xla_hessian(functions$walk, sparse = TRUE)(x))
  for (other in list(walk, function(x) x * 2)) {
    expect_false(grepl("//", xla_program(other, sin(1:12)), fixed = TRUE))
  }
})
