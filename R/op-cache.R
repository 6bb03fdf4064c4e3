# Compiled code on disk, see base-disk-cache.R. Where its folder cannot be used, code is kept for the session.

# R functions that programs call, by number; conditions that they ended with, and how many there were. What was found of
# compilers; libraries that stay loaded; what files that ffi_load() loads were when it did so first; whether the user
# knows that compiled code is kept for the session only. Findings of the debug mode, and whether it is on.
op_state <- session_state("op_state",
  callbacks = list(), conditions = list(), condition_count = 0, compilers = list(), kept_libraries = NULL,
  loaded_files = list(), warned_code_folder = FALSE, findings = NULL, debug = NULL
)

code_folder <- function() {
  cache <- disk_cache("code")
  folder <- cache_folder(cache)
  if (!is.null(folder$problem)) {
    use_session_folder(folder$problem)
  }
  cache_state$folders$code$path
}

# For this session only, with the reason why.
use_session_folder <- function(problem) {
  path <- file.path(tempdir(), "xlaffi-code")
  dir.create(path, showWarnings = FALSE, mode = "0700")
  cache_state$folders$code["path"] <- list(path)
  cache_state$folders$code["problem"] <- list(NULL)
  if (!isTRUE(op_state$warned_code_folder)) {
    op_state$warned_code_folder <- TRUE
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
  op_state$compilers <- list()
  count
}

# What processes that compute together compare of the ops that their programs call: what the user wrote, without what
# differs between machines for the same op, such as compilers, processors and paths.

# `parts`: texts by name.
common_digest <- function(parts) {
  text_digest(unlist(Map(function(name, part) c(sprintf("%s: %d", name, length(part)), as.character(part)),
    names(parts), parts
  )))
}

# Of what a source compiles: `lines` where it is a whole file of handlers.
source_common <- function(source, lines = NULL) {
  ops <- lapply(unname(source$ops), function(op) {
    common_digest(list(
      name = op$name, signature = op$text, code = op$code, init = op$init, cleanup = op$cleanup
    ))
  })
  places <- "^-(I|L|iquote|isystem)"
  common_digest(list(
    language = source$language, ops = unlist(ops), lines = lines, support = source$support,
    on_load = source$on_load, on_unload = source$on_unload, flags = source$flags[!grepl(places, source$flags)],
    openmp = source$openmp, dependencies = names(source$dependencies), libraries = basename(source$libraries),
    files = contents_of(local_files(source))
  ))
}

# Digests of files, of what local_files() tells.
contents_of <- function(files) unique(sub("^.* ", "", grep(" [0-9a-f]{64}$", files, value = TRUE)))

# Of functions of a library that is there: of a package's its version, as each machine has compiled it anew, of others
# the file.
library_common <- function(path, functions, signature, arguments = NULL) {
  common_digest(list(
    library = library_identity(path), names = names2(functions), functions = functions, signature = signature,
    arguments = arguments
  ))
}

library_identity <- function(path) {
  if (is.null(path) || !file.exists(path)) {
    return(NULL)
  }
  folder <- dirname(path)
  folder <- if (basename(folder) %in% c("x64", "arm64", "i386")) dirname(folder) else folder
  about <- file.path(dirname(folder), "DESCRIPTION")
  if (basename(folder) == "libs" && file.exists(about)) {
    facts <- read.dcf(about, c("Package", "Version", "RemoteSha"))[1L, ]
    facts[!is.na(facts)]
  } else {
    hash_file(path)
  }
}

hooks$code_folder <- code_folder

hooks$clear_code <- clear_code
