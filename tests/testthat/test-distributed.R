test_that("processes compute together, and say who is there", {
  skip_without_processes()
  runs <- processes(2, '
    ignored <- if (dir.exists("/proc/self")) system("grep SigIgn /proc/self/status", intern = TRUE)
    d <- join_mesh(i, n, port)
    stopifnot(i == d$process_id, length(devices()) == 2)
    # Nobody ends before the first program has been run together.
    status <- pjrt_distributed_status()
    stopifnot(status$here == (0:1 == i), status$state == "running", status$devices == 1L)
    mesh <- xla_mesh(c(data = 2))
    X <- matrix(sin(1:12), 4)
    y <- cos(1:4)
    rows <- 2 * i + 1:2
    x <- xla_shard(X[rows, ], mesh, "data", global_shape = c(4, 3))
    v <- xla_shard(y[rows], mesh, "data", global_shape = 4)
    stopifnot(identical(dim(x), c(4L, 3L)), length(xla_shards(x)) == 1)
    normal <- xla_jit(function(x, y) list(crossprod(x), crossprod(x, y)), out_shardings = xla_spec())
    found <- lapply(normal(x, v), as_array)
    stopifnot(all.equal(found[[1]], crossprod(X)), all.equal(found[[2]], crossprod(X, y)))
    doubled <- xla_jit(function(x) x * 2)(x)
    refused <- tryCatch(as_array(doubled), error = identity)
    stopifnot(inherits(refused, "xlaffi_error_unimplemented"))
    stopifnot(identical(as_array(xla_shard(doubled, mesh, xla_spec())), 2 * X))
    # What is this process\'s alone.
    stopifnot(identical(xla_jit(function(x) sum(x))(c(1, i)), 1 + i))
    stopifnot(as_array(pjrt_buffer(c(1, 2))) == c(1, 2))
    # A pipe of R\'s that nobody reads is the error that it was, and children ignore what they ignored.
    if (dir.exists("/proc/self")) {
      stopifnot(identical(ignored, system("grep SigIgn /proc/self/status", intern = TRUE)))
    }
    to <- pipe("true", "w")
    Sys.sleep(0.2)
    broken <- tryCatch(for (k in 1:100) writeLines(rep("x", 1e5), to), error = conditionMessage)
    suppressWarnings(close(to))
    stopifnot(identical(broken, "ignoring SIGPIPE signal"))
    again <- tryCatch(join_mesh(i, n, port), error = identity)
    stopifnot(inherits(again, "xlaffi_error_already_exists"))
    other <- tryCatch(pjrt_buffer(1, device = devices()[[2 - i]]), error = conditionMessage)
    cat(gsub("\\n *", " ", other), "\\n")
    if (nzchar(Sys.which("ss"))) {
      own <- grep(sprintf("pid=%d,", Sys.getpid()), system2("ss", "-ltnpH", stdout = TRUE), value = TRUE)
      cat(sub("^LISTEN +[0-9]+ +[0-9]+ +([^ ]+) .*$", "\\\\1", own), sep = "\\n")
    }
    cat("done\\n")
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_identical(tail(said(run), 1), "done")
    expect_match(said(run)[[1]], "belongs to process")
  }
  skip_if_not(nzchar(Sys.which("ss")), "there is no ss, which tells who listens")
  at <- unlist(lapply(runs, function(run) head(said(run)[-1], -1)))
  # The coordinator's, and gloo's of each.
  expect_length(at, 3)
  expect_match(at, "^127[.]0[.]0[.]1:")
})

test_that("a process that is killed ends the others' calls with an error", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(4, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    x <- xla_shard(1, mesh, "data", global_shape = n)
    total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
    stopifnot(as_array(total(x)) == n)
    if (i == 2) { Sys.sleep(1); tools::pskill(Sys.getpid(), 9) }
    started <- Sys.time()
    lost <- tryCatch(as_array(total(x)), error = identity)
    stopifnot(Sys.time() - started < 20)
    cat(class(lost)[[1]], conditionMessage(lost), "\\n")
    again <- tryCatch(as_array(total(x)), error = identity)
    stopifnot(inherits(again, "xlaffi_error_unavailable"))
    # Others may be through already.
    state <- pjrt_distributed_status()$state
    stopifnot(state[3] == "gone", state[-3] %in% c("running", "left"))
    stopifnot(identical(xla_jit(function(x) sum(x))(c(1, i)), 1 + i))
    cat("done\\n")
  ')
  expect_false(identical(runs[[3]]$status, 0L))
  for (run in runs[-3]) {
    expect_identical(run$status, 0L)
    expect_match(said(run)[[1]], "xlaffi_error_unavailable")
    expect_match(paste(trimws(said(run)), collapse = " "), "process 2 is gone")
    expect_identical(tail(said(run), 1), "done")
  }
})

test_that("where a program fails in one process it fails in all", {
  skip_without_processes()
  runs <- processes(2, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    x <- xla_shard(1, mesh, "data", global_shape = n)
    own <- ffi_callback(function(x) if (i == 1) stop("on purpose") else x, "x: f64[n] -> y: f64[n]")
    total <- xla_shard_map(function(x) hlo_psum(sum(own(x)), "data"), mesh, list("data"), xla_spec())
    failed <- tryCatch(as_array(total(x)), error = identity)
    stopifnot(inherits(failed, "xlaffi_error"))
    cat(class(failed)[[1]], "\\n")
    cat(grepl("on purpose", conditionMessage(failed)), "\\n")
    again <- tryCatch(as_array(total(x)), error = identity)
    stopifnot(inherits(again, "xlaffi_error_unavailable"))
  ')
  for (run in runs) expect_identical(run$status, 0L)
  expect_match(said(runs[[1]])[[1]], "xlaffi_error_unavailable")
  expect_match(said(runs[[1]])[[2]], "TRUE")
})

test_that("a process that is behind is told, and gets no numbers", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(2, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    x <- xla_shard(1:2 + i, mesh, "data", global_shape = 2 * n)
    total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
    tenfold <- xla_jit(function(x) 10 * sum(x), out_shardings = xla_spec())
    stopifnot(as_array(total(x)) == 8, as_array(tenfold(x)) == 80, as_array(total(x)) == 8)
    if (i == 0) {
      wrong <- tryCatch(xla_shard(1, mesh, "data", global_shape = 3), error = identity)
      stopifnot(inherits(wrong, "error"))
    } else {
      lost <- tryCatch(as_array(tenfold(x)), error = identity)
    }
    lost <- tryCatch(as_array(total(x)), error = identity)
    cat(class(lost)[[1]], conditionMessage(lost), "\\n")
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_match(paste(trimws(said(run)), collapse = " "), "xlaffi_error_unavailable.*same programs in the same order")
  }
})

test_that("arrays of different sizes are not gathered", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(2, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    gathered <- function(size) {
      xla_shard(xla_shard(seq_len(size), mesh, "data", global_shape = size * n), mesh, xla_spec())
    }
    stopifnot(as_array(gathered(2)) == c(1, 2, 1, 2))
    lost <- tryCatch(as_array(gathered(if (i == 0) 400 else 2)), error = identity)
    cat(class(lost)[[1]], conditionMessage(lost), "\\n")
    stopifnot(identical(xla_jit(function(x) sum(x))(c(1, i)), 1 + i))
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_match(paste(trimws(said(run)), collapse = " "), "xlaffi_error_unavailable.*same programs in the same order")
  }
})

test_that("where one of several devices of a process fails, nobody waits for it", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(2, '
    d <- join_mesh(i, n, port, cpu_device_count = 2)
    mesh <- xla_mesh(c(data = 4))
    x <- xla_shard(1:2 + 2 * i, mesh, "data", global_shape = 4)
    total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
    stopifnot(as_array(total(x)) == 10)
    own <- ffi_callback(function(x) if (x == 2) stop("on purpose") else x, "x: f64[n] -> y: f64[n]")
    failing <- xla_shard_map(function(x) hlo_psum(sum(own(x)), "data"), mesh, list("data"), xla_spec())
    started <- Sys.time()
    failed <- tryCatch(as_array(failing(x)), error = identity)
    stopifnot(Sys.time() - started < 20)
    cat(class(failed)[[1]], gsub("\\n *", " ", conditionMessage(failed)), "\\n")
    again <- tryCatch(as_array(total(x)), error = identity)
    stopifnot(inherits(again, "xlaffi_error_unavailable"))
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_match(paste(trimws(said(run)), collapse = " "), "xlaffi_error_.*on purpose")
  }
})

test_that("forked children are refused", {
  skip_unless_all()
  skip_without_processes()
  run <- run_r('
    pjrt_device("cpu")
    try_it <- function(i) conditionMessage(tryCatch(pjrt_distributed("127.0.0.1:2222", 2, i), error = identity))
    cat(unlist(parallel::mclapply(0:1, try_it, mc.cores = 2)), sep = "\\n")
  ')
  expect_match(paste(trimws(run$output), collapse = " "), "XLA was used before this process was forked")
})

test_that("the coordinator may be killed, too", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(2, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    x <- xla_shard(1, mesh, "data", global_shape = n)
    total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
    stopifnot(as_array(total(x)) == n)
    if (i == 0) tools::pskill(Sys.getpid(), 9)
    Sys.sleep(1)
    lost <- tryCatch(as_array(total(x)), error = identity)
    cat(class(lost)[[1]], conditionMessage(lost), "\\n")
  ')
  for (run in runs[-1]) {
    expect_identical(run$status, 0L)
    text <- paste(trimws(said(run)), collapse = " ")
    expect_match(text, "xlaffi_error_unavailable.*process 0, the coordinator, is gone")
  }
})

test_that("sessions end in any order without a word", {
  skip_unless_all()
  skip_without_processes()
  runs <- processes(3, '
    d <- join_mesh(i, n, port)
    total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
    x <- xla_shard(1, xla_mesh(c(data = n)), "data", global_shape = n)
    stopifnot(as_array(total(x)) == n)
    if (i == 1) {
      limit <- Sys.time() + 20
      while (any(pjrt_distributed_status()$state != c("left", "running", "left")) && Sys.time() < limit) Sys.sleep(0.05)
      left <- tryCatch(total(x), error = identity)
      stopifnot(inherits(left, "xlaffi_error_unavailable"), grepl("has left", conditionMessage(left)))
    }
    if (i == 2) { pjrt_distributed_leave(); pjrt_distributed_leave() }
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_identical(said(run), character())
  }
})

test_that("who does not come is named, and the session goes on", {
  skip_unless_all()
  skip_without_processes()
  run <- run_r(sprintf('
    lost <- function(...) conditionMessage(tryCatch(pjrt_distributed(..., startup_timeout = 1), error = identity))
    cat(lost("127.0.0.1:%d", 3, 0), "\\n")
    cat(lost("127.0.0.1:%d", 2, 1), "\\n")
    stopifnot(identical(xla_jit(function(x) sum(x))(c(1, 2)), 3))
    late <- tryCatch(pjrt_distributed("127.0.0.1:29999", 2, 1), error = identity)
    stopifnot(inherits(late, "xlaffi_error_failed_precondition"))
    cat("done")
  ', free_port(), free_port()))
  expect_match(paste(trimws(run$output), collapse = " "), "processes 1, 2 of 3 have not come within 1 s")
  expect_match(paste(trimws(run$output), collapse = " "), "could not be reached within 1 s: Connection refused")
  expect_identical(tail(run$output, 1), "done")
})

test_that("where a process is given another number of processes all are told at once", {
  skip_without_processes()
  runs <- processes(2, '
    lost <- tryCatch(pjrt_distributed(paste0("127.0.0.1:", port), 3 - i, i), error = identity)
    cat(class(lost)[[1]], gsub("\\n *", " ", conditionMessage(lost)), "\\n")
    cat(xla_jit(function(x) sum(x))(c(1, 2)), "\\n")
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_match(said(run)[[1L]], "xlaffi_error_invalid_argument.*process 1 was told of 2 processes, the coordinator")
    expect_identical(said(run)[[2L]], "3 ")
  }
})

test_that("launchers' variables are read", {
  variables <- c(
    "XLAFFI_COORDINATOR", "XLAFFI_NUM_PROCESSES", "XLAFFI_PROCESS_ID", "JAX_COORDINATOR_ADDRESS",
    "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_STEP_ID",
    "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_JOB_ID", "SLURM_STEP_NUM_NODES", "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_SIZE",
    "PMI_RANK"
  )
  withr::local_envvar(stats::setNames(rep(NA, length(variables)), variables))
  with <- function(...) withr::with_envvar(c(...), launched())
  expect_null(launched())
  plain <- with(XLAFFI_COORDINATOR = "a:1", XLAFFI_NUM_PROCESSES = "2", XLAFFI_PROCESS_ID = "1", PMI_SIZE = "9")
  expect_identical(plain$values, list(coordinator = "a:1", num_processes = "2", process_id = "1"))
  expect_identical(with(JAX_COORDINATOR_ADDRESS = "b:2", JAX_PROCESS_ID = "0")$values$coordinator, "b:2")
  slurm <- c(
    SLURM_PROCID = "3", SLURM_STEP_NUM_TASKS = "8", SLURM_STEP_ID = "0", SLURM_JOB_ID = "12",
    SLURM_STEP_NODELIST = "node[003-004,7],x", SLURM_STEP_NUM_NODES = "4"
  )
  expect_match(with(slurm)$values$coordinator, "^node003:6[1-5][0-9]{3}$")
  expect_identical(with(slurm)$values[-1], list(num_processes = "8", process_id = "3"))
  expect_identical(with(slurm)$job, "12.0")
  expect_match(with(slurm, SLURM_STEP_NUM_NODES = "1")$values$coordinator, "^127[.]0[.]0[.]1:")
  # Without srun nothing has been launched.
  expect_null(with(slurm[setdiff(names(slurm), "SLURM_STEP_ID")]))
  mpi <- c(OMPI_COMM_WORLD_SIZE = "2", OMPI_COMM_WORLD_RANK = "1", OMPI_COMM_WORLD_LOCAL_SIZE = "2")
  expect_match(with(mpi, PMIX_NAMESPACE = "job1")$values$coordinator, "^127[.]0[.]0[.]1:")
  expect_identical(with(mpi, PMIX_NAMESPACE = "job1")$job, "job1")
  several <- c(mpi, OMPI_COMM_WORLD_SIZE = "4", PMIX_NAMESPACE = "job1")
  expect_null(with(several)$values$coordinator)
  # What is told plainly goes before, one by one.
  named <- with(several, XLAFFI_COORDINATOR = "c:3")
  expect_identical(named$values, list(coordinator = "c:3", num_processes = "4", process_id = "1"))
  expect_match(named$launchers$num_processes, "Open MPI")
  expect_null(named$job)
  # mpirun in an allocation of Slurm's has helpers that srun started.
  expect_identical(with(slurm, mpi, PMIX_NAMESPACE = "job1")$values$process_id, "1")
  pmi <- c(PMI_SIZE = "2", PMI_RANK = "0")
  expect_identical(with(pmi)$values$process_id, "0")
  expect_identical(with(slurm, pmi)$values, list(coordinator = NULL, num_processes = "2", process_id = "0"))
  # srun itself speaks PMI, too.
  expect_identical(with(slurm, PMI_SIZE = "8", PMI_RANK = "3")$values$coordinator, with(slurm)$values$coordinator)
  expect_identical(vapply(c("a", "a,b", "n[1-4]", "r[1-2]n[07-9]", "x-1.b,n[2,3]"), first_host, ""),
    c(a = "a", `a,b` = "a", `n[1-4]` = "n1", `r[1-2]n[07-9]` = "r1n07", `x-1.b,n[2,3]` = "x-1.b"))
})

test_that("wrong arguments are told", {
  skip_without_processes()
  run <- run_r('
    for (wrong in list(
      quote(pjrt_distributed()), quote(pjrt_distributed("a:1")), quote(pjrt_distributed("a:1", 0, 0)),
      quote(pjrt_distributed("a:1", 2, 2)), quote(pjrt_distributed("a:1", 2, 0.5)),
      quote(pjrt_distributed("a:1", 2, 0, heartbeat_timeout = 1)),
      quote(pjrt_distributed("a:1", 2, 0, collectives = "x")),
      quote(pjrt_distributed("nowhere", 2, 1)), quote(pjrt_distributed("127.0.0.1:0", 2, 1)),
      quote(pjrt_distributed("0.0.0.0:1234", 2, 1)), quote(pjrt_distributed("127.0.0.1:1234", 2, 1, address = "")),
      quote(pjrt_distributed("127.0.0.1:1234", 2, 1, cpu_devices = 2))
    )) {
      e <- tryCatch(eval(wrong), error = identity)
      cat(deparse(wrong)[[1]], "|", class(e)[[1]], "|", gsub("\\n *", " ", conditionMessage(e)), "\\n")
    }
  ', env = c(XLAFFI_COORDINATOR = "", SLURM_STEP_ID = "", OMPI_COMM_WORLD_SIZE = "", PMI_SIZE = ""))
  expect_snapshot(writeLines(run$output))
  expect_identical(run$status, 0L)
})
