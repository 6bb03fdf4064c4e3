# What compiled code was made of besides what its key says: files that the compiler found by itself, and variables of
# the environment that code in Rust asks for. Compilers tell which when they are done, and beside the code is kept how
# those were then; where one of them is different now, the code is compiled again.

# As many results of one key, of different inputs, are kept.
input_slots <- 4L

# The folder of code that was compiled of what is there now, and a digest of all that it was made of. `make(folder,
# key)` compiles, and leaves what the compiler tells in files `unit....d`.
input_entry <- function(key, name, libraries, make, compiler) {
  root <- code_folder()
  files <- c(libraries, "inputs")
  slots <- c(key, vapply(seq_len(input_slots - 1L), function(i) text_digest(c(key, i)), ""))
  folders <- lapply(slots, function(slot) found_entry(root, slot, files))
  for (folder in Filter(Negate(is.null), folders)) {
    inputs <- compiled_inputs(folder)
    if (are_current(inputs, is.null(compiler$missing))) {
      return(list(folder = folder, digest = inputs_digest(key, inputs)))
    }
  }
  if (!is.null(compiler$missing)) {
    stop(compiler$missing)
  }
  free <- vapply(folders, is.null, NA)
  slot <- if (any(free)) {
    slots[free][[1L]]
  } else {
    used <- file.mtime(file.path(unlist(folders), "about"))
    discard_entry(folders[[which.min(used)]])
    slots[[which.min(used)]]
  }
  started <- Sys.time()
  folder <- code_entry(slot, name, files, function(folder) {
    make(folder, slot)
    write_bytes(serialize(found_inputs(folder, started), NULL), file.path(folder, "inputs"))
  })
  list(folder = folder, digest = inputs_digest(key, compiled_inputs(folder)))
}

compiled_inputs <- function(folder) unserialize(read_bytes(file.path(folder, "inputs")))

# What ops of the same text differ by, in every session and process.
inputs_digest <- function(key, inputs) {
  text_digest(c(key, sort(unique(inputs$files$digest)), sprintf("%s=%s", names(inputs$variables), inputs$variables)))
}

# What compilers have answered. A file that changed while they were at work is like no other.
found_inputs <- function(folder, started) {
  lines <- unlist(lapply(list.files(folder, "^unit.*[.]d$", full.names = TRUE), readLines, warn = FALSE))
  files <- rule_files(grep("^#", lines, value = TRUE, invert = TRUE))
  files <- data.frame(file = files, stamp = input_stamps(files), digest = hash_file(files), stringsAsFactors = FALSE)
  changed <- file.mtime(files$file) >= started
  files$digest[is.na(changed) | changed] <- basename(tempfile(format(Sys.time(), "%s ")))
  files$stamp[is.na(changed) | changed] <- ""
  list(files = files, variables = rust_variables(lines))
}

# Of rustc: `# env-dep:NAME=value`, without the last part where it was not set. Those of cargo are its own.
rust_variables <- function(lines) {
  lines <- sub("^# env-dep:", "", grep("^# env-dep:", lines, value = TRUE))
  names <- sub("=.*$", "", lines)
  is_ours <- !grepl("^(CARGO|OUT_DIR$)", names) & !duplicated(names)
  variables_now(names[is_ours])
}

# Their values by name, NA where one is not set.
variables_now <- function(names) vapply(names, Sys.getenv, "", unset = NA)

# Whether all are as they were. Without a compiler there may be no headers either: what is there must fit.
are_current <- function(inputs, all_must_be) {
  files <- inputs$files
  differ <- input_stamps(files$file) != files$stamp & (all_must_be | file.exists(files$file))
  if (!identical(variables_now(names(inputs$variables)), inputs$variables)) {
    return(FALSE)
  }
  files <- files[differ, ]
  all(file.exists(files$file)) && identical(hash_file(files$file), files$digest)
}

# Files as they are now: the time of the last change is set by the system, whatever a file's own says.
input_stamps <- function(files) {
  info <- file.info(files, extra_cols = FALSE)
  sprintf("%.0f %.9f %.9f", info$size, as.numeric(info$mtime), as.numeric(info$ctime))
}

# The files outside of what is compiled that rules of make name: behind a colon, in lines that end in a backslash,
# spaces in names behind one.
rule_files <- function(rules) {
  names <- unlist(strsplit(sub("^[^ ]*:( |$)", "", sub(" *\\\\$", "", rules)), "(?<!\\\\) +", perl = TRUE))
  names <- unique(gsub("\\ ", " ", names[nzchar(names)], fixed = TRUE))
  sort(names[grepl("^(/|[A-Za-z]:)", names) & file.exists(names) & !dir.exists(names)])
}

# Variables by which compilers and linkers find files, or that get into the code, as they are set.
compiler_environment <- function(language) {
  names <- c(
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
    "SOURCE_DATE_EPOCH", "SDKROOT", "MACOSX_DEPLOYMENT_TARGET",
    if (language == "rust") grep("^(RUSTFLAGS$|RUSTC|CARGO_(BUILD|PROFILE|TARGET)_)", names(Sys.getenv()), value = TRUE)
  )
  values <- Sys.getenv(names, NA, names = TRUE)
  values <- values[!is.na(values)]
  c(sprintf("%s=%s", names(values), values), if (language == "rust") cargo_settings())
}

cargo_settings <- function() {
  folder <- Sys.getenv("CARGO_HOME", path.expand("~/.cargo"))
  files <- file.path(folder, c("config.toml", "config"))
  hash_file(files[file.exists(files)])
}

# Folders that the environment names for header files; NVRTC asks for none.
header_folders <- function(language) {
  variables <- switch(language,
    c = c("CPATH", "C_INCLUDE_PATH"),
    "c++" = , xla = c("CPATH", "CPLUS_INCLUDE_PATH"),
    fortran = "CPATH"
  )
  path_folders(Sys.getenv(as.character(variables)))
}

path_folders <- function(values) {
  folders <- unlist(strsplit(values[nzchar(values)], .Platform$path.sep, fixed = TRUE))
  as.character(folders[nzchar(folders)])
}

# What a linker finds for `-l`: the files of each name in the first folder that has one, with digests where these are
# what gets into the code; and files that flags name.
linked_files <- function(command, compiler, language, more = character()) {
  words <- response_words(c(command$before[-1L], command$after))
  for_linker <- grepl("^-Wl,|^(-C *)?link-args?=", words)
  words <- c(words[!for_linker], unlist(strsplit(sub("^(-C *)?link-args?=", "", words[for_linker]), "[, ]")))
  folders <- sub("^(native|dependency|all|crate|framework)=", "", flag_values(words, "-L"))
  names <- c(flag_values(words, "-l"), more)
  is_static <- grepl("^static(:[^=]*)?=", names) | "-static" %in% words | language == "rust"
  names <- sub(":.*$", "", sub("^(static|dylib|framework)(:[^=]*)?=", "", names))
  folders <- c(folders, path_folders(Sys.getenv("LIBRARY_PATH")), if (language != "rust") default_folders(compiler))
  found <- unlist(Map(function(name, is_static) library_facts(name, is_static, folders), names, is_static))
  parts <- as.character(unlist(strsplit(words, "[=,]")))
  parts <- unique(parts[grepl("[/\\\\.]", parts) & file.exists(parts) & !dir.exists(parts)])
  c(unname(found), paste(parts, hash_file(parts)))
}

library_facts <- function(name, is_static, folders) {
  files <- c(
    sprintf("lib%s%s", name, c(".so", ".dylib", ".tbd", ".dll.a")), sprintf("lib%s.a", name), sprintf("%s.lib", name)
  )
  for (folder in folders) {
    here <- file.path(folder, files)
    here <- here[file.exists(here)]
    if (length(here)) {
      is_archive <- grepl("[.](a|lib)$", here) & !grepl("[.]dll[.]a$", here)
      if (is_static || all(is_archive)) {
        return(paste(here[is_archive], hash_file(here[is_archive])))
      }
      return(here)
    }
  }
}

# `@file` stands for the words in it.
response_words <- function(words) {
  files <- substring(words, 2L)
  is_file <- startsWith(words, "@") & file.exists(files)
  inner <- unlist(lapply(files[is_file], function(file) words_of(readLines(file, warn = FALSE))))
  c(words, files[is_file], inner)
}

# Where the compiler's linker looks by itself.
default_folders <- function(compiler) {
  remembered(paste0("folders-", text_digest(compiler$command)), compiler$stamp, function() {
    done <- run_program(
      compiler$command[[1L]], c(compiler$command[-1L], "-print-search-dirs"), tempdir(), environment = "LIBRARY_PATH="
    )
    line <- grep("^libraries:", done$output, value = TRUE)
    grep("^(/|[A-Za-z]:)", path_folders(sub("^libraries: *=?", "", line)), value = TRUE)
  })
}
