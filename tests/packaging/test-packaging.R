# The source tree and the build, as `make test` sees them. Not in the tarball: an installed
# package has neither.

first_match <- function(lines, pattern) {
  line <- grep(pattern, lines, value = TRUE)[[1]]
  sub(pattern, "\\1", line)
}

# A copy of what configure reads, to run it in: DESCRIPTION, tools and the templates.
configure_copy <- function(env = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = env)
  dir.create(file.path(dir, "src", "rust"), recursive = TRUE)
  dir.create(file.path(dir, "tools"))
  for (file in c("DESCRIPTION", "configure", "src/Makevars.in", "tools/msrv.R", "tools/config.R",
                 "tools/exports.map", "tools/exports-macos.txt")) {
    stopifnot(file.copy(source_file(file), file.path(dir, file)))
  }
  dir
}

# Runs configure in `dir`; its output with the exit status as an attribute.
configure <- function(dir, variables = character()) {
  withr::local_dir(dir)
  withr::local_envvar(c(NOT_CRAN = NA, CARGO_TARGET_DIR = NA, variables))
  suppressWarnings(system2("sh", "configure", stdout = TRUE, stderr = TRUE))
}
makevars <- function(dir) readLines(file.path(dir, "src", "Makevars"))

# A folder with a `cargo` and a `rustc` that only say which version they are.
fake_rust <- function(version, env = parent.frame()) {
  bin <- withr::local_tempdir(.local_envir = env)
  for (tool in c("cargo", "rustc")) {
    writeLines(c("#!/bin/sh", paste("echo", tool, version)), file.path(bin, tool))
    Sys.chmod(file.path(bin, tool), "755")
  }
  bin
}

test_that("one version and one Rust minimum are told everywhere", {
  description <- source_lines("DESCRIPTION")
  cargo <- source_lines("src", "rust", "Cargo.toml")
  expect_equal(
    first_match(description, "^Version: *(.*)$"), first_match(cargo, '^version = "(.*)"$')
  )
  requirements <- read.dcf(source_file("DESCRIPTION"), "SystemRequirements")[[1]]
  minimum <- regmatches(requirements, regexec("rustc *\\(?>= *([0-9.]+)", requirements))[[1]][2]
  expect_equal(unique(sub('.*"(.*)"', "\\1", grep("^rust-version", cargo, value = TRUE))), minimum)
})

test_that("the credits name the crates of the lock file", {
  lock <- source_lines("src", "rust", "Cargo.lock")
  starts <- which(lock == "[[package]]")
  # name, version, source: a crate of our own has no source
  registry <- starts[grepl("^source = ", lock[starts + 3])]
  locked <- paste(
    sub('^name = "(.*)"$', "\\1", lock[registry + 1]),
    sub('^version = "(.*)"$', "\\1", lock[registry + 2])
  )
  credited <- grep("^[a-z][^ ]* [0-9]+\\.", source_lines("inst", "AUTHORS"), value = TRUE)
  expect_setequal(credited, locked)
})

# Where it is missing, the tests of the package skip what needs it.
test_that("the CPU plugin that the tests use is there", {
  expect_true(xlaffi::plugins_downloaded("cpu"))
})

test_that("the shared object exports R's entry and GetPjrtApi, and holds no debug info", {
  skip_if(Sys.info()[["sysname"]] != "Linux" || !nzchar(Sys.which("readelf")))
  object <- getLoadedDLLs()[["xlaffi"]][["path"]]
  symbols <- system2("nm", c("-D", "--defined-only", object), stdout = TRUE)
  exports <- setdiff(sub(".* ", "", symbols), "R_unload_xlaffi")
  expect_setequal(exports, c("R_init_xlaffi", "GetPjrtApi"))
  sections <- system2("readelf", c("-SW", object), stdout = TRUE)
  expect_false(any(grepl(".debug_info", sections, fixed = TRUE)))
})

test_that("configure says which Rust it uses and writes a developer's Makevars", {
  dir <- configure_copy()
  out <- configure(dir)
  expect_null(attr(out, "status"))
  expect_match(out, "^using cargo [0-9]", all = FALSE)
  expect_match(out, "^using rustc [0-9]", all = FALSE)
  made <- makevars(dir)
  expect_false(any(grepl("@[A-Z_]+@", made)))
  expect_match(made, "cargo build --lib --release --", fixed = TRUE, all = FALSE)
})

test_that("with vendored crates the build is offline, on two jobs, and cleans up", {
  dir <- configure_copy()
  file.create(file.path(dir, "src", "rust", "vendor.tar.xz"))
  configure(dir)
  made <- makevars(dir)
  expect_match(made, "--release -j 2 --offline --locked", fixed = TRUE, all = FALSE)
  expect_match(made, "rm -rf .cargo vendor rust/target", fixed = TRUE, all = FALSE)
})

test_that("XLAFFI_DEBUG keeps the debug info", {
  dir <- configure_copy()
  configure(dir, c(XLAFFI_DEBUG = "1"))
  expect_match(makevars(dir), "^LIBDIR = .*/debug$", all = FALSE)
  expect_false(any(grepl("-Wl,-S", makevars(dir), fixed = TRUE)))
})

test_that("XLAFFI_WITH_TESTS builds the crates as for their tests, and no tarball so", {
  skip_unless_all()
  dir <- configure_copy()
  configure(dir, c(XLAFFI_WITH_TESTS = "1"))
  expect_match(makevars(dir), "^LIBDIR = .*/debug$", all = FALSE)
  expect_match(makevars(dir), "cargo build --lib --workspace --tests --", fixed = TRUE, all = FALSE)
  configure(dir, c(XLAFFI_WITH_TESTS = "all"))
  expect_match(makevars(dir), "--workspace --tests --features lanes/plain --", fixed = TRUE, all = FALSE)
  file.create(file.path(dir, "src", "rust", "vendor.tar.xz"))
  configure(dir, c(XLAFFI_WITH_TESTS = "1"))
  expect_match(makevars(dir), "--release -j 2 --offline --locked", fixed = TRUE, all = FALSE)
})

test_that("configure stops where Rust is too old, and tells the minimum and how to get it", {
  dir <- configure_copy()
  path <- paste(fake_rust("1.63.0"), Sys.getenv("PATH"), sep = ":")
  out <- configure(dir, c(PATH = path))
  expect_equal(attr(out, "status"), 1)
  expect_match(out, "`cargo` is too old: cargo 1.63.0.", fixed = TRUE, all = FALSE)
  expect_match(out, "Install Rust 1.81 or newer", fixed = TRUE, all = FALSE)
  expect_match(out, "apt-get install rustc-web cargo-web", fixed = TRUE, all = FALSE)
})

test_that("configure stops where Rust is missing or does not run", {
  dir <- configure_copy()
  bin <- fake_rust("1.90.0")
  writeLines(c("#!/bin/sh", "echo no toolchain >&2; exit 1"), file.path(bin, "rustc"))
  out <- configure(dir, c(PATH = paste(bin, Sys.getenv("PATH"), sep = ":")))
  expect_equal(attr(out, "status"), 1)
  expect_match(out, "`rustc` is not on the PATH, or does not run.", fixed = TRUE, all = FALSE)
})

test_that("files and targets that the release checklist names are there", {
  text <- paste(source_lines("tools", "release.md"), collapse = "\n")
  named <- unlist(regmatches(text, gregexpr("`[^`\n]+`", text)))
  named <- gsub("`", "", named, fixed = TRUE)
  files <- grep("^([A-Za-z_]+/[A-Za-z_./-]+|[A-Z_]+(\\.md)?|_pkgdown\\.yml|tools/[a-z_./]+)$", named, value = TRUE)
  # What the maintainer adds, a variable, and what building makes
  files <- setdiff(files, c("URL", "NOT_CRAN", "target/site"))
  expect_true(all(c("DESCRIPTION", "tools/check.sh", "src/rust/Cargo.toml") %in% files))
  expect_identical(files[!file.exists(source_file(files))], character())

  targets <- sub(":.*", "", grep("^[a-z-]+:$", source_lines("Makefile"), value = TRUE))
  steps <- grep("^make ", strsplit(text, "\n", fixed = TRUE)[[1L]], value = TRUE)
  steps <- unlist(strsplit(sub("^make ([a-z -]*[a-z]).*", "\\1", sub(" *(&&|#).*", "", steps)), " "))
  expect_identical(setdiff(steps, targets), character())
})

test_that("the tests that CRAN runs are there", {
  code <- as.list(parse(source_file("tests", "testthat.R")))
  quick <- eval(Filter(function(x) is.call(x) && identical(x[[2L]], quote(quick)), code)[[1L]][[3L]])
  expect_identical(anyDuplicated(quick), 0L)
  expect_identical(quick[!file.exists(source_file("tests", "testthat", sprintf("test-%s.R", quick)))], character())
})

test_that("tests forget programs of the session and leave those on disk, which other files and the next run need", {
  files <- list.files(source_file("tests/testthat"), "[.]R$", recursive = TRUE, full.names = TRUE)
  clearing <- Filter(function(file) any(grepl("xla_cache_clear()", readLines(file), fixed = TRUE)), files)
  expect_identical(clearing, character())
})
