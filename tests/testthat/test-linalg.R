# The linear algebra handlers through XLA, beside R's own results. Their accuracy over sizes, types
# and special matrices is tested in Rust.

test_that("{pjrt}'s names factor as R does", {
  skip_without_plugin()
  set.seed(1)
  a <- matrix(rnorm(20), 5)
  run <- function(target, results, operands = "tensor<5x4xf64>", x = a, layouts = "dense<[0, 1]> : tensor<2xindex>",
                  result_layouts) {
    n <- length(results)
    exec <- pjrt_compile(pjrt_program(sprintf(
      "func.func @main(%%a: %s) -> (%s) {
         %%0:%d = stablehlo.custom_call @%s(%%a) {api_version = 4 : i32,
           operand_layouts = [%s], result_layouts = [%s]} : (%s) -> (%s)
         return %s : %s
       }",
      operands, toString(results), n, target, layouts, toString(result_layouts), operands, toString(results),
      toString(paste0("%0#", seq_len(n) - 1)), toString(results)
    )))
    out <- pjrt_execute(exec, pjrt_buffer(x, "f64"), simplify = FALSE)
    lapply(out, as_array)
  }
  columns <- "dense<[0, 1]> : tensor<2xindex>"
  flat <- "dense<[0]> : tensor<1xindex>"

  qr <- run("geqrf", c("tensor<5x4xf64>", "tensor<4xf64>"), result_layouts = c(columns, flat))
  r <- upper.tri(diag(4), diag = TRUE)
  expect_equal(abs(qr[[1]][1:4, ][r]), abs(qr.R(base::qr(a))[r]))

  svd <- run(
    "svd", c("tensor<5x4xf64>", "tensor<4xf64>", "tensor<4x4xf64>"),
    result_layouts = c(columns, flat, columns)
  )
  expect_equal(as.vector(svd[[2]]), base::svd(a)$d)
  expect_equal(svd[[1]] %*% diag(as.vector(svd[[2]])) %*% svd[[3]], a)

  s <- crossprod(a)
  eigh <- run("eigh", c("tensor<4x4xf64>", "tensor<4xf64>"), "tensor<4x4xf64>", s, result_layouts = c(columns, flat))
  expect_equal(rev(as.vector(eigh[[2]])), eigen(s, symmetric = TRUE)$values)
  expect_equal(eigh[[1]] %*% diag(as.vector(eigh[[2]])) %*% t(eigh[[1]]), s)
})

test_that("programs may call LAPACK by the names that JAX exports, without JAX", {
  skip_without_plugin()
  exec <- pjrt_compile(pjrt_program('
    func.func @main(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>) {
      %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {
        backend_config = {uplo = 76 : ui8}, api_version = 4 : i32,
        operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
        output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0],
          operand_index = 0, operand_tuple_indices = []>]
      } : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
      return %0#0, %0#1 : tensor<3x3xf64>, tensor<i32>
    }'))
  s <- crossprod(matrix(c(2, 1, 0, 1, 3, 1, 0, 1, 4), 3))
  out <- pjrt_execute(exec, pjrt_buffer(s, "f64"))
  factor <- as_array(out[[1]])
  factor[upper.tri(factor)] <- 0
  expect_equal(factor, t(chol(s)))
  expect_equal(as.vector(as_array(out[[2]])), 0L)
})

test_that("kepler solves Kepler's equation", {
  skip_without_plugin()
  exec <- pjrt_compile(pjrt_program("
    func.func @main(%m: tensor<4xf64>, %e: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
      %0:2 = stablehlo.custom_call @kepler(%m, %e) {api_version = 4 : i32}
        : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
      return %0#0, %0#1 : tensor<4xf64>, tensor<4xf64>
    }"))
  m <- c(0.1, 1, -2.5, 3)
  e <- c(0, 0.3, 0.9, 1.5)
  out <- lapply(pjrt_execute(exec, pjrt_buffer(m, "f64"), pjrt_buffer(e, "f64")), function(b) as.vector(as_array(b)))
  anomaly <- atan2(out[[1]], out[[2]])
  expect_equal((anomaly - e * out[[1]])[1:3], m[1:3], tolerance = 1e-14)
  expect_identical(is.nan(out[[1]]), e >= 1)
})
