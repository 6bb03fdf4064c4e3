test_that("our targets are listed with their operands", {
  targets <- ffi_targets()
  expect_identical(
    names(targets),
    c("target", "platforms", "operands", "results", "attributes", "dtypes", "package")
  )
  ours <- targets[targets$package %in% "xlaffi", ]
  expect_true(all(c("lu", "print_tensor") %in% ours$target))
  expect_false(is.unsorted(targets$target))
  lu <- ours[ours$target == "lu", ]
  expect_identical(lu$operands, "a")
  expect_identical(lu$results, "lu, pivots")
  expect_match(lu$platforms, "host")
  expect_match(lu$dtypes, "f32, f64")
  expect_match(ours$attributes[ours$target == "print_tensor"], "print_header")
})

test_that("ffi_handler() gives a pointer, or says what there is", {
  expect_identical(typeof(ffi_handler("lu", "host")), "externalptr")
  expect_identical(ffi_handler("lu", "cpu"), ffi_handler("lu", "Host"))
  expect_snapshot(error = TRUE, {
    ffi_handler("no_such", "host")
    ffi_handler("lu", "tpu")
    ffi_handler(1, "host")
  })
})

test_that("the package's own programs call handlers that nobody replaces", {
  skip_without_plugin()
  expect_false(any(startsWith(ffi_targets()$target, "xlaffi.")))
  # Another host's handlers under all of our names, as XLA's registry would have them
  run <- run_r("
    for (target in subset(ffi_targets(), grepl('host', platforms))$target) {
      wrong <- if (target == 'kepler') 'xlaffi.geqrf' else 'xlaffi.kepler'
      suppressMessages(pjrt_register_custom_call(target, list(host = ffi_handler(wrong, 'host'))))
    }
    x <- array(c(4, 1, 1, 3, 2, 1, 1, 5), c(2, 2, 2))
    x <- aperm(x, c(3, 1, 2))
    one <- x[2, , ]
    check <- function(a, b) stopifnot(isTRUE(all.equal(a, b, check.attributes = FALSE)))
    for (turn in 1:2) {
      f <- xla_lu(x)
      check(f$l[2, , ] %*% f$u[2, , ], one[f$p[2, ], ])
      f <- xla_qr(x)
      check(f$q[2, , ] %*% f$r[2, , ], one)
      f <- xla_svd(x)
      check(f$u[2, , ] %*% diag(f$d[2, ]) %*% t(f$v[2, , ]), one)
      check(xla_svd(x, vectors = FALSE)$d[2, ], svd(one)$d)
      check(sort(xla_eigh(x)$values[2, ]), sort(eigen(one)$values))
      check(xla_chol(x)[2, , ], chol(one))
      check(xla_solve(x)[2, , ], solve(one))
      check(xla_jit(function(x) hlo_triangular_solve(x, x, lower = FALSE))(x)[2, , ], backsolve(one, one))
      check(as.vector(kepler(0.1, 0)$sin), sin(0.1))
    }
    cat('all right')
  ")
  expect_identical(utils::tail(run$output, 1L), "all right")
})
