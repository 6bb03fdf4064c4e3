# Plugins from an archive: the folder <cache>/<platform> holds the library and, in `source`, where
# it came from, so that another address downloads again.

downloaded_plugin <- function(platform) {
  source <- plugin_source(platform)
  wanted <- platform_variable("URL", platform)
  if (is.null(source) || (nzchar(wanted) && !identical(source, wanted))) {
    return(NULL)
  }
  find_library(cache_dir(platform))
}

# Where a plugin was downloaded from: an address, or the name of a wheel. NULL where none was.
plugin_source <- function(platform) {
  file <- file.path(cache_dir(platform), "source")
  if (file.exists(file)) readLines(file, warn = FALSE)
}

download_plugin <- function(platform, call = rlang::caller_env()) {
  url <- platform_variable("URL", platform)
  work <- tempfile("xlaffi-plugin-")
  dir.create(work)
  on.exit(unlink(work, recursive = TRUE))
  archive <- file.path(work, "archive")
  cli::cli_progress_step("Downloading the {.val {platform}} plugin")
  fetch_file(sub("#.*$", "", url), archive, sprintf("%s plugin", platform), call = call)
  check_sha256(archive, url, platform, call)
  unpacked <- file.path(work, "unpacked")
  unpack(archive, unpacked, url, call)
  library <- find_library(unpacked)
  if (is.null(library)) {
    abort(sprintf("the archive \"%s\" contains no shared library", url),
      code = "NOT_FOUND", call = call
    )
  }
  folder <- cache_dir(platform)
  unlink(folder, recursive = TRUE)
  dir.create(folder, recursive = TRUE)
  # The whole folder: a library may look for others beside itself.
  file.copy(list.files(dirname(library), full.names = TRUE), folder, recursive = TRUE)
  # Last, so that an interrupted installation does not count.
  writeLines(url, file.path(folder, "source"))
  cli::cli_progress_done()
  file.path(folder, basename(library))
}

# Downloads a file. With a name for it an interactive session sees a bar, unless a program is to download that only
# download.file() knows. `bytes` is how long the file is, where that is known.
fetch_file <- function(url, file, name = NULL, bytes = NULL, hint = NULL, call = rlang::caller_env()) {
  old <- options(timeout = max(getOption("timeout"), 600))
  on.exit(options(old))
  by_program <- getOption("download.file.method", "auto") %in% c("wget", "curl")
  status <- tryCatch(
    if (is.null(name) || by_program || !shows_progress()) {
      utils::download.file(url, file, mode = "wb", quiet = TRUE)
    } else {
      fetch_with_bar(url, file, name, bytes)
    },
    warning = identity, error = identity
  )
  if (!identical(status, 0L)) {
    reason <- if (inherits(status, "condition")) conditionMessage(status) else paste("status", status)
    abort(sprintf("cannot download \"%s\": %s", without_password(url), without_password(reason)),
      code = "UNAVAILABLE", call = call, hint = hint
    )
  }
}

# 0, as download.file() gives it. The length that the server says must be there; what else a file should be is seen by
# its digest.
fetch_with_bar <- function(url, file, name, bytes) {
  said <- if (is.null(bytes)) download_size(url)
  bar <- new_download_bar(name, c(bytes, said))
  on.exit(bar$end())
  done <- download_parts(url, file, bar)
  if (isTRUE(done < said)) stop(sprintf("it ended after %s of %s", format_bytes(done), format_bytes(said)))
  0L
}

check_sha256 <- function(file, url, platform, call) {
  wanted <- platform_variable("SHA256", platform)
  if (!nzchar(wanted) && grepl("#sha256=", url, fixed = TRUE)) {
    wanted <- sub("^.*#sha256=", "", url)
  }
  if (!nzchar(wanted)) {
    return(invisible())
  }
  check_digest(file, wanted, url, call)
}

check_digest <- function(file, wanted, shown, call) {
  found <- cli::hash_file_sha256(file)
  if (!identical(tolower(wanted), found)) {
    abort(
      sprintf("the checksum of \"%s\" is %s, not %s as expected", shown, found, tolower(wanted)),
      code = "DATA_LOSS", call = call,
      hint = "The file was damaged on the way, or it is not the one that was meant. Nothing was installed."
    )
  }
}

# A zip file (a Python wheel is one) starts with "PK"; everything else is left to untar().
unpack <- function(archive, folder, url, call) {
  dir.create(folder)
  zip <- identical(readBin(archive, "raw", 2L), charToRaw("PK"))
  result <- tryCatch(
    if (zip) utils::unzip(archive, exdir = folder) else utils::untar(archive, exdir = folder),
    warning = identity, error = identity
  )
  if (inherits(result, "condition") || !length(list.files(folder))) {
    reason <- if (inherits(result, "condition")) conditionMessage(result) else "nothing came out"
    abort(sprintf("cannot unpack \"%s\" as a tar or zip archive: %s", url, reason),
      code = "INVALID_ARGUMENT", call = call
    )
  }
}

# The shared library in a folder: the one with "pjrt" in its name, then "plugin", then any.
find_library <- function(folder) {
  files <- list.files(folder, "[.](so|dylib|dll)$", recursive = TRUE, full.names = TRUE)
  if (!length(files)) {
    return(NULL)
  }
  name <- basename(files)
  rank <- ifelse(grepl("pjrt", name), 1L, ifelse(grepl("plugin", name), 2L, 3L))
  normalizePath(files[order(rank, nchar(files))][[1L]])
}
