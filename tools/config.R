# Writes src/Makevars (src/Makevars.win on Windows) from its template.
#
# Two kinds of build:
# - sealed: src/rust/vendor.tar.xz is there, as in the tarball. Offline, two jobs, everything
#   inside the build folder and removed afterwards. NOT_CRAN=true turns this off.
# - developer's: no archive. cargo's own settings, and a target folder that is kept.
#
# Environment: XLAFFI_DEBUG=1 gives an unoptimised build with debug info; XLAFFI_WITH_TESTS=1 one of the crates as
# `cargo test` compiles them for its own tests, together with those, so that both share what is compiled;
# XLAFFI_WITH_TESTS=all as for every test.

windows <- .Platform$OS.type == "windows"
mac <- Sys.info()[["sysname"]] == "Darwin"
flag <- function(name) tolower(Sys.getenv(name)) %in% c("1", "true", "yes")

r_config <- function(name) {
  out <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"), c("CMD", "config", name),
    stdout = TRUE, stderr = FALSE
  ))
  if (is.null(attr(out, "status"))) paste(out, collapse = " ") else ""
}

# Whether `source` compiles and links with R's compiler and these flags. The result is not run.
links <- function(source, flags) {
  dir <- tempfile("conftest")
  dir.create(dir)
  on.exit(unlink(dir, recursive = TRUE))
  file <- file.path(dir, "conftest.c")
  writeLines(source, file)
  command <- paste(
    r_config("CC"), r_config("CPPFLAGS"), r_config("CFLAGS"), r_config("LDFLAGS"),
    shQuote(file), "-o", shQuote(file.path(dir, "conftest.out")), flags
  )
  system(command, ignore.stdout = TRUE, ignore.stderr = TRUE) == 0
}

# The linker options that this system's linker takes: no debug info, no code that nothing
# calls, and no exports but R's entry points and GetPjrtApi, which PJRT clients look up.
# A developer's build keeps the names of functions, for profilers and stack traces. Without
# any symbol, as by -Wl,-s, R CMD check cannot see that routines are registered.
link_flags <- function(debug, sealed) {
  stripped <- if (sealed) "-Wl,-S,-x" else "-Wl,-S"
  if (windows) {
    return(if (debug) "" else stripped)
  }
  if (mac) {
    shared <- "-dynamiclib"
    hidden <- "-Wl,-u,_GetPjrtApi -Wl,-exported_symbols_list,../tools/exports-macos.txt"
    unused <- "-Wl,-dead_strip"
  } else {
    shared <- "-shared -fPIC"
    hidden <- "-Wl,-u,GetPjrtApi -Wl,--version-script=../tools/exports.map"
    unused <- "-Wl,--gc-sections"
  }
  # The paths are relative to src/, where the package is linked.
  owd <- setwd("src")
  on.exit(setwd(owd))
  wanted <- c(hidden, if (!debug) c(unused, stripped))
  source <- "int GetPjrtApi(void) { return 0; }"
  taken <- Filter(function(flags) links(source, paste(shared, flags)), wanted)
  paste(taken, collapse = " ")
}

sealed <- file.exists("src/rust/vendor.tar.xz") && Sys.getenv("NOT_CRAN") != "true"
debug <- flag("XLAFFI_DEBUG")
every_test <- !sealed && Sys.getenv("XLAFFI_WITH_TESTS") == "all"
with_tests <- every_test || !sealed && flag("XLAFFI_WITH_TESTS")
target_dir <- if (sealed) "" else Sys.getenv("CARGO_TARGET_DIR")

values <- c(
  TARGET_DIR = if (nzchar(target_dir)) target_dir else "rust/target",
  TARGET = if (R.version$arch == "aarch64") {
    "aarch64-pc-windows-gnullvm"
  } else {
    "x86_64-pc-windows-gnu"
  },
  PROFILE_DIR = if (debug || with_tests) "debug" else "release",
  SEALED = if (sealed) "yes" else "no",
  CARGO_FLAGS = paste(c(
    if (with_tests) "--workspace --tests" else if (!debug) "--release",
    if (every_test) "--features lanes/plain",
    if (sealed) "-j 2 --offline --locked"
  ), collapse = " "),
  LINK_FLAGS = link_flags(debug, sealed),
  # The linker keeps the names of what only the version script makes local.
  STRIP = if (sealed && !debug && !mac && nzchar(Sys.which("strip"))) "strip -x $(SHLIB)" else "",
  SYSTEM_LIBS = if (mac) "" else "-lpthread -ldl -lm",
  CLEAN = if (sealed) "vendor rust/target" else ""
)

template <- if (windows) "src/Makevars.win.in" else "src/Makevars.in"
lines <- readLines(template)
for (name in names(values)) {
  lines <- gsub(paste0("@", name, "@"), values[[name]], lines, fixed = TRUE)
}
writeLines(lines, sub("\\.in$", "", template))

cat("build: ", if (sealed) "vendored crates, offline" else "developer's", "\n", sep = "")
cat("profile: ", values[["PROFILE_DIR"]], "\n", sep = "")
