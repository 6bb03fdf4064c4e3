# Stops the installation where cargo or rustc is missing or too old, and prints the
# versions that will be used. The minimum is the one in DESCRIPTION's SystemRequirements.

advice <- function(minimum) {
  paste0(
    "Install Rust ", minimum, " or newer:\n",
    "  any system:         https://rustup.rs\n",
    "  Debian 12:          apt-get install rustc-web cargo-web\n",
    "  Debian 13, Ubuntu:  apt-get install rustc cargo\n",
    "  Fedora:             dnf install cargo\n",
    "  macOS (Homebrew):   brew install rust"
  )
}

# Prints `text` as it is (stop() would prefix and wrap it) and ends the installation.
fail <- function(...) {
  cat("\n---------------- RUST ----------------\n", ..., "\n", sep = "")
  cat("--------------------------------------\n")
  quit(save = "no", status = 1)
}

# The first line of `<tool> --version`, or NULL where the tool does not run: rustup's
# shims exist without a toolchain too.
tool_version <- function(tool) {
  out <- tryCatch(
    suppressWarnings(system2(tool, "--version", stdout = TRUE, stderr = TRUE)),
    error = function(e) NULL
  )
  if (length(out) == 0 || !is.null(attr(out, "status"))) NULL else out[[1]]
}

requirements <- read.dcf("DESCRIPTION", fields = "SystemRequirements")[[1]]
minimum <- regmatches(requirements, regexec("rustc *\\(?>= *([0-9.]+)", requirements))[[1]][2]
if (is.na(minimum)) {
  fail("DESCRIPTION's SystemRequirements does not name a minimum, as in `rustc >= 1.81`.")
}

# rustup installs into ~/.cargo/bin, which is often missing from a GUI's PATH.
Sys.setenv(PATH = paste(
  Sys.getenv("PATH"), file.path(Sys.getenv("HOME"), ".cargo", "bin"),
  sep = .Platform$path.sep
))

for (tool in c("cargo", "rustc")) {
  found <- tool_version(tool)
  if (is.null(found)) {
    fail("`", tool, "` is not on the PATH, or does not run.\n", advice(minimum))
  }
  number <- regmatches(found, regexpr("[0-9]+\\.[0-9]+(\\.[0-9]+)?", found))
  if (length(number) == 0 || package_version(number) < package_version(minimum)) {
    fail("`", tool, "` is too old: ", found, ".\n", advice(minimum))
  }
  cat("using ", found, "\n", sep = "")
}
