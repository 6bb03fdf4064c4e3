# The compilers: R's own variables, read by one run of make, and which versions they are. Both are kept on disk
# until one of the files that they come from changes.

compiler_variables <- c(
  "CC", "CFLAGS", "CPICFLAGS", "CPPFLAGS", "CXX", "CXXFLAGS", "CXXPICFLAGS", "CXX17", "CXX17STD", "CXX17FLAGS",
  "CXX17PICFLAGS", "FC", "FCFLAGS", "FPICFLAGS", "FLIBS", "LDFLAGS", "SHLIB_LDFLAGS",
  "SHLIB_OPENMP_CFLAGS", "SHLIB_OPENMP_CXXFLAGS", "SHLIB_OPENMP_FFLAGS", "BLAS_LIBS", "LAPACK_LIBS"
)

# What `language` is compiled with: the words of the command, the compiler's file, its stamp and version. Where there is
# no compiler, the one that was there before, with the error as `missing`: what that has compiled can be used.
compiler_of <- function(language, call = rlang::caller_env()) {
  found <- tryCatch(present_compiler(language, call), xlaffi_error_not_found = identity)
  name <- paste0("last-", language)
  asked <- asked_for(language)
  if (!inherits(found, "condition")) {
    note_fact(name, list(stamp = asked, value = found))
    return(found)
  }
  last <- known_fact(name, asked)
  if (is.null(last)) {
    stop(found)
  }
  c(last$value, list(missing = found))
}

# Which compiler the user wants.
asked_for <- function(language) {
  if (language == "rust") {
    return(Sys.getenv("RUSTC", "rustc"))
  }
  text_digest(c(R.version.string, hash_file(makevars_files())))
}

present_compiler <- function(language, call) {
  variables <- if (language == "rust") NULL else make_variables(call)
  has_17 <- !is.null(variables) && nzchar(variables[["CXX17"]])
  parts <- switch(language,
    c = c("CC", "CFLAGS", "CPICFLAGS"),
    "c++" = if (has_17) c("CXX17", "CXX17STD", "CXX17FLAGS", "CXX17PICFLAGS") else c("CXX", "CXXFLAGS", "CXXPICFLAGS"),
    fortran = c("FC", "FCFLAGS", "FPICFLAGS")
  )
  command <- if (language == "rust") Sys.getenv("RUSTC", "rustc") else words_of(variables[[parts[[1L]]]])
  file <- if (length(command)) program_file(command[[1L]])
  if (is.null(file)) {
    no_compiler(language, command, call)
  }
  list(
    command = c(file, command[-1L]), flags = words_of(variables[parts[-1L]]), variables = variables,
    stamp = file_stamp(file), version = program_version(file, language, call)
  )
}

compiler_names <- c(c = "C", "c++" = "C++", fortran = "Fortran", rust = "Rust", cuda = "CUDA", xla = "C++")

no_compiler <- function(language, command, call) {
  system <- Sys.info()[["sysname"]]
  hint <- if (language == "rust") {
    "Rust comes from https://rustup.rs; a `rustc` elsewhere than on the PATH is named by the variable RUSTC."
  } else if (system == "Darwin" && language == "fortran") {
    "gfortran for R is at https://mac.r-project.org/tools."
  } else if (system == "Darwin") {
    "`xcode-select --install` brings it."
  } else if (system == "Windows") {
    "Rtools brings it: https://cran.r-project.org/bin/windows/Rtools/."
  } else {
    package <- if (language == "fortran") "gfortran" else "build-essential"
    sprintf("On Debian and Ubuntu `apt install %s` brings it.", package)
  }
  name <- if (length(command)) sprintf(": there is no program `%s`", command[[1L]])
  abort(sprintf("no %s compiler was found%s", compiler_names[[language]], if (is.null(name)) "" else name),
    code = "NOT_FOUND", operand = "lang", hint = hint, call = call
  )
}

# The words of a command line; quotes keep words together.
words_of <- function(text) {
  words <- unlist(regmatches(text, gregexpr("([^ \t\"']|\"[^\"]*\"|'[^']*')+", text)))
  gsub("[\"']", "", as.character(words))
}

# The file of a program: on the PATH, or as cargo's installer leaves it.
program_file <- function(name) {
  folders <- if (grepl("[/\\\\]", name)) "" else strsplit(Sys.getenv("PATH"), .Platform$path.sep, fixed = TRUE)[[1L]]
  if (name %in% c("rustc", "cargo")) {
    folders <- c(folders, path.expand("~/.cargo/bin"))
  }
  files <- if (identical(folders, "")) name else file.path(folders, name)
  if (.Platform$OS.type == "windows") {
    files <- c(rbind(paste0(files, ".exe"), files))
  }
  files <- files[file.exists(files) & !dir.exists(files)]
  if (length(files)) files[[1L]]
}

makevars_files <- function() {
  makeconf <- file.path(paste0(R.home("etc"), .Platform$r_arch), "Makeconf")
  files <- c(makeconf, tools::makevars_site(), tools::makevars_user())
  files[file.exists(files)]
}

make_variables <- function(call = rlang::caller_env()) {
  files <- makevars_files()
  stamp <- paste(c(R.version.string, R.home(), file_stamp(files)), collapse = "\n")
  remembered("makeconf", stamp, function() read_makeconf(files, call))
}

read_makeconf <- function(files, call) {
  make <- program_file(words_of(Sys.getenv("MAKE", "make"))[[1L]])
  if (is.null(make)) {
    no_compiler("c", "make", call)
  }
  folder <- tempfile("xlaffi-make")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  rule <- file.path(folder, "variables.mk")
  print <- paste0("$(info xlaffi ", compiler_variables, "=$(", compiler_variables, "))", collapse = "")
  writeLines(paste0("xlaffi:\n\t@:", print), rule)
  done <- run_program(make, c("--no-print-directory", rbind("-f", c(rule, files)), "xlaffi"), folder)
  lines <- grep("^xlaffi ", done$output, value = TRUE)
  values <- trimws(sub("^xlaffi [A-Z0-9_]*=", "", lines))
  names(values) <- sub("^xlaffi ([A-Z0-9_]*)=.*$", "\\1", lines)
  if (!all(compiler_variables %in% names(values))) {
    abort("R's `Makeconf` cannot be read by make",
      code = "FAILED_PRECONDITION", hint = utils::tail(done$output, 3L), call = call
    )
  }
  values[compiler_variables]
}

program_version <- function(file, language, call = rlang::caller_env()) {
  chosen <- if (language == "rust") {
    c(Sys.getenv("RUSTUP_TOOLCHAIN"), file_stamp(path.expand("~/.rustup/settings.toml")))
  }
  stamp <- paste(c(file_stamp(file), chosen), collapse = "\n")
  remembered(paste0("version-", text_digest(file)), stamp, function() {
    done <- run_program(file, if (language == "rust") "-vV" else "--version", tempdir())
    if (done$status != 0L) {
      abort(sprintf("`%s --version` fails with status %d", file, done$status),
        code = "FAILED_PRECONDITION", hint = utils::tail(done$output, 3L), call = call
      )
    }
    done$output
  })
}

# Facts that cost a process to find: kept in memory and on disk as long as `stamp` is the same.
remembered <- function(name, stamp, find) {
  fact <- known_fact(name, stamp)
  if (is.null(fact)) {
    fact <- list(stamp = stamp, value = find())
    note_fact(name, fact)
  }
  fact$value
}

known_fact <- function(name, stamp) {
  fact <- op_state$compilers[[name]]
  if (!is.null(fact) && identical(fact$stamp, stamp)) {
    return(fact)
  }
  file <- fact_file(name)
  if (is_own_file(file)) {
    kept <- tryCatch(unserialize(readBin(file, "raw", file.size(file))), error = function(error) NULL)
    whole <- is.list(kept) && is.raw(kept$bytes) && identical(kept$digest, digest_of(kept$bytes))
    fact <- if (whole) unserialize(kept$bytes)
    if (is.list(fact) && identical(fact$stamp, stamp)) {
      op_state$compilers[[name]] <- fact
      return(fact)
    }
  }
  NULL
}

note_fact <- function(name, fact) {
  if (!identical(op_state$compilers[[name]], fact) || !file.exists(fact_file(name))) {
    op_state$compilers[[name]] <- fact
    bytes <- serialize(fact, NULL)
    kept <- serialize(list(digest = digest_of(bytes), bytes = bytes), NULL)
    write_whole(fact_file(name), function(path) write_bytes(kept, path))
  }
}

fact_file <- function(name) file.path(code_folder(), paste0("fact-", name))
