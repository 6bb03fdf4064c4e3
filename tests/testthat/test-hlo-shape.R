run <- function(f, ...) xla_jit(f)(...)

test_that("shapes change as R's own functions change them", {
  skip_without_plugin()
  a <- array(1:24 / 2, c(2, 3, 4))
  m <- a[, , 1]
  expect_equal(run(t, m), t(m))
  expect_equal(run(hlo_t, a), aperm(a, c(1, 3, 2)))
  expect_equal(run(function(a) hlo_transpose(a, c(3, 1, 2)), a), aperm(a, c(3, 1, 2)))
  expect_equal(run(hlo_transpose, a), aperm(a))
  expect_equal(run(function(m) hlo_reshape(m, c(3, 2)), m), matrix(t(m), 3, byrow = TRUE))
  expect_equal(run(function(x) hlo_broadcast(x, c(3, 2), 1), c(1, 2, 3)), matrix(c(1, 2, 3), 3, 2))
  expect_equal(run(function(x) hlo_broadcast(x, c(2, 3), 2), c(1, 2, 3)), matrix(c(1, 2, 3), 2, 3, byrow = TRUE))
  expect_equal(run(function(m) hlo_reverse(m, 2), m), m[, 3:1])
  expect_equal(run(function(a) hlo_slice(a, c(1, 1, 2), c(2, 3, 4), c(1, 2, 2)), a), a[, c(1, 3), c(2, 4)])
  expect_equal(as.vector(run(function(x) hlo_pad(x, 9, 1, -1, 2), c(1, 2))), c(9, 1, 9, 9))
  expect_equal(run(function(m) hlo_concatenate(m, m * 2, axis = 2), m), cbind(m, m * 2))
  expect_equal(as.vector(run(function(x) hlo_concatenate(0, x), c(1, 2))), c(0, 1, 2))
  expect_equal(run(function(m, i) hlo_dynamic_slice(m, list(1, i), c(2, 2)), m, 2L), m[, 2:3])
  expect_equal(run(function(m, i) hlo_dynamic_slice(m, list(1, i), c(2, 2)), m, 9L), m[, 2:3])
  expected <- m
  expected[2, 1:2] <- c(7, 8)
  expect_equal(run(function(m, u) hlo_dynamic_update_slice(m, u, list(2, 1)), m, matrix(c(7, 8), 1)), expected)
})

test_that("indices take what they take in R", {
  skip_without_plugin()
  m <- matrix(1:6 / 2, 2)
  expect_equal(as.vector(run(function(m) m[2, ], m)), m[2, ])
  expect_equal(run(function(m) m[, 2:3], m), m[, 2:3])
  expect_equal(run(function(m) m[, 2, drop = FALSE], m), m[, 2, drop = FALSE])
  expect_equal(as.vector(run(function(m) m[2, 3], m)), m[2, 3])
  expect_equal(run(function(m) m[, c(1, 3)], m), m[, c(1, 3)])
  expect_equal(as.vector(run(function(m, i) m[i, 1:2], m, 2L)), m[2, 1:2])
  expect_equal(run(function(m, i) m[, i, drop = FALSE], m, 3L), m[, 3, drop = FALSE])
  expect_equal(as.vector(run(function(m) m[[2, 3]], m)), m[[2, 3]])
  expect_equal(as.vector(run(function(m) c(m[1, 2], 5, m[2, ]), m)), c(m[1, 2], 5, m[2, ]))
})

test_that("sums and products are R's", {
  skip_without_plugin()
  set.seed(1)
  a <- array(rnorm(24), c(2, 3, 4))
  b <- array(rnorm(40), c(2, 4, 5))
  expect_equal(as.vector(run(function(a) hlo_sum(a, c(1, 3)), a)), apply(a, 2, sum))
  expect_equal(as.vector(run(hlo_sum, a)), sum(a))
  expect_equal(run(hlo_matmul, a[1, , ], b[1, , ]), a[1, , ] %*% b[1, , ])
  product <- array(0, c(2, 3, 5))
  for (i in 1:2) product[i, , ] <- a[i, , ] %*% b[i, , ]
  expect_equal(run(hlo_matmul, a, b), product)
  for (i in 1:2) product[i, , ] <- a[1, , ] %*% b[i, , ]
  expect_equal(run(hlo_matmul, a[1, , ], b), product)
  for (i in 1:2) product[i, , ] <- a[i, , ] %*% b[1, , ]
  expect_equal(run(hlo_matmul, a, b[1, , ]), product)
  expect_equal(as.vector(run(hlo_matmul, a[1, , ], 1:4 / 2)), as.vector(a[1, , ] %*% (1:4 / 2)))
  expect_equal(as.vector(run(hlo_matmul, 1:3 / 2, a[1, , ])), as.vector((1:3 / 2) %*% a[1, , ]))
  expect_equal(as.vector(run(hlo_matmul, 1:3 / 2, 1:3 / 2)), sum((1:3 / 2)^2))
  dots <- run(function(a, b) hlo_dot(a, b, contract = list(c(1, 3), c(1, 2))), a, b)
  expect_equal(dots, matrix(aperm(a, c(2, 1, 3)), 3) %*% matrix(b, 8))
  expect_identical(dim(run(hlo_matmul, matrix(0, 0, 3), matrix(0, 3, 2))), c(0L, 2L))
})

test_that("triangular systems are solved on both sides, of either triangle, transposed too", {
  skip_without_plugin()
  set.seed(2)
  n <- 3L
  full <- matrix(rnorm(n^2) + 1i * rnorm(n^2), n) + 3 * diag(n)
  # One right-hand side, and many, which lie in memory in another way
  sides <- lapply(c(1, 9), function(k) matrix(rnorm(n * k) + 1i * rnorm(n * k), n))
  forms <- expand.grid(lower = c(TRUE, FALSE), transpose = c("none", "transpose", "adjoint"), stringsAsFactors = FALSE)
  forms$unit <- c(TRUE, FALSE, FALSE, TRUE, TRUE, FALSE)
  solve_all <- function(a, b, batch) {
    lapply(seq_len(nrow(forms)), function(i) {
      solve <- function(a, b, left) {
        hlo_triangular_solve(a, b, left, forms$lower[[i]], forms$unit[[i]], forms$transpose[[i]])
      }
      lapply(c(TRUE, FALSE), function(left) {
        alone <- lapply(b, function(b) solve(a, if (left) b else t(b), left))
        together <- lapply(batch, function(b) {
          xla_vmap(function(b) solve(a, if (left) b else t(b), left), 3, 3)(b)
        })
        # Factors by columns, as LAPACK leaves them
        factors <- solve(xlaffi:::lu_packed(a)$lu, if (left) b[[2L]] else t(b[[2L]]), left)
        list(alone, together, factors)
      })
    })
  }
  for (part in list(identity, Re)) {
    a <- part(full)
    b <- lapply(sides, part)
    batch <- lapply(b, function(b) array(c(b, 2 * b, -b), c(dim(b), 3)))
    found <- xla_jit(solve_all)(a, b, batch)
    lu <- xla_jit(function(a) xlaffi:::lu_packed(a)$lu)(a)
    for (i in seq_len(nrow(forms))) {
      triangle <- function(a) {
        a[if (forms$lower[[i]]) upper.tri(a) else lower.tri(a)] <- 0
        if (forms$unit[[i]]) diag(a) <- 1
        switch(forms$transpose[[i]],
          none = a,
          transpose = t(a),
          adjoint = Conj(t(a))
        )
      }
      ways <- list(function(a, b) solve(triangle(a), b), function(a, b) t(b) %*% solve(triangle(a)))
      for (way in 1:2) {
        alone <- lapply(b, ways[[way]], a = a)
        expect_equal(found[[i]][[way]][[1L]], alone)
        expect_equal(found[[i]][[way]][[2L]], lapply(alone, function(x) array(c(x, 2 * x, -x), c(dim(x), 3))))
        expect_equal(found[[i]][[way]][[3L]], ways[[way]](lu, b[[2L]]))
      }
    }
  }
  batch <- array(c(2, 3, 0, 0, 1, 1, 0, 0), c(2, 2, 2))
  expect_identical(dim(run(hlo_triangular_solve, batch, array(1, c(2, 2, 3)))), c(2L, 2L, 3L))
  expect_identical(dim(run(hlo_triangular_solve, diag(2), matrix(0, 2, 0))), c(2L, 0L))
  from_the_right <- function(a, b) hlo_triangular_solve(a, b, left = FALSE)
  expect_identical(dim(run(from_the_right, diag(2), matrix(0, 0, 2))), c(0L, 2L))
  none <- matrix(0, 0, 0)
  expect_identical(dim(xla_vmap(function(b) hlo_triangular_solve(none, b))(array(0, c(3, 0, 1)))), c(3L, 0L, 1L))
})

test_that("wrong shapes and axes are named", {
  values_anywhere()
  x <- xlaffi:::new_parameter(ffi_type("f64", 3))
  i <- xlaffi:::new_parameter(ffi_type("i32", 3))
  m <- xlaffi:::new_parameter(ffi_type("f64", c(3, 2)))
  expect_snapshot(error = TRUE, {
    hlo_broadcast(x, c(2, 2), 1)
    hlo_broadcast(x, c(3, 2))
    hlo_broadcast(x, c(3, -1))
    hlo_reshape(m, 5)
    hlo_transpose(m, c(1, 1))
    hlo_t(x)
    hlo_reverse(m, 3)
    hlo_slice(x, 2, 4)
    hlo_slice(x, 1:2, 2:3)
    hlo_pad(x, 0, -2, -2)
    hlo_pad(x, i, 1)
    hlo_concatenate(m, x)
    hlo_concatenate()
    hlo_dynamic_slice(x, list(1), 4)
    hlo_dynamic_slice(x, list(x), 1)
    hlo_dynamic_slice(m, list(1), c(1, 1))
    hlo_dynamic_update_slice(x, i, 1)
    m[9, 1]
    m[[1, ]]
    hlo_sum(x, 2)
    hlo_matmul(m, m)
    hlo_matmul(m, i)
    hlo_dot(m, m, list(1, 2))
    hlo_dot(m, m, list(1, 1), list(1, 1))
    hlo_dot(m, m, 1)
    hlo_triangular_solve(m, m)
    hlo_triangular_solve(i, i)
  })
})

test_that("columns are R's order of elements", {
  skip_without_plugin()
  a <- array(1:24 / 2, c(2, 3, 4))
  there_and_back <- function(a) {
    column <- xlaffi:::as_column(a)
    list(column, xlaffi:::from_column(column, c(4, 3, 2)), xlaffi:::as_column(a[, 2:2, 1:1, drop = FALSE]))
  }
  expect_equal(run(there_and_back, a), list(as.vector(a), array(a, 4:2), a[, 2, 1]))
  expect_no_match(xla_program(function(a) xlaffi:::as_column(a), array(1, c(1, 3, 1))), "transpose", fixed = TRUE)
})
