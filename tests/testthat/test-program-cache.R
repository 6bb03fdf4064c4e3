# A folder for compiled programs that lasts as long as a test, and no programs in this session.
local_program_cache <- function(envir = parent.frame()) {
  folder <- withr::local_tempdir("programs", .local_envir = envir)
  Sys.chmod(folder, "0700")
  withr::local_options(xlaffi.program_cache = folder, .local_envir = envir)
  forget_session()
  folder
}
local_counted <- function(envir = parent.frame()) {
  counts <- new.env()
  counts$compiled <- 0
  compile <- pjrt_compile
  local_function("pjrt_compile", function(...) {
    counts$compiled <- counts$compiled + 1
    compile(...)
  }, envir)
  counts
}
# Another function in the package's place for as long as a test.
local_function <- function(name, f, envir = parent.frame()) {
  before <- get(name, asNamespace("xlaffi"))
  assignInNamespace(name, f, "xlaffi")
  withr::defer(assignInNamespace(name, before, "xlaffi"), envir)
}
a <- matrix(c(4, 1, 2, 7, 3, 9), 3)
# As functions of the user: of xla_svd() itself the trace would lie on disk, too.
decompose <- function(x) xla_jit(function(x) xla_svd(x))(x)
left_over <- function(root) list.files(root, "^(making-|[.])", all.files = TRUE, no.. = TRUE)

test_that("what was compiled is loaded by the next session, and is the same", {
  skip_without_plugin()
  root <- local_program_cache()
  counts <- local_counted()
  expected <- decompose(a)
  own <- own_times("saved.times")
  f <- xla_jit(function(x) own(x, 3))
  expect_identical(f(c(1, 2)), c(3, 6))
  expect_identical(counts$compiled, 2)
  expect_identical(nrow(xla_cache("saved")), 2L)
  expect_setequal(xla_cache("programs")$saved, xla_cache("saved")$folder)
  expect_true(any(xla_cache("saved")$name == "function f64(3, 2)"))
  forget_session()
  expect_identical(decompose(a), expected)
  expect_identical(f(c(1, 2)), c(3, 6))
  expect_identical(counts$compiled, 2)
  out <- withr::local_tempfile()
  run <- run_r(sprintf("
    compile <- xlaffi:::pjrt_compile
    assignInNamespace('pjrt_compile', function(...) stop('compiled'), 'xlaffi')
    saveRDS(xla_jit(function(x) xla_svd(x))(matrix(c(4, 1, 2, 7, 3, 9), 3)), %s)", deparse(out)
  ), c(XLAFFI_PROGRAM_CACHE = root))
  expect_identical(run, list(output = character(), status = 0L))
  expect_identical(readRDS(out), expected)
  expect_identical(left_over(root), character())
  expect_identical(xla_cache_clear("saved"), 2L)
  expect_identical(nrow(xla_cache("saved")), 0L)
  decompose(a)
  expect_identical(nrow(xla_cache("programs")), 2L)
  forget_session()
  decompose(a)
  expect_identical(xla_cache_clear("programs"), 1L)
  expect_identical(list.files(root), character())
})

test_that("programs of one text for other places and plugins are others", {
  skip_without_plugin()
  device <- xlaffi:::default_device()
  key <- xlaffi:::program_key("text", device)
  expect_match(key, "^[0-9a-f]{64}$")
  expect_identical(xlaffi:::program_key("text", device), key)
  expect_false(identical(xlaffi:::program_key("another", device), key))
  saved_state <- xlaffi:::saved_state
  before <- as.list(saved_state)[c("flags", "library_stamp", "plugin_stamps")]
  withr::defer(list2env(before, saved_state))
  key_with <- function(...) {
    list2env(before, saved_state)
    list2env(list(...), saved_state)
    xlaffi:::program_key("text", device)
  }
  fast <- "--xla_cpu_enable_fast_math=true"
  others <- list(
    key_with(library_stamp = "another"), key_with(plugin_stamps = list(cpu = "another")),
    withr::with_envvar(c(XLA_FLAGS = fast), key_with(flags = list(cpu = c(fast, fast))))
  )
  for (other in others) {
    expect_match(other, "^[0-9a-f]{64}$")
    expect_false(identical(other, key))
  }
  for (flags in c("--xla_dump_to=/tmp", "flags.txt")) {
    withr::with_envvar(c(XLA_FLAGS = flags), expect_null(key_with(flags = list(cpu = flags))))
  }
  withr::with_envvar(c(XLA_FLAGS = NA), {
    expect_null(key_with(flags = list(cpu = c(fast, fast))))
    expect_null(key_with(flags = list(cpu = c("", fast))))
  })
  withr::with_envvar(c(XLA_FLAGS = fast), expect_null(xlaffi:::program_key("text", device)))
  list2env(before, saved_state)
  facts <- xlaffi:::compilation_facts(device)
  for (name in c(names(facts$where), "threads")) {
    other <- facts
    if (name == "threads") other$threads <- 99L else other$where[[name]] <- "another"
    local_function("compilation_facts", function(...) other)
    expect_false(identical(xlaffi:::program_key("text", device), key))
  }
})

test_that("programs are found by the flags that XLA has read, which is once", {
  skip_without_plugin()
  skip_unless_all()
  root <- local_program_cache()
  flags <- "--xla_cpu_enable_fast_math=false"
  work <- function(k) sprintf("cat(xla_jit(function(x) x + %d)(2), nrow(xla_cache('saved')), '')", k)
  run <- run_r(c(work(1), "Sys.unsetenv('XLA_FLAGS')", work(2)), c(XLAFFI_PROGRAM_CACHE = root, XLA_FLAGS = flags))
  expect_identical(run, list(output = "3 1 4 1 ", status = 0L))
  # Under the key of the flags, not of none.
  counts <- local_counted()
  xla_jit(function(x) x + 1)(2)
  expect_identical(counts$compiled, 1)
  # Read with the first program, though the client is there.
  change <- c("pjrt_client()", sprintf("Sys.setenv(XLA_FLAGS = '%s')", flags))
  run <- run_r(c(change, work(3), "Sys.unsetenv('XLA_FLAGS')", work(4)), c(XLAFFI_PROGRAM_CACHE = root, XLA_FLAGS = NA))
  expect_identical(tail(run$output, 1L), "5 2 6 2 ")
})

test_that("this package and plugins are those that were loaded, not what their files are by now", {
  skip_without_plugin()
  run <- run_r("
    saved_state <- xlaffi:::saved_state
    path <- getLoadedDLLs()[['xlaffi']][['path']]
    stopifnot(identical(saved_state$library_stamp, xlaffi:::file_stamp(path)), !length(saved_state$plugin_stamps))
    plugin <- pjrt_plugin('cpu')
    stopifnot(is.character(saved_state$plugin_stamps$cpu), length(saved_state$plugin_stamps$cpu) == 1L)
    before <- xlaffi:::program_key('text', xlaffi:::default_device())
    assignInNamespace('file_stamp', function(...) 'another', 'xlaffi')
    stopifnot(identical(xlaffi:::program_key('text', xlaffi:::default_device()), before))")
  expect_identical(run, list(output = character(), status = 0L))
})

test_that("every op of the package is kept, in all its dtypes, and comes back", {
  skip_without_plugin()
  skip_unless_all()
  local_program_cache()
  counts <- local_counted()
  ops <- function(x, b) {
    s <- x %*% t(hlo_conj(x))
    list(chol(s), xla_eigh(s), xla_qr(x), xla_svd(x), xla_lu(x), solve(x, b), hlo_triangular_solve(x, x, lower = TRUE))
  }
  sparse <- function(b) {
    matrix_of <- function(v) hlo_sparse(c(v, v[2:3] / 9), c(1:3, 2:3), c(1:3, 1:2), symmetric = TRUE)
    a <- matrix_of(b + 1)
    slopes <- xla_grad(function(v) {
      here <- matrix_of(v)
      sum(hlo_nonzeros(hlo_sparse_inverse(here))) + sum(here %*% b) + sum(hlo_nonzeros(chol(here)))
    })
    pattern <- a@pattern
    entries <- hlo_custom_call("xlaffi.sparse_factor_values", xlaffi:::factor_of(a), ffi_type(b@dtype, 5),
      attributes = xlaffi:::pattern_attributes(pattern, TRUE)
    )
    nonzeros <- lapply(list(hlo_sparse_inverse(a), chol(a)), hlo_nonzeros)
    list(determinant(a)$modulus, solve(a, b), a %*% b, nonzeros, slopes(b + 1), entries)
  }
  f <- function(x, b) {
    both <- list(sparse(b), sparse(hlo_convert(b, "f32")))
    others <- lapply(c("f32", "c64", "c128"), function(dtype) ops(hlo_convert(x, dtype), hlo_convert(b, dtype)))
    tall <- hlo_broadcast(b, c(1024, 3), 2)
    list(
      ops(x, b), others, both, kepler(b, b / 10), besselK(x, 1), pgamma(x, b), determinant(x)$modulus, crossprod(tall)
    )
  }
  x <- matrix(c(4, 1, 2, 1, 5, 3, 2, 1, 6), 3)
  b <- c(0.5, 1, 2)
  first <- xla_jit(f)(x, b)
  program <- xla_cache()[1L, ]
  expect_true(dir.exists(program$saved))
  called <- regmatches(program$program, gregexpr("custom_call @xlaffi[.]\\w+", program$program))[[1L]]
  targets <- ffi_targets()
  own <- targets$target[grepl("host", targets$platforms) & targets$package %in% "xlaffi"]
  # Under JAX's names others are called by programs of JAX only.
  jax <- grepl("^lapack_(?!.trsm)", own, perl = TRUE)
  expect_setequal(unique(sub("^.*@xlaffi[.]", "", called)), setdiff(own[!jax], "print_tensor"))
  compiled <- counts$compiled
  forget_session()
  expect_identical(xla_jit(f)(x, b), first)
  expect_identical(counts$compiled, compiled)
})

test_that("programs that belong to a session are not kept", {
  skip_without_plugin()
  root <- local_program_cache()
  shout <- ffi_callback(function(x) x * 2, "x: f64[n] -> y: f64[n]")
  expect_identical(xla_jit(function(x) shout(x) + 1)(c(1, 2)), c(3, 5))
  printed <- xla_jit(function(x) {
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    x
  })
  expect_output(printed(c(1, 2)), "f64")
  cholesky <- ffi_call("lapack_dpotrf_ffi", function(x) list(x, ffi_type("i32", integer())),
    attributes = list(uplo = ffi_attribute(76L, "ui8")), operand_layouts = "column",
    result_layouts = list("column", NULL)
  )
  expect_equal(cholesky(matrix(4))[[1L]], matrix(2))
  expect_identical(list.files(root), character())
  expect_true(all(is.na(xla_cache()$saved)))
})

test_that("nothing is kept where that is turned off, or the folder cannot be used", {
  skip_without_plugin()
  root <- local_program_cache()
  for (off in list(FALSE, "off", file.path(withr::local_tempfile(lines = "no folder"), "programs"))) {
    withr::local_options(xlaffi.program_cache = off)
    forget_session()
    expect_silent(decompose(a))
    expect_identical(xla_cache()$saved, NA_character_)
    expect_identical(nrow(xla_cache("saved")), 0L)
    expect_match(xlaffi:::program_cache_state()$problem, "turned off|cannot be made")
  }
  withr::local_options(xlaffi.program_cache = NULL)
  for (off in c("off", "0", "no", "FALSE")) {
    withr::with_envvar(c(XLAFFI_PROGRAM_CACHE = off), expect_null(xlaffi:::program_folder()))
  }
  withr::with_envvar(c(XLAFFI_PROGRAM_CACHE = NA, "_R_CHECK_PACKAGE_NAME_" = "xlaffi"), {
    expect_true(startsWith(xlaffi:::program_folder(), tempdir()))
  })
  withr::local_options(xlaffi.program_cache = root)
  if (.Platform$OS.type == "unix") {
    Sys.chmod(root, "0777", use_umask = FALSE)
    cache_state <- xlaffi:::cache_state
    cache_state$folders$program <- NULL
    forget_session()
    decompose(a)
    expect_identical(list.files(root), character())
    cache_state$folders$program <- NULL
  }
  withr::local_options(xlaffi.program_cache = 1)
  forget_session()
  expect_error(decompose(a), "must be a folder, TRUE or FALSE, not", class = "xlaffi_error_invalid_argument")
})

test_that("what is saved can be cleared where that is turned off, and turned on again", {
  skip_without_plugin()
  root <- withr::local_tempdir()
  withr::local_envvar(XLAFFI_PROGRAM_CACHE = root)
  withr::local_options(xlaffi.program_cache = TRUE)
  forget_session()
  decompose(a)
  expect_identical(dirname(xla_cache("saved")$folder), root)
  options(xlaffi.program_cache = FALSE)
  xla_cache_clear("programs")
  expect_length(list.files(root), 1L)
  expect_identical(xla_cache_clear("saved"), 1L)
  expect_identical(list.files(root), character())
  # Nothing is made to be cleared.
  withr::local_envvar(XLAFFI_PROGRAM_CACHE = file.path(root, "none"))
  expect_identical(xla_cache_clear("saved"), 0L)
  expect_false(dir.exists(file.path(root, "none")))
  withr::local_envvar(XLAFFI_PROGRAM_CACHE = "off", "_R_CHECK_PACKAGE_NAME_" = "xlaffi")
  options(xlaffi.program_cache = NULL)
  expect_null(xlaffi:::program_folder())
  options(xlaffi.program_cache = TRUE)
  expect_identical(xlaffi:::program_folder(), file.path(tempdir(), "xlaffi-program"))
})

test_that("functions of linear algebra are traced once for all sessions", {
  skip_without_plugin()
  local_program_cache()
  counts <- local_counted()
  traced <- 0
  trace <- xlaffi:::trace_program
  local_function("trace_program", function(...) {
    traced <<- traced + 1
    trace(...)
  })
  s <- crossprod(a)
  compute <- function() {
    forget_session()
    list(
      xla_svd(a), xla_svd(a, vectors = FALSE), xla_svd(a, full = TRUE), xla_qr(a), xla_lu(a), xla_chol(s), xla_eigh(s),
      xla_eigh(s, uplo = "U"), xla_solve(s), xla_solve(s, t(a)), xla_chol(s, dtype = "f32"),
      lapply(xla_svd(pjrt_buffer(a, "f64")), as_array), as_array(xla_chol(pjrt_buffer(s, "f32")))
    )
  }
  expected <- compute()
  expect_gt(traced, 10)
  before <- list(traced, counts$compiled)
  expect_identical(compute(), expected)
  expect_identical(list(traced, counts$compiled), before)
  # Another build of this package traces anew.
  state <- xlaffi:::lasting_state
  withr::defer(state$code <- code)
  code <- state$code
  state$code <- "another build"
  expect_identical(compute(), expected)
  expect_identical(traced, 2 * before[[1L]])
  state$code <- NULL
  compute()
  expect_identical(traced, 2 * before[[1L]] + length(expected))
})

test_that("a full disk costs nothing but time", {
  skip_without_plugin()
  root <- local_program_cache()
  local_function("write_bytes", function(...) xlaffi:::disk_full("is full"))
  expect_silent(decompose(a))
  expect_identical(xla_cache()$saved, NA_character_)
  expect_identical(list.files(root, all.files = TRUE, no.. = TRUE), character())
})

test_that("what is damaged, of others or not the program that is asked for is compiled again", {
  skip_without_plugin()
  root <- local_program_cache()
  counts <- local_counted()
  expected <- decompose(a)
  saved <- xla_cache("saved")$folder
  file <- file.path(saved, "program")
  whole <- xlaffi:::read_bytes(file)
  program <- charToRaw(xla_cache()$program)
  # With an `about` that says what is there.
  put <- function(bytes) {
    writeBin(bytes, file)
    about <- c("name x", paste("key", basename(saved)), sprintf("file %s program", cli::hash_file_sha256(file)))
    writeLines(about, file.path(saved, "about"))
  }
  again <- function() {
    forget_session()
    expect_identical(decompose(a), expected)
    where <- xlaffi:::compilation_facts(xlaffi:::default_device())$where
    expect_identical(xlaffi:::unpack_program(xlaffi:::read_bytes(file), where)$program, program)
    counts$compiled
  }
  flipped <- whole
  flipped[[length(flipped)]] <- xor(flipped[[length(flipped)]], as.raw(1))
  xla_jit(function(x) xla_lu(x))(a)
  other <- xlaffi:::read_bytes(file.path(setdiff(xla_cache("saved")$folder, saved), "program"))
  damages <- list(
    function() writeBin(flipped, file), function() put(head(whole, 1000)),
    function() put(raw()), function() put(other), function() unlink(file), function() unlink(file.path(saved, "about")),
    function() writeLines("name", file.path(saved, "about")), function() unlink(saved, recursive = TRUE)
  )
  if (.Platform$OS.type == "unix") {
    open <- lapply(c(saved, file, file.path(saved, "about")), function(path) {
      force(path)
      function() Sys.chmod(path, "0777", use_umask = FALSE)
    })
    damages <- c(damages, open)
  }
  count <- counts$compiled
  for (damage in damages) {
    damage()
    count <- count + 1
    expect_identical(again(), count)
    # And kept well.
    expect_identical(again(), count)
  }
  expect_identical(left_over(root), character())
})

test_that("what another session takes away after it was found is made again", {
  skip_without_plugin()
  local_program_cache()
  counts <- local_counted()
  # A program alone, and the trace of an objective with its program
  compute <- function() {
    forget_session()
    model <- xla_objective(function(p) sum((p - 1)^2), c(3, 3))
    list(decompose(a), model$fn(c(3, 3)))
  }
  expected <- compute()
  compiled <- counts$compiled
  find <- xlaffi:::found_entry
  local_function("found_entry", function(root, key, files) {
    folder <- find(root, key, files)
    if (!is.null(folder)) unlink(folder, recursive = TRUE)
    folder
  })
  expect_identical(compute(), expected)
  expect_identical(counts$compiled, 2 * compiled)
})

test_that("a program whose op means something else by now is not run", {
  skip_without_plugin()
  local_program_cache()
  define <- function(body) {
    own_op("saved.op", "x: f64[n], y: f64[] -> z: f64[n]", "times_f64", options = list(digest = body))
  }
  times <- define("one")
  f <- xla_jit(function(x) times(x, 2))
  expect_identical(f(c(1, 2)), c(2, 4))
  times <- define("two")
  forget_session()
  expect_identical(f(c(1, 2)), c(2, 4))
  expect_identical(nrow(xla_cache("saved")), 2L)
})

test_that("programs used least lately go when there is too much, and large ones are not kept", {
  skip_without_plugin()
  root <- local_program_cache()
  saved_state <- xlaffi:::saved_state
  scaled <- function(k) xla_jit(function(x) x * k)(c(1, 2))
  for (k in 1:3) scaled(k)
  saved <- xla_cache("saved")
  Sys.setFileTime(file.path(saved$folder[[2L]], "about"), as.POSIXct("2026-01-01"))
  withr::local_options(xlaffi.program_cache_size = 3.5 * saved$bytes[[1L]])
  saved_state$programs_saved <- 0
  # An eighth of this is less than a program.
  scaled(4)
  expect_identical(nrow(xla_cache("saved")), 3L)
  withr::local_options(xlaffi.program_cache_size = 9 * saved$bytes[[1L]])
  for (k in 5:11) {
    saved_state$programs_saved <- 0
    scaled(k)
  }
  left <- xla_cache("saved")
  expect_lte(sum(left$bytes), 9 * saved$bytes[[1L]])
  expect_false(saved$folder[[2L]] %in% left$folder)
  withr::local_options(xlaffi.program_cache_size = "large")
  expect_error(scaled(12), class = "xlaffi_error_invalid_argument")
})

test_that("sessions at once share the folder, and one that is killed leaves nothing that is used", {
  skip_without_plugin()
  skip_unless_all()
  root <- local_program_cache()
  child <- function(code) {
    text <- sprintf("options(xlaffi.program_cache = '%s'); library(xlaffi); %s", root, code)
    xlaffi:::start_program(file.path(R.home("bin"), "Rscript"), c("-e", text), tempdir())
  }
  started <- withr::local_tempfile()
  slow <- "write <- xlaffi:::write_bytes; assignInNamespace('write_bytes', function(bytes, path) {
      write(head(bytes, 2000), path); file.create('%s'); Sys.sleep(60)
    }, 'xlaffi')"
  work <- "cat(xla_jit(function(x) x + 40)(2))"
  killed <- child(sprintf(paste(slow, work, sep = "; "), started))
  kill_once_there(killed, started)
  expect_length(left_over(root), 1L)
  expect_identical(nrow(xla_cache("saved")), 0L)
  done <- lapply(lapply(1:3, function(i) child(work)), xlaffi:::finish_program)
  expect_identical(lapply(done, `[[`, "output"), list("42", "42", "42"))
  expect_identical(nrow(xla_cache("saved")), 1L)
  counts <- local_counted()
  expect_identical(xla_jit(function(x) x + 40)(2), 42)
  expect_identical(counts$compiled, 0)
  # What was left goes when it is old.
  Sys.setFileTime(file.path(root, left_over(root)), Sys.time() - 7200)
  xlaffi:::sweep_cache(xlaffi:::disk_cache("program"), root)
  expect_identical(left_over(root), character())
})
