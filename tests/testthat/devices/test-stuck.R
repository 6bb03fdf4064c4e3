# Devices that wait for others that do not come.

test_that("devices that wait for one that does not come are given up, R goes on and ends", {
  skip_on_os("windows")
  ran <- processes(1L, '
    invisible(pjrt_client("cpu", cpu_device_count = 4L, collective_timeout = 1))
    # Those with a positive number sum with all others.
    exec <- pjrt_compile(pjrt_program(r"(module @uneven { func.func @main(%x: tensor<f64>) -> tensor<f64> {
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %p = stablehlo.compare GT, %x, %zero : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %r = "stablehlo.if"(%p) ({
        %t = "stablehlo.all_reduce"(%x) ({
          ^bb0(%a: tensor<f64>, %b: tensor<f64>):
            %s = stablehlo.add %a, %b : tensor<f64>
            stablehlo.return %s : tensor<f64>
        }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<f64>) -> tensor<f64>
        stablehlo.return %t : tensor<f64>
      }, {
        stablehlo.return %x : tensor<f64>
      }) : (tensor<i1>) -> tensor<f64>
      return %r : tensor<f64>
    } })"), pjrt_compile_options(num_replicas = 4L))
    run <- function(...) {
      x <- Map(function(n, device) pjrt_scalar(n, "f64", device), list(...), devices(exec))
      tryCatch(cat(vapply(pjrt_execute(exec, x), as_array, 0), "\\n"), xlaffi_error = function(e) {
        writeLines(c(class(e)[[1L]], gsub("\\\\s+", " ", conditionMessage(e))))
      })
    }
    run(1, 1, 1, 1)
    start <- Sys.time()
    run(1, 1, -1, 1)
    writeLines(as.character(Sys.time() - start < 40))
    run(1, 1, 1, 1)
    # R, and what needs no device that is lost, go on.
    print(sum(1:4))
    invisible(gc())
  ')[[1L]]
  output <- ran$output[!grepl("rendezvous", ran$output)]
  expect_identical(ran$status, 0L)
  expect_identical(
    output[c(1, 2, 4, 5)],
    c("4 4 4 4 ", "xlaffi_error_deadline_exceeded", "TRUE", "xlaffi_error_failed_precondition")
  )
  expect_match(output[[3L]], "`uneven` over 4 devices does not come to an end.*all-reduce.*CpuDevice\\(id=0\\)")
  expect_match(output[[6L]], "`uneven` was given up, and its devices have not come back")
  expect_identical(output[[7L]], "[1] 10")
})

test_that("a loop over integers of a handler that fails on one device ends", {
  skip_unless_all()
  # XLA calls the handler once, before the loop: only the time-out ends what its zeros keep going.
  ran <- processes(1L, '
    invisible(pjrt_client("cpu", cpu_device_count = 4L, collective_timeout = 5))
    mesh <- xla_mesh(c(d = 4L))
    checked <- ffi_source("x: i32[n] -> z: i32[n]",
      code = "for (int64_t i = 0; i < n; i++) { if (x[i] > 3) FAIL(\\"too large\\"); z[i] = x[i]; }")
    f <- xla_shard_map(function(x) {
      hlo_while(function(s) s < 3L, function(s) s + hlo_pmin(min(checked(x)), "d"), hlo_psum(sum(0L * x), "d"))
    }, mesh, "d", NULL)
    said <- function(x) writeLines(format(tryCatch(f(x), error = conditionMessage)))
    said(c(1L, 1L, 1L, 1L))
    said(c(1L, 2L, 4L, 3L))
  ')[[1L]]
  expect_identical(ran$status, 0L)
  expect_identical(trimws(ran$output[[1L]]), "3")
  expect_match(ran$output[[2L]], "too large.*on device.*one of 4")
})
