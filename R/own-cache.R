# Compiled code on disk, see disk-cache.R. Where its folder cannot be used, code is kept for the session.

code_folder <- function() {
  cache <- disk_cache("code")
  folder <- cache_folder(cache)
  if (!is.null(folder$problem)) {
    use_session_folder(folder$problem)
  }
  the$folders$code$path
}

# For this session only, with the reason why.
use_session_folder <- function(problem) {
  path <- file.path(tempdir(), "xlaffi-code")
  dir.create(path, showWarnings = FALSE, mode = "0700")
  the$folders$code["path"] <- list(path)
  the$folders$code["problem"] <- list(NULL)
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

# The folder of the code under `key`. Where there is none, `make(folder)` writes the files `libraries` into a new one.
code_entry <- function(key, name, libraries, make) {
  root <- code_folder()
  folder <- found_entry(root, key, libraries)
  if (!is.null(folder)) {
    return(folder)
  }
  made <- tryCatch(make_entry(root, key, name, libraries, make), xlaffi_error_disk_full = identity)
  if (inherits(made, "condition")) {
    # The disk is full, or what was written there is not what can be read.
    root <- use_session_folder(sprintf("%s %s", root, conditionMessage(made)))
    made <- make_entry(root, key, name, libraries, make)
  }
  sweep_cache(disk_cache("code"), root, keep = c(made, crates_in_use(root)))
  made
}

# cargo's folder, while some session may be building there.
crates_in_use <- function(root) {
  used <- file.mtime(file.path(root, "cargo", "about"))
  if (!is.na(used) && as.numeric(used) > as.numeric(Sys.time()) - 3600) file.path(root, "cargo")
}

# Ops that are loaded keep their code: the system has it in memory.
clear_code <- function() {
  root <- code_folder()
  count <- clear_cache(root)
  unlink(list.files(root, "^fact-", full.names = TRUE))
  the$compilers <- list()
  count
}
