test_that("ops of one name that are made of other code are told, and give no numbers", {
  skip_without_processes()
  skip_without_compiler("c")
  runs <- processes(2, '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    x <- xla_shard(c(1, 2) + i, mesh, "data", global_shape = 2 * n)
    total <- function(f) xla_shard_map(function(x) hlo_psum(sum(f(x)), "data"), mesh, list("data"), xla_spec())
    own <- function(code, ...) {
      code <- sprintf("for (int64_t j = 0; j < n; j++) y[j] = %s;", code)
      ffi_source("x: f64[n] -> y: f64[n]", code, name = "own", ...)
    }
    # Equal where what the user says is, whatever R functions do.
    call <- ffi_callback(function(x) x * (i + 1), "x: f64[n] -> y: f64[n]", name = "call")
    again <- own("2 * x[j]", include = if (i == 0) tempdir() else getwd())
    ordered <- own("2 * x[j]", side_effect = "ordered")
    cat(as_array(total(again)(x)), as_array(total(call)(x)), as_array(total(ordered)(x)), "\\n")
    # Nothing is exchanged before a sum, which tells what was called until then.
    other <- own(if (i == 0) "x[j]" else "10 * x[j]")
    y <- xla_shard_map(function(x) other(x), mesh, list("data"), "data")(x)
    for (k in 1:2) {
      lost <- tryCatch(as_array(total(again)(y)), error = identity)
      cat(class(lost)[[1]], gsub("\\n *", " ", conditionMessage(lost)), "\\n")
    }
  ')
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_identical(said(run)[[1L]], "16 13 16 ")
    expect_match(said(run)[-1L], "xlaffi_error_unavailable.*`own` is made of other code in process [01] than in")
  }
})

test_that("handlers without a signature are compared by their libraries", {
  skip_unless_all()
  skip_without_processes()
  skip_without_compiler("c")
  files <- unname(mapply(answer_library, c(withr::local_tempdir(), withr::local_tempdir()), 1:2))
  runs <- processes(2, paste("files <-", paste(deparse(files), collapse = ""), '
    d <- join_mesh(i, n, port)
    mesh <- xla_mesh(c(data = n))
    x <- xla_shard(1 + i, mesh, "data", global_shape = n)
    total <- xla_shard_map(function(x) {
      hlo_psum(x * hlo_convert(hlo_custom_call("answer", list(), ffi_type("f32")), "f64"), "data")
    }, mesh, list("data"), xla_spec())
    ffi_load(files[[1]], c(answer = "answer"))
    cat(as_array(total(x)), "\n")
    # What a name means when the program runs.
    ffi_load(files[[i + 1]], c(answer = "answer"))
    lost <- tryCatch(as_array(total(x)), error = identity)
    cat(class(lost)[[1]], gsub("\n *", " ", conditionMessage(lost)), "\n")
  '))
  for (run in runs) {
    expect_identical(run$status, 0L)
    expect_identical(said(run)[[1L]], "3 ")
    expect_match(said(run)[[2L]], "xlaffi_error_unavailable.*`answer` is made of other code in process [01] than in")
  }
})
