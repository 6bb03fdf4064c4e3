# Code on disk: a folder for each digest of all that the code depends on. A folder is made under another name and
# renamed, so it is there with all its files or not at all. Nothing is loaded that others could have written, or that
# is
# not what was written.

# Where it is: chosen once a session, again when the user moves it.
code_folder <- function() {
  wanted <- wanted_code_folder()
  if (identical(the$code_folder$wanted, wanted)) {
    return(the$code_folder$path)
  }
  problem <- folder_problem(wanted)
  path <- wanted
  if (!is.null(problem)) {
    path <- session_code_folder(problem)
  }
  the$code_folder <- list(wanted = wanted, path = path)
  path
}

wanted_code_folder <- function() {
  wanted <- getOption("xlaffi.code_cache", Sys.getenv("XLAFFI_CODE_CACHE"))
  if (!is.character(wanted) || length(wanted) != 1L || is.na(wanted)) {
    abort(sprintf("the option `xlaffi.code_cache` must be a folder, not %s", describe(wanted)),
      operand = "xlaffi.code_cache", call = NULL
    )
  }
  path.expand(if (nzchar(wanted)) wanted else cache_dir("code"))
}

# For this session only, with the reason why.
session_code_folder <- function(problem) {
  path <- file.path(tempdir(), "xlaffi-code")
  dir.create(path, showWarnings = FALSE, mode = "0700")
  if (!isTRUE(the$told_code_folder)) {
    the$told_code_folder <- TRUE
    cli::cli_inform(
      c("Compiled ops are kept for this session only: {problem}.",
        i = "The option {.code xlaffi.code_cache} names another folder for them."
      ),
      class = "xlaffi_message_code_cache"
    )
  }
  path
}

# Why code cannot be kept in a folder, which is made if need be; NULL where it can.
folder_problem <- function(path) {
  if (!dir.exists(path)) {
    dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
    dir.create(path, showWarnings = FALSE, mode = "0700")
  }
  if (!dir.exists(path)) {
    return(sprintf("%s cannot be made", path))
  }
  foreign <- foreign_reason(path)
  if (!is.null(foreign)) {
    return(sprintf("%s %s", path, foreign))
  }
  trial <- tempfile(".trial", path)
  if (!suppressWarnings(file.create(trial, showWarnings = FALSE))) {
    return(sprintf("%s cannot be written", path))
  }
  unlink(trial)
  NULL
}

# Who else could have written a file or folder; NULL where nobody could.
foreign_reason <- function(path) {
  info <- file.info(c(path, tempdir()))
  if (is.null(info$uid) || anyNA(info$uid)) {
    return(if (is.na(info$size[[1L]])) "is not there")
  }
  if (info$uid[[1L]] != info$uid[[2L]]) {
    "belongs to another user"
  } else if (bitwAnd(as.integer(info$mode[[1L]]), strtoi("022", 8L)) != 0L) {
    "can be written by others"
  }
}

is_own_file <- function(file) file.exists(file) && is.null(foreign_reason(file))

# Writes a file under another name and renames it. Where it cannot be written there is none.
write_whole <- function(file, write) {
  made <- tempfile(".made", dirname(file))
  on.exit(unlink(made))
  done <- tryCatch(
    {
      write(made)
      Sys.chmod(made, "0600", use_umask = FALSE)
      file.rename(made, file)
    },
    xlaffi_error_disk_full = function(error) FALSE, warning = function(warning) FALSE
  )
  invisible(done)
}

# R tells of a full disk by warnings only, when it closes a file.
write_lines <- function(lines, path) {
  bytes <- charToRaw(paste0(enc2utf8(lines), "\n", collapse = ""))
  write_bytes(bytes, path)
}

write_bytes <- function(bytes, path) {
  tryCatch(
    suppressWarnings({
      file <- file(path, "wb")
      writeBin(bytes, file)
      close(file)
    }),
    error = function(error) disk_full("cannot be written")
  )
  if (!identical(file.size(path), as.numeric(length(bytes)))) {
    disk_full("is full")
  }
}

text_digest <- function(text) cli::hash_sha256(paste(enc2utf8(text), collapse = "\n"))

# The folder of the code under `key`. Where there is none, `make(folder)` writes the files `libraries` into a new one.
code_entry <- function(key, name, libraries, make) {
  root <- code_folder()
  folder <- file.path(root, key)
  if (is_sound_entry(folder, libraries)) {
    suppressWarnings(Sys.setFileTime(file.path(folder, "about"), Sys.time()))
    return(folder)
  }
  if (dir.exists(folder)) {
    discard_entry(folder)
  }
  made <- tryCatch(make_entry(root, folder, name, libraries, make), xlaffi_error_disk_full = identity)
  if (!inherits(made, "condition")) {
    return(made)
  }
  # The disk is full, or what was written there is not what can be read.
  root <- session_code_folder(sprintf("%s %s", root, conditionMessage(made)))
  the$code_folder$path <- root
  make_entry(root, file.path(root, key), name, libraries, make)
}

make_entry <- function(root, folder, name, libraries, make) {
  work <- tempfile(sprintf("making-%d-", Sys.getpid()), root)
  on.exit(unlink(work, recursive = TRUE))
  if (!dir.create(work, showWarnings = FALSE, mode = "0700")) {
    disk_full("cannot be written")
  }
  make(work)
  files <- file.path(work, libraries)
  Sys.chmod(files, "0700", use_umask = FALSE)
  about <- c(paste("name", name), sprintf("library %s %s", hash_file(files), libraries))
  written <- tryCatch(
    {
      write_lines(about, file.path(work, "about"))
      Sys.chmod(file.path(work, "about"), "0600", use_umask = FALSE)
      is_sound_entry(work, libraries)
    },
    error = function(error) FALSE, warning = function(warning) FALSE
  )
  if (!written) {
    disk_full("is full")
  }
  # Another process may have been faster; its code is as good.
  if (!suppressWarnings(file.rename(work, folder)) && !is_sound_entry(folder, libraries)) {
    disk_full("cannot be written")
  }
  sweep_code(root, keep = folder)
  folder
}

disk_full <- function(what) {
  stop(structure(class = c("xlaffi_error_disk_full", "error", "condition"), list(message = what, call = NULL)))
}

hash_file <- function(files) vapply(files, cli::hash_file_sha256, "", USE.NAMES = FALSE)

# Whether the folder is ours, and its libraries are those that were written.
is_sound_entry <- function(folder, libraries) {
  about <- file.path(folder, "about")
  files <- file.path(folder, libraries)
  if (!all(file.exists(c(about, files))) || !all(vapply(c(folder, about, files), is_own_file, NA))) {
    return(FALSE)
  }
  written <- grep("^library ", readLines(about, warn = FALSE), value = TRUE)
  identical(written, sprintf("library %s %s", hash_file(files), libraries))
}

# Moved away first: another process finds either all of it or nothing.
discard_entry <- function(folder) {
  gone <- tempfile(sprintf("making-%d-", Sys.getpid()), dirname(folder))
  if (suppressWarnings(file.rename(folder, gone))) {
    unlink(gone, recursive = TRUE)
  }
}

# Removes what processes that ended too early left, and, where there is too much, what was used least lately.
sweep_code <- function(root, keep = NULL) {
  limit <- getOption("xlaffi.code_cache_size", 256 * 2^20)
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit) || limit < 0) {
    abort(sprintf("the option `xlaffi.code_cache_size` must be a number of bytes, not %s", describe(limit)),
      operand = "xlaffi.code_cache_size", call = NULL
    )
  }
  left <- list.files(root, "^(making-|[.]made|[.]trial)", full.names = TRUE, all.files = TRUE)
  old <- as.numeric(file.info(left)$mtime) < as.numeric(Sys.time()) - 3600
  unlink(left[!is.na(old) & old], recursive = TRUE)
  entries <- code_entries(root)
  entries <- entries[order(entries$used, decreasing = TRUE), ]
  entries <- rbind(entries[entries$folder %in% keep, ], entries[!entries$folder %in% keep, ])
  for (folder in entries$folder[cumsum(entries$bytes) > limit & !entries$folder %in% keep]) {
    discard_entry(folder)
  }
}

code_entries <- function(root = code_folder()) {
  folders <- list.files(root, "^[0-9a-f]{64}$", full.names = TRUE)
  about <- file.path(folders, "about")
  folders <- folders[file.exists(about)]
  about <- about[file.exists(about)]
  name <- vapply(about, function(file) {
    lines <- tryCatch(readLines(file, 1L, warn = FALSE), error = function(error) character())
    if (length(lines)) sub("^name ", "", lines) else ""
  }, "", USE.NAMES = FALSE)
  bytes <- vapply(folders, function(folder) {
    sum(file.info(list.files(folder, recursive = TRUE, full.names = TRUE), extra_cols = FALSE)$size, na.rm = TRUE)
  }, 0, USE.NAMES = FALSE)
  data.frame(name = name, bytes = bytes, used = file.info(about, extra_cols = FALSE)$mtime, folder = folders)
}

# Ops that are loaded keep their code: the system has it in memory.
clear_code <- function() {
  root <- code_folder()
  entries <- code_entries(root)
  for (folder in entries$folder) {
    discard_entry(folder)
  }
  # And what cargo has compiled for all ops.
  unlink(c(list.files(root, "^fact-", full.names = TRUE), file.path(root, "cargo")), recursive = TRUE)
  the$compilers <- list()
  nrow(entries)
}
