# Compiled programs on disk, see base-disk-cache.R: what the plugin made of a program, for the next session that asks
# for the same. Whatever is wrong with an entry, the program is compiled.

# How many programs this session has saved, and what saved programs depend on: files of plugins and XLA_FLAGS by
# platform, this package's library, and the processor.
saved_state <- session_state("saved_state",
  programs_saved = 0, plugin_stamps = list(), flags = list(), library_stamp = NULL, processor = NULL
)

# The executable of a program, loaded from disk or compiled: `executable` and `saved`, the folder on disk or NA. Where
# `options` are for several devices, these are in there, and `device` is the first; `digest` is that of the text.
made_executable <- function(text, device, name, types, options = new_compile_options(), digest = text_digest(text)) {
  program <- pjrt_program(text)
  compiled <- function() pjrt_compile(program, options, if (is.null(options$devices)) device)
  root <- if (check(.Call(wrap__program_lasts, program))) program_folder()
  key <- if (!is.null(root)) program_key(digest, device, options)
  if (is.null(key)) {
    return(list(executable = compiled(), saved = NA_character_))
  }
  saved <- found_entry(root, key, "program")
  executable <- if (!is.null(saved)) loaded_program(file.path(saved, "program"), device, options, text)$executable
  if (is.null(executable)) {
    executable <- compiled()
    saved <- save_program(root, key, paste(name, types), executable, device)
  }
  list(executable = executable, saved = saved)
}

# The same, with the text, of a program on disk that is known by the digest of its text; NULL where it is not there
saved_executable <- function(digest, device) {
  root <- program_folder()
  key <- if (!is.null(root)) program_key(digest, device)
  saved <- if (!is.null(key)) found_entry(root, key, "program")
  loaded <- if (!is.null(saved)) loaded_program(file.path(saved, "program"), device, digest = digest)
  if (!is.null(loaded)) list(text = rawToChar(loaded$program), executable = loaded$executable, saved = saved)
}

# NULL where programs are not kept, or the folder cannot be used.
program_folder <- function() {
  state <- program_cache_state()
  if (is.null(state$problem)) state$path
}

# `path`, and the `problem` that there is with it.
program_cache_state <- function() {
  cache <- disk_cache("program")
  if (is_turned_off(cache)) {
    return(list(problem = "that is turned off"))
  }
  cache_folder(cache)
}

# How many there were, also where the cache is turned off by now.
clear_saved <- function() {
  cache <- disk_cache("program")
  root <- if (is_turned_off(cache)) wanted_folder(cache) else program_folder()
  clear_cache(if (!is.null(root) && is.null(foreign_reason(root))) root)
}

# All that a compiled program depends on, its text by the digest; NULL where nobody knows.
program_key <- function(digest, device, options = new_compile_options()) {
  # More than one: XLA has read others than there are now, or nobody knows which.
  flags <- unique(c(saved_state$flags[[platform(device)]], Sys.getenv("XLA_FLAGS")))
  # A file of flags may change, and who asks for a dump wants the compiler to run.
  if (length(flags) > 1L || !grepl("^\\s*(--|$)", flags) || grepl("xla_dump", flags, fixed = TRUE)) {
    return(NULL)
  }
  facts <- tryCatch(compilation_facts(device), xlaffi_error = function(error) NULL)
  if (!is.null(facts)) {
    files <- c(saved_state$library_stamp, saved_state$plugin_stamps[[platform(device)]])
    text_digest(c(digest, format(device), options_text(options), facts$where, facts$threads, flags, files))
  }
}

# What programs for several devices depend on besides; nothing for one.
options_text <- function(options) {
  if (!is_for_one_device(options)) {
    labels <- vapply(options$devices, format, "")
    count <- length(devices(as_pjrt_client(platform(options$devices[[1L]]))))
    c(options$replicas, options$partitions, options$shardy, labels, count)
  }
}

# A plugin reads XLA_FLAGS once, between the making of its client and of its first program: as it was at both.
note_flags <- function(platform) {
  if (length(saved_state$flags[[platform]]) < 2L) {
    saved_state$flags[[platform]] <- c(saved_state$flags[[platform]], Sys.getenv("XLA_FLAGS"))
  }
}

# This package's own library, as it is loaded: handlers and what they expect of programs are in there. Loaded again, it
# is what the system has in memory, whatever the file is by then.
note_library <- function() {
  if (is.null(saved_state$library_stamp)) {
    saved_state$library_stamp <- file_stamp(getLoadedDLLs()[["xlaffi"]][["path"]])
  }
}

note_plugin <- function(plugin, platform) {
  path <- check(.Call(wrap__plugin_info, plugin))$path
  saved_state$plugin_stamps[[platform]] <- if (file.exists(path)) file_stamp(path) else path
}

# The `executable` and its `program`, a text as bytes, which is `text`, or has that `digest`; NULL where it cannot be
# loaded. The file is the one that was written: found_entry() has compared its digest.
loaded_program <- function(file, device, options = new_compile_options(), text = NULL, digest = NULL) {
  tryCatch(
    {
      saved <- read_program(file, compilation_facts(device)$where)
      is_it <- if (is.null(text)) digest_of(saved$program) == digest else identical(saved$program, charToRaw(text))
      if (is_it) {
        executable <- load_program(saved, options, if (is.null(options$devices)) device)
        list(executable = executable, program = saved$program)
      }
    },
    xlaffi_error = function(error) NULL
  )
}

# The folder, or NA: a program that cannot be kept is compiled again.
save_program <- function(root, key, name, executable, device) {
  cache <- disk_cache("program")
  # One program does not drive out all others.
  most <- size_limit(cache) / 8
  folder <- tryCatch(
    {
      bytes <- pack_program(executable, compilation_facts(device)$where)
      if (length(bytes) > most) {
        return(NA_character_)
      }
      discard_entry(file.path(root, key))
      make_entry(root, key, name, "program", function(folder) write_bytes(bytes, file.path(folder, "program")))
    },
    xlaffi_error = function(error) NA_character_, xlaffi_error_disk_full = function(error) NA_character_
  )
  note_saved(cache, root, folder)
  folder
}

# Sees to it that there is not too much, once in a while: to look at all of them takes time.
note_saved <- function(cache, root, folder) {
  if (saved_state$programs_saved %% 32 == 0) {
    sweep_cache(cache, root, keep = folder)
  }
  saved_state$programs_saved <- saved_state$programs_saved + 1
}
