# The shared library of a file in this folder, which `compile(copy)` makes of a copy. It is kept as long as neither the
# file nor the headers change: in the folder that tools/test.R names, or for this process.
kept_library <- function(name, headers, compile) {
  source <- test_path(name)
  contents <- unname(tools::md5sum(c(source, list.files(headers, recursive = TRUE, full.names = TRUE))))
  key <- xlaffi:::text_digest(c(R.version.string, headers, contents))
  folder <- file.path(Sys.getenv("XLAFFI_TEST_CACHE", tempdir()), "libraries", key)
  library <- file.path(folder, paste0(tools::file_path_sans_ext(name), .Platform$dynlib.ext))
  if (!file.exists(library)) {
    work <- withr::local_tempdir()
    file.copy(source, work)
    made <- compile(file.path(work, name))
    dir.create(folder, recursive = TRUE, showWarnings = FALSE)
    copy <- tempfile("making", folder)
    stopifnot(file.copy(made, copy), file.rename(copy, library))
  }
  library
}
