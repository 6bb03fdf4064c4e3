test_that("one of two that is interrupted or killed in a loop ends the other's call, which is told why", {
  skip_without_processes()
  expected <- c(
    interrupt = "process %d.* is gone: it left, or ended, while a program over several processes was under way",
    kill = "process %d.* is gone: its connection is closed: it ended or was killed"
  )
  for (how in names(expected)) {
    victims <- if (all_run()) c(0L, 1L, 1L) else if (how == "kill") 1L else 0L
    rounds <- end_one_of_two(how, victims)
    for (round in seq_along(victims)) {
      victim <- rounds[[round]][victims[[round]] + 1L, ]
      other <- rounds[[round]][2L - victims[[round]], ]
      expect_identical(other$status, 0L, info = other$output)
      expect_identical(other$class, "xlaffi_error_unavailable")
      expect_match(other$message, sprintf(expected[[how]], victims[[round]]))
      if (how == "interrupt") {
        expect_identical(victim$status, 0L, info = victim$output)
        expect_identical(victim$class, "interrupt")
      } else {
        expect_false(victim$status %in% 0L)
      }
    }
  }
})

test_that("what does not end by the loss of its connections is given up", {
  skip_unless_all()
  skip_without_processes()
  skip_without_compiler("c")
  runs <- processes(2, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    waits <- ffi_source("x: f64[n] -> y: f64[n]", "if (x[0] < 0) sleep(40); *y = *x;", support = "#include <unistd.h>")
    total <- xla_shard_map(function(x) hlo_psum(waits(x), "data"), mesh, list("data"), xla_spec())
    stopifnot(as_array(total(xla_shard(1 + i, mesh, "data", global_shape = n))) == 3)
    x <- xla_shard(if (i == 0) -1 else 1, mesh, "data", global_shape = n)
    if (i == 1) system(sprintf("(sleep 1; kill -KILL %d) > /dev/null 2>&1 &", Sys.getpid()))
    lost <- tryCatch(total(x), error = identity)
    cat(class(lost)[[1]], gsub("\n *", " ", conditionMessage(lost)), "\n")
    refused <- tryCatch(xla_jit(function(x) sum(x))(c(1, 2)), error = identity)
    cat(class(refused)[[1]], "\n")
  ', timeout = 35)
  expect_identical(runs[[1]]$status, 0L)
  expect_match(said(runs[[1]])[[1]], "xlaffi_error_unavailable.*does not come to an end: process 1 is gone")
  expect_identical(said(runs[[1]])[[2]], "xlaffi_error_failed_precondition ")
})
