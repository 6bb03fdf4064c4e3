written <- function(run) grep("^[[]Gloo[]]", run$output, value = TRUE, invert = TRUE)

test_that("Ctrl-C ends the wait for the others, who are told, and another one may follow", {
  skip_without_processes()
  runs <- processes(2, '
    # What a child inherits of this process; some were here before it began
    sockets <- function() {
      if (!dir.exists("/proc/self/fd")) return(character())
      sub(".*-> ", "", grep("socket:", system("ls -l /proc/self/fd", intern = TRUE), value = TRUE))
    }
    before <- sockets()
    too_many <- function() pjrt_distributed(paste0("127.0.0.1:", port), 3, i, startup_timeout = 30)
    if (i == 1) {
      cat(gsub("\\n *", " ", tryCatch(too_many(), error = conditionMessage)), "\\n")
    } else {
      system(sprintf("(sleep 6; kill -INT %d) > /dev/null 2>&1 &", Sys.getpid()))
      cat(tryCatch(too_many(), interrupt = function(e) "interrupted"), "\\n")
      Sys.sleep(0.3)
      stopifnot(is.null(pjrt_distributed_status()))
      close(serverSocket(port))
    }
    d <- join_mesh(i, n, port)
    x <- xla_shard(1 + i, xla_mesh(c(data = n)), "data", global_shape = n)
    total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
    cat(as_array(total(x)), "\\n")
    Sys.sleep(0.5)
    # Children have none of the mesh
    writeLines(setdiff(sockets(), before))
    cat(as_array(total(x)), "\\n")
  ')
  for (run in runs) expect_identical(run$status, 0L)
  expect_identical(written(runs[[1]]), c("interrupted ", "3 ", "3 "))
  expect_match(written(runs[[2]])[[1]], "process 0, the coordinator, waits for the others no more")
  expect_identical(written(runs[[2]])[-1], c("3 ", "3 "))
})

test_that("a join that was interrupted before all had come leaves nothing to the others", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(2, '
    if (i == 1) {
      Sys.sleep(6)
      late <- function() pjrt_distributed(paste0("127.0.0.1:", port), n, i, startup_timeout = 2)
      lost <- tryCatch(late(), error = conditionMessage)
      cat(gsub("\\n *", " ", lost), "\\n")
    } else {
      system(sprintf("(sleep 3; kill -INT %d) > /dev/null 2>&1 &", Sys.getpid()))
      cat(tryCatch(join_mesh(i, n, port), interrupt = function(e) "interrupted"), "\\n")
      cat(length(devices()), xla_jit(function(x) sum(x))(c(1, 2)), "\\n")
      Sys.sleep(9)
    }
  ')
  for (run in runs) expect_identical(run$status, 0L)
  expect_identical(written(runs[[1]]), c("interrupted ", "1 3 "))
  expect_match(written(runs[[2]])[[1]], "could not be reached within 2 s")
})
