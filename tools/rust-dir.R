# Packs xla-ffi, the crate for authors of handlers, with the crates that it needs into inst/rust/xla-ffi.tar.xz, from
# which ffi_rust_dir() takes it. Run in src by make, with cargo's settings of the build.

root <- normalizePath("..", "/")
crate <- file.path(root, "src", "rust", "crates", "xla-ffi")
work <- tempfile("rust-dir")
copy <- file.path(work, "xla-ffi")
dir.create(copy, recursive = TRUE)
stopifnot(file.copy(file.path(crate, c("src", "README.md", "LICENSE.md")), copy, recursive = TRUE))

# The manifest without the workspace, and without what needs libc, which is larger than all the rest together: the
# feature `registry` is that of the package's own library.
manifest <- readLines(file.path(crate, "Cargo.toml"))
workspace <- readLines(file.path(root, "src", "rust", "Cargo.toml"))
inherited <- grep("[.]workspace = true$", manifest)
for (i in inherited) {
  key <- sub("[.]workspace = true$", "", manifest[[i]])
  behind <- workspace[seq_along(workspace) > match("[workspace.package]", workspace)]
  manifest[[i]] <- grep(sprintf("^%s = ", key), behind, value = TRUE)[[1L]]
}
section <- cummax(ifelse(grepl("^\\[", manifest), seq_along(manifest), 0L))
kept <- manifest[section] %in% c("[package]", "[dependencies]", "[features]")
manifest <- manifest[kept & !grepl("^(#|registry = |exclude = |$)", manifest)]
writeLines(
  c(manifest, "[lints.rust]", "unexpected_cfgs = \"allow\"", "[workspace]"),
  file.path(copy, "Cargo.toml")
)

# cargo takes from the build's Cargo.lock what this crate needs.
lock <- file.path(copy, "Cargo.lock")
stopifnot(file.copy(file.path(root, "src", "rust", "Cargo.lock"), lock))
manifest_path <- c("--manifest-path", shQuote(file.path(copy, "Cargo.toml")))
if (dir.exists("vendor")) {
  # The crates of the tarball are copied: `cargo vendor` of cargo 1.85 deletes crates in the folder that it reads.
  tree <- system2("cargo", c(
    "tree", "--quiet", "--offline", "--target", "all", "--edges", "normal,build", "--prefix", "none", "--format", "{p}",
    manifest_path
  ), stdout = TRUE)
  needed <- setdiff(unique(sub("^([^ ]+) v([^ ]+).*$", "\\1-\\2", tree)), "")
  needed <- needed[!startsWith(needed, "xla-ffi-")]
  # A crate of which there are two versions has the older one's in its folder's name.
  places <- file.path("vendor", needed)
  places <- ifelse(dir.exists(places), places, sub("-[0-9][^-]*$", "", places))
  stopifnot(length(needed) > 0L, dir.exists(places), dir.create(file.path(work, "vendor")))
  stopifnot(file.copy(places, file.path(work, "vendor"), recursive = TRUE))
} else {
  vendor <- function(...) {
    system2("cargo", c(
      "vendor", "--quiet", ..., "--respect-source-config", manifest_path, shQuote(file.path(work, "vendor"))
    ), stdout = FALSE, stderr = if (...length()) FALSE else "")
  }
  # A build for one system has not taken what only others need.
  stopifnot(vendor("--offline") == 0L || vendor() == 0L)
}
unlink(lock)

# What no build reads goes, and with it the lists of files' digests; the digests of the crates stay.
vendored <- list.dirs(file.path(work, "vendor"), recursive = FALSE)
for (folder in vendored) {
  unlink(file.path(folder, c(
    "tests", "benches", "examples", "ci", ".github", ".reuse", "Cargo.toml.orig", "Cargo.lock", "CHANGELOG.md",
    "RELEASES.md", "Makefile.toml", ".cargo_vcs_info.json", ".gitignore", "bors.toml"
  )), recursive = TRUE)
  list <- file.path(folder, ".cargo-checksum.json")
  writeLines(sub("\"files\":\\{.*\\},\"package\"", "\"files\":{},\"package\"", readLines(list, warn = FALSE)), list)
}

# The same bytes for the same sources: the cache's folder is named after them.
invisible(Sys.setlocale("LC_COLLATE", "C"))
packed <- list.files(work, recursive = TRUE, full.names = TRUE, all.files = TRUE, include.dirs = TRUE)
Sys.setFileTime(packed, as.POSIXct("2000-01-01", tz = "UTC"))
made <- file.path(root, "inst", "rust", "xla-ffi.tar.xz")
dir.create(dirname(made), recursive = TRUE, showWarnings = FALSE)
owd <- setwd(work)
utils::tar(made, c("vendor", "xla-ffi"), compression = "xz", tar = "internal")
setwd(owd)
cat("xla-ffi with", length(vendored), "crates:", file.size(made), "bytes\n")
