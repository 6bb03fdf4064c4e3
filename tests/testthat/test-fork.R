# Work in forked children of a process, with what each of them met.
forked <- "
  options(cli.unicode = FALSE)
  in_children <- function(work) {
    parallel::mclapply(1:2, function(i) {
      tryCatch(work(i), xlaffi_error = function(e) c(class(e)[[1L]], conditionMessage(e)))
    }, mc.cores = 2)
  }"

test_that("after XLA was used, a forked child refuses and ends, and the parent goes on", {
  skip_without_plugin()
  skip_on_os("windows")
  run <- run_r(c(forked, "
    double <- function(x) x + x
    exec <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %r = stablehlo.add %x, %x : tensor<2xf32>
      return %r : tensor<2xf32>
    }'))
    x <- pjrt_buffer(c(1, 2))
    invisible(xla_svd(diag(2)))
    works <- list(
      upload = function(i) pjrt_buffer(1), scalar = function(i) pjrt_scalar(1L),
      empty = function(i) pjrt_empty('f32', 2L), read = function(i) as_array(x),
      raw = function(i) as_raw(x, row_major = TRUE), print = function(i) print(x),
      shape = function(i) shape(x), copy = function(i) copy_buffer(x, 'cpu:0'),
      execute = function(i) pjrt_execute(exec, x),
      compile = function(i) pjrt_compile(pjrt_program('func.func @main() { return }')),
      wait = function(i) await(x),
      ready = function(i) is_ready(x), svd = function(i) xla_svd(diag(2)),
      kepler = function(i) kepler(1, .5), jit = function(i) xla_jit(double)(c(1, 2)),
      targets = function(i) ffi_targets()
    )", if (!all_run()) "works <- works[c('upload', 'execute', 'jit')]", "
    for (name in names(works)) {
      met <- in_children(works[[name]])
      classes <- vapply(met, function(m) as.character(m)[[1L]], '')
      if (!all(classes == 'xlaffi_error_failed_precondition')) cat(name, ':', classes, '\\n')
    }
    cat(in_children(works$upload)[[1L]], sep = '\\n')
    # Finalisers of the parent's objects in the child, and its end.
    status <- in_children(function(i) { rm(exec, x, envir = globalenv()); gc(); i })
    identical(status, list(1L, 2L))
    # One expression: a child that ends sets back what of this file its parent has read.
    {
      child <- parallel:::mcfork()
      if (inherits(child, 'masterProcess')) { gc(); quit(save = 'no', status = 0) }
      invisible(suppressWarnings(parallel::mccollect(child)))
      as_array(pjrt_execute(exec, x))
    }
  "), timeout = 60)
  expect_snapshot(writeLines(run$output))
  expect_identical(run$status, 0L)
})

test_that("a process forked before XLA was used works, and so does its parent", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  run <- run_r(c(forked, "
    # A search of Python is no use of XLA.
    invisible(plugins_downloaded())
    unlist(in_children(function(i) c(as_array(pjrt_buffer(i)), kepler(c(0, i - i), .5)$sin)))
    as_array(pjrt_buffer(3))
    in_children(function(i) pjrt_buffer(1))[[1L]][[1L]]
  "), timeout = 60)
  expect_identical(run$output, c(
    "[1] 1 0 0 2 0 0", "[1] 3", "[1] \"xlaffi_error_failed_precondition\""
  ))
})

test_that("no thread but R's takes the signals that R and {parallel} answer", {
  skip_without_plugin()
  skip_unless_all()
  skip_if_not(dir.exists("/proc/self/task"), "where threads' signals can be seen")
  run <- run_r("
    f <- xla_jit(function(x) list(x %*% x, chol(crossprod(x)), svd(x)$d))
    invisible(f(matrix(sin(1:250000), 500)))
    threads <- list.files('/proc/self/task')
    masks <- unlist(lapply(setdiff(threads, Sys.getpid()), function(thread) {
      status <- readLines(file.path('/proc/self/task', thread, 'status'))
      sub('SigBlk:\\t', '', grep('^SigBlk', status, value = TRUE), fixed = TRUE)
    }))
    # Signal n is bit n - 1, of which the last digit has four.
    digit <- function(mask, n) strtoi(substring(mask, 16 - (n - 1) %/% 4, 16 - (n - 1) %/% 4), 16L)
    has <- function(mask, n) bitwAnd(digit(mask, n), 2^((n - 1) %% 4)) > 0
    for (n in c(HUP = 1, USR1 = 10, USR2 = 12, ALRM = 14, CHLD = 17, WINCH = 28)) cat(all(has(masks, n)), '')
    cat(length(masks) > 5, '\\n')
  ")
  expect_identical(trimws(utils::tail(run$output, 1L)), paste(rep("TRUE", 7), collapse = " "))
})
