# The files that a source names. Those that a compiler finds in folders of its own are in own-inputs.R.

# Files that the source includes, and those that these include, each with its digest; and libraries given as files.
# Which header a macro names the preprocessor tells; where there is none, the macro's definitions.
local_files <- function(source, command = NULL, write = NULL) {
  text <- character()
  base <- if (!is.null(source$file)) dirname(source$file)
  seen <- character()
  flags <- if (is.null(command)) source$flags else command$before[-1L]
  folders <- c("-I", "-iquote", "-isystem", "-idirafter", if (source$language == "fortran") "-J")
  include <- path.expand(c(source$include, flag_values(flags, folders), header_folders(source$language)))
  visit <- function(lines, from) {
    text <<- c(text, lines)
    named <- named_files(lines, source$language)
    for (name in c(named$text, named$other)) {
      files <- if (grepl("^(/|[A-Za-z]:)", name)) name else file.path(c(from, include), name)
      files <- files[file.exists(files) & !dir.exists(files)]
      if (length(files) && !files[[1L]] %in% seen) {
        seen <<- c(seen, files[[1L]])
        if (name %in% named$text) visit(readLines(files[[1L]], warn = FALSE), dirname(files[[1L]]))
      }
    }
  }
  parts <- unlist(lapply(source$ops, function(op) c(op$code, op$init, op$cleanup)))
  forced <- sprintf("#include \"%s\"", flag_values(flags, c("-include", "-imacros")))
  visit(forced, getwd())
  own <- if (!is.null(source$file)) readLines(source$file, warn = FALSE)
  visit(c(source$support, source$on_load, source$on_unload, parts, own), base)
  crates <- crate_files(source$dependencies)
  by_macro <- any(grepl("^\\s*#\\s*(include|include_next|import|embed)\\s+[A-Za-z_]", text))
  unknown <- is_different_each_time(text, source$language) || "build.rs" %in% basename(crates)
  if (by_macro && !is.null(write)) {
    seen <- c(seen, preprocessed_files(command, write))
  } else if (by_macro) {
    repeat {
      before <- length(seen)
      named <- named_by_macros(c(text, defined_by_flags(source$flags)))
      visit(sprintf("#include \"%s\"", named$headers), unique(c(base, dirname(seen))))
      if (length(seen) == before) break
    }
    unknown <- unknown || !named$are_all
  }
  libraries <- source$libraries[file.exists(source$libraries)]
  files <- unique(c(source$file, seen, precompiled(seen), libraries, crates))
  # What nobody knows is like nothing before.
  c(paste(files, hash_file(files)), if (unknown) basename(tempfile(format(Sys.time(), "%s "))))
}

# What lines name: files of code, which may name others, and other files.
named_files <- function(lines, language) {
  names <- function(form) {
    found <- unlist(regmatches(lines, gregexpr(form, lines, perl = TRUE)))
    sub(form, "\\1", found, perl = TRUE)
  }
  modules <- if (language == "fortran") {
    paste0(tolower(names("(?i)^\\s*use\\b\\s*(?:,\\s*non_intrinsic\\s*)?(?:::)?\\s*([a-z][a-z0-9_]*)")), ".mod")
  }
  list(
    text = c(
      names("^\\s*#\\s*(?:include|include_next|import)\\s*[<\"]([^>\"]+)[>\"]"),
      names("\\binclude!\\s*[(\\[{]\\s*\"([^\"]+)\""), names("(?i)^\\s*include\\s*['\"]([^'\"]+)['\"]")
    ),
    other = c(
      names("^\\s*#\\s*embed\\s*[<\"]([^>\"]+)[>\"]"), names("\\b__has_[a-z_]+\\s*[(]\\s*[<\"]([^>\"]+)[>\"]"),
      names("\\binclude_(?:str|bytes)!\\s*[(\\[{]\\s*\"([^\"]+)\""), names(assembler_include), modules
    )
  )
}

# A file that the assembler takes in, of which no compiler tells.
assembler_include <- "[.]inc(?:bin|lude)\\s*\\\\?\"([^\"\\\\]+)\\\\?\""

# Whether code is another one whenever it is compiled, or has a file in it that cannot be found by its name.
is_different_each_time <- function(text, language) {
  if (language == "rust") {
    return(FALSE)
  }
  named <- unlist(regmatches(text, gregexpr(assembler_include, text, perl = TRUE)))
  names <- sub(assembler_include, "\\1", named, perl = TRUE)
  found <- sum(grepl("^(/|[A-Za-z]:)", names) & file.exists(names) & !dir.exists(names))
  any(grepl("\\b__(DATE|TIME|TIMESTAMP)__\\b", text)) ||
    sum(lengths(regmatches(text, gregexpr("[.]inc(bin|lude)\\b", text, perl = TRUE)))) > found
}

# Headers that were compiled before lie beside them.
precompiled <- function(headers) {
  made <- paste0(headers, rep(c(".gch", ".pch"), each = length(headers)))
  made[file.exists(made) & !dir.exists(made)]
}

# Libraries that Rust's code links to.
linked_by_code <- function(source, text) {
  lines <- c(text, source$support, if (!is.null(source$file)) readLines(source$file, warn = FALSE))
  form <- "#\\[link\\([^)]*\\bname\\s*=\\s*\"([^\"]+)\""
  found <- if (source$language == "rust") unlist(regmatches(lines, gregexpr(form, lines, perl = TRUE)))
  sub(form, "\\1", as.character(found), perl = TRUE)
}

# The headers that macros name in lines like `#include HEADER`, by all their definitions; whether there are others.
named_by_macros <- function(lines) {
  included <- "^\\s*#\\s*include\\s+([A-Za-z_][A-Za-z0-9_]*)\\s*(/[/*].*)?$"
  macros <- unique(sub(included, "\\1", grep(included, lines, value = TRUE)))
  is_plain <- length(grep("^\\s*#\\s*include\\s+[A-Za-z_]", lines)) == length(grep(included, lines))
  headers <- lapply(macros, function(macro) {
    defined <- sprintf("^\\s*#\\s*define\\s+%s(\\s+|$)", macro)
    values <- trimws(sub("/[/*].*$", "", sub(defined, "", grep(defined, lines, value = TRUE))))
    ifelse(grepl("^(\"[^\"]+\"|<[^>]+>)$", values), substr(values, 2L, nchar(values) - 1L), NA)
  })
  list(
    headers = as.character(stats::na.omit(unlist(headers))),
    are_all = is_plain && all(lengths(headers) > 0L) && !anyNA(unlist(headers))
  )
}

# As lines of code.
defined_by_flags <- function(flags) {
  values <- unlist(lapply(c("-D", "--define-macro="), flag_values, flags = flags))
  sub("=", " ", sprintf("#define %s", values), fixed = TRUE)
}

# The files that the preprocessor finds outside of what is compiled; none where it fails, as the compiler then does.
preprocessed_files <- function(command, write) {
  folder <- tempfile("xlaffi-files")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  rule_files(unlist(lapply(write(folder), function(unit) {
    done <- run_program(command$before[[1L]], c(command$before[-1L], "-M", "-MF", "rule", unit), folder)
    if (done$status == 0L) readLines(file.path(folder, "rule"), warn = FALSE)
  })))
}

# What options of a compiler are given, in the same word or in the next.
flag_values <- function(flags, options) {
  unlist(lapply(options, function(option) {
    joined <- flags[startsWith(flags, option) & flags != option]
    c(substring(joined, nchar(option) + 1L), flags[-1L][utils::head(flags == option, -1L)])
  }))
}
