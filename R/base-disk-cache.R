# Folders on disk, of compiled code and of compiled programs: in each an entry, a folder, for the digest of all that it
# depends on. An entry is made under another name and renamed, so it is there with all its files or not at all. Nothing
# is used that others could have written, or that is not what was written.

# What is known of the folders of caches, by kind
cache_state <- session_state("cache_state", folders = list())

# The caches: what the user calls them, the option and the variable that name the folder, and how many bytes there may
# be where no option says so. One that is `optional` can be turned off.
disk_cache <- function(kind) {
  list(
    kind = kind, folder = sprintf("xlaffi.%s_cache", kind), variable = sprintf("XLAFFI_%s_CACHE", toupper(kind)),
    size = sprintf("xlaffi.%s_cache_size", kind), limit = 256 * 2^20, optional = kind == "program"
  )
}

# Where a cache is: looked at once a session, again when the user moves it. `problem` tells why it cannot be used.
cache_folder <- function(cache) {
  wanted <- wanted_folder(cache)
  if (!identical(cache_state$folders[[cache$kind]]$wanted, wanted)) {
    cache_state$folders[[cache$kind]] <- list(wanted = wanted, path = wanted, problem = folder_problem(wanted))
  }
  cache_state$folders[[cache$kind]]
}

is_turned_off <- function(cache) {
  cache$optional && is_off(getOption(cache$folder, Sys.getenv(cache$variable)))
}

# These words are no names of folders: other variables have `0` for this.
is_off <- function(wanted) {
  isFALSE(wanted) || (is_string(wanted) && tolower(wanted) %in% c("off", "0", "no", "false"))
}

# Where a cache that is turned off would be, too. A relative path means another folder when R works elsewhere.
wanted_folder <- function(cache) {
  named <- Sys.getenv(cache$variable)
  wanted <- getOption(cache$folder, named)
  if (cache$optional) {
    wanted <- if (isTRUE(wanted) || is_turned_off(cache)) named else wanted
    wanted <- if (is_off(wanted)) "" else wanted
  }
  if (!is_string(wanted)) {
    what <- if (cache$optional) "a folder, TRUE or FALSE" else "a folder"
    abort(sprintf("the option `%s` must be %s, not %s", cache$folder, what, describe(wanted)),
      operand = cache$folder, call = NULL
    )
  }
  if (nzchar(wanted)) {
    wanted <- path.expand(wanted)
    if (grepl("^([/\\\\]|[A-Za-z]:)", wanted)) wanted else file.path(getwd(), wanted)
  } else if (nzchar(Sys.getenv("_R_CHECK_PACKAGE_NAME_"))) {
    # The check of a package leaves nothing behind.
    file.path(tempdir(), paste0("xlaffi-", cache$kind))
  } else {
    cache_dir(cache$kind)
  }
}

# Why nothing can be kept in a folder, which is made if need be; NULL where it can.
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
  on.exit(unlink(trial))
  # On a full disk files can be made that hold nothing.
  tryCatch(
    {
      write_bytes(raw(4096L), trial)
      NULL
    },
    xlaffi_error_disk_full = function(error) sprintf("%s %s", path, conditionMessage(error))
  )
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

# Writes a file under another name and renames it. Where it cannot be written there is none. NULL is the mode that R
# gives new files.
write_whole <- function(file, write, mode = "0600") {
  made <- tempfile(".made", dirname(file))
  on.exit(unlink(made))
  done <- tryCatch(
    {
      write(made)
      if (!is.null(mode)) Sys.chmod(made, mode, use_umask = FALSE)
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
  write <- function() {
    file <- file(path, "wb")
    on.exit(close(file))
    writeBin(bytes, file)
  }
  tryCatch(suppressWarnings(write()), error = function(error) disk_full("cannot be written"))
  if (!identical(file.size(path), as.numeric(length(bytes)))) {
    disk_full("is full")
  }
}

# SHA-256. To load cli for it takes longer than a program.
digest_of <- function(x) check(.Call(wrap__digest, x))

text_digest <- function(text) digest_of(paste(enc2utf8(text), collapse = "\n"))

# The folder of the entry under `key`, if it is there and sound: what cannot be read is not.
found_entry <- function(root, key, files) {
  folder <- file.path(root, key)
  if (is_sound_entry(folder, key, files)) {
    suppressWarnings(Sys.setFileTime(file.path(folder, "about"), Sys.time()))
    return(folder)
  }
  if (dir.exists(folder)) {
    discard_entry(folder)
  }
  NULL
}

# `make(folder)` writes the files into a new folder, which becomes the entry under `key`.
make_entry <- function(root, key, name, files, make) {
  folder <- file.path(root, key)
  work <- tempfile(sprintf("making-%d-", Sys.getpid()), root)
  on.exit(unlink(work, recursive = TRUE))
  if (!dir.create(work, showWarnings = FALSE, mode = "0700")) {
    disk_full("cannot be written")
  }
  make(work)
  made <- file.path(work, files)
  Sys.chmod(made, "0700", use_umask = FALSE)
  written <- tryCatch(
    {
      about <- c(paste("name", name), paste("key", key), sprintf("file %s %s", hash_file(made), files))
      write_lines(about, file.path(work, "about"))
      Sys.chmod(file.path(work, "about"), "0600", use_umask = FALSE)
      is_sound_entry(work, key, files)
    },
    error = function(error) FALSE, warning = function(warning) FALSE
  )
  if (!written) {
    disk_full("is full")
  }
  # Another process may have been faster; what it made is as good.
  if (!suppressWarnings(file.rename(work, folder)) && !is_sound_entry(folder, key, files)) {
    disk_full("cannot be written")
  }
  folder
}

disk_full <- function(what) {
  stop(structure(class = c("xlaffi_error_disk_full", "error", "condition"), list(message = what, call = NULL)))
}

hash_file <- function(files) {
  vapply(files, function(file) digest_of(readBin(file, "raw", file.size(file))), "", USE.NAMES = FALSE)
}

# Whether the folder is ours, and its files are those that were written under this key. Another process may remove
# them meanwhile.
is_sound_entry <- function(folder, key, files) {
  about <- file.path(folder, "about")
  paths <- file.path(folder, files)
  tryCatch(
    all(vapply(c(folder, about, paths), is_own_file, NA)) && {
      written <- grep("^(key|file) ", readLines(about, warn = FALSE), value = TRUE)
      identical(written, c(paste("key", key), sprintf("file %s %s", hash_file(paths), files)))
    },
    error = function(error) FALSE, warning = function(warning) FALSE
  )
}

# Moved away first: another process finds either all of it or nothing.
discard_entry <- function(folder) {
  gone <- tempfile(sprintf("making-%d-", Sys.getpid()), dirname(folder))
  if (suppressWarnings(file.rename(folder, gone))) {
    unlink(gone, recursive = TRUE)
  }
}

# Removes what processes that ended too early left, and, where there is too much, what was used least lately.
sweep_cache <- function(cache, root, keep = NULL) {
  limit <- size_limit(cache)
  left <- list.files(root, "^(making-|[.]made|[.]trial)", full.names = TRUE, all.files = TRUE)
  old <- as.numeric(file.info(left)$mtime) < as.numeric(Sys.time()) - 3600
  unlink(left[!is.na(old) & old], recursive = TRUE)
  entries <- entry_sizes(root)
  entries <- entries[order(entries$folder %in% keep, entries$used, decreasing = TRUE), ]
  for (folder in entries$folder[cumsum(entries$bytes) > limit & !entries$folder %in% keep]) {
    discard_entry(folder)
  }
}

size_limit <- function(cache) {
  limit <- getOption(cache$size, cache$limit)
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit) || limit < 0) {
    abort(sprintf("the option `%s` must be a number of bytes, not %s", cache$size, describe(limit)),
      operand = cache$size, call = NULL
    )
  }
  limit
}

# For each entry of a cache, and for the crates that cargo has compiled for code, its `folder`, `bytes` and when it was
# `used`. There are none in a NULL.
entry_sizes <- function(root) {
  folders <- list.files(as.character(root), "^([0-9a-f]{64}|cargo)$", full.names = TRUE)
  files <- list.files(folders, recursive = TRUE, full.names = TRUE, all.files = TRUE)
  # Of what is deeper down, the entry that it belongs to.
  own <- file.path(root, sub("/.*$", "", substring(files, nchar(root) + 2L)))
  info <- file.info(files, extra_cols = FALSE)
  about <- match(file.path(folders, "about"), files)
  bytes <- vapply(split(info$size, factor(own, folders)), sum, 0, na.rm = TRUE)
  sizes <- data.frame(folder = folders, bytes = unname(bytes), used = info$mtime[about])
  sizes[!is.na(about), ]
}

# What xla_cache() tells of a cache: the entries, with what is said of them in the first line of their `about`.
cache_entries <- function(root) {
  sizes <- entry_sizes(root)
  name <- vapply(file.path(sizes$folder, "about"), function(file) {
    lines <- tryCatch(suppressWarnings(readLines(file, 1L, warn = FALSE)), error = function(error) character())
    if (length(lines)) sub("^name ", "", lines) else ""
  }, "", USE.NAMES = FALSE)
  sizes <- data.frame(name = name, sizes[c("bytes", "used", "folder")])
  sizes[order(sizes$used, decreasing = TRUE), , drop = FALSE]
}

clear_cache <- function(root) {
  folders <- entry_sizes(root)$folder
  for (folder in folders) {
    discard_entry(folder)
  }
  length(folders)
}

# A file as it is now, in a word.
file_stamp <- function(file) {
  info <- file.info(file, extra_cols = FALSE)
  paste(file, info$size, format(as.numeric(info$mtime), digits = 20L))
}

# The processor, for code that is made for this one only.
processor <- function() {
  lines <- if (file.exists("/proc/cpuinfo")) {
    unique(grep("^(model name|flags|Features|CPU part)", readLines("/proc/cpuinfo", warn = FALSE), value = TRUE))
  }
  paste(c(lines, R.version$platform, if (is.null(lines)) Sys.info()[["nodename"]]), collapse = "\n")
}

cache_dir <- function(...) file.path(tools::R_user_dir("xlaffi", "cache"), ...)
