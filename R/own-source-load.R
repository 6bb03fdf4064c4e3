# From a source to loaded ops: units, the key of the cache, compiling, and the pointers of what was compiled.

source_load <- function(source, options, rules, call = rlang::caller_env()) {
  language <- source$language
  compiler <- compiler_of(language, call)
  instances <- unlist(lapply(source$ops, function(op) {
    lapply(op$instances, function(instance) c(instance, list(op = op)))
  }), recursive = FALSE)
  typed <- sees_dtypes(source)
  groups <- if (typed) as.list(seq_along(instances)) else list(seq_along(instances))
  units <- lapply(groups, function(group) source_unit(source, instances[group], typed))
  extension <- .Platform$dynlib.ext
  libraries <- paste0("unit", seq_along(units), extension)
  command <- compile_command(source, compiler)
  write <- function(folder) {
    write_parts(source, units, folder)
    unit_name(seq_along(units), language)
  }
  key <- source_key(source, compiler, command, unlist(lapply(units, paste, collapse = "\n")), write)
  name <- toString(names(source$ops))
  folder <- code_entry(key, name, libraries, function(folder) {
    write(folder)
    if (length(source$dependencies)) {
      return(cargo_build(source, folder, key, name, libraries, part_names(source), call))
    }
    map <- if (language == "rust") "--remap-path-prefix" else "-fdebug-prefix-map"
    map <- sprintf("%s=%s=%s", map, folder, file.path(dirname(folder), key))
    commands <- lapply(seq_along(units), function(i) {
      c(command$before, map, unit_name(i, language), "-o", libraries[[i]], command$after)
    })
    compile_code(commands, folder, name, language, part_names(source), call = call)
  })
  opened <- lapply(file.path(folder, libraries), open_compiled, name, call)
  if (has_load(source)) {
    for (i in seq_along(opened)) {
      run_on_load(opened[[i]], load_symbols(source, instances), name, call)
    }
  }
  library_of <- rep(seq_along(groups), lengths(groups))
  common <- source_common(source)
  for (i in seq_along(instances)) {
    instances[[i]]$library <- opened[[library_of[[i]]]]
  }
  lapply(source$ops, function(op) {
    own <- Filter(function(instance) instance$op$name == op$name, instances)
    bodies <- lapply(own, function(instance) {
      symbol <- function(suffix) {
        check(.Call(wrap__library_symbol, instance$library, paste0(instance$symbol, suffix)), call)
      }
      list(
        dtypes = unname(instance$dtypes), pointer = symbol(""),
        init = if (!is.null(op$init)) symbol("_init"), cleanup = if (!is.null(op$cleanup)) symbol("_cleanup")
      )
    })
    kernels <- if (!is.null(source$kernel)) op_kernels(op, source$kernel, call)
    digest <- text_digest(c(key, kernels$digest))
    made_op(op, bodies, c(options, list(digest = digest, common = common)), rules, call, kernels$kernels)
  })
}

# An op with a kernel only.
kernel_load <- function(source, options, rules, call = rlang::caller_env()) {
  lapply(source$ops, function(op) {
    kernels <- op_kernels(op, source$kernel, call)
    made_op(op, list(), c(options, list(digest = kernels$digest)), rules, call, kernels$kernels)
  })
}

# How the functions are called is as much of an op as what they do: programs keep the op that they were compiled with.
made_op <- function(op, bodies, options, rules, call, kernels = NULL) {
  side_effect <- options$side_effect
  called <- c(paste("threads", options$threads), paste("status", options$status))
  options <- list(
    digest = text_digest(c(options$digest, called)), common = text_digest(c(options$common, called)),
    threads = if (!options$threads) 1, status = options$status,
    foreign = options$foreign, package = options$package
  )
  new_own_op(own_op_new(op$name, op$signature$text, op$dtypes, bodies, options, kernels), rules, side_effect)
}

open_compiled <- function(file, name, call) {
  library <- .Call(wrap__library_open, file)
  if (inherits(library, "xlaffi_failure")) {
    reason <- sub(paste0("^cannot load ", file, ": "), "", library$message)
    reason <- sub(paste0("^", file, ": "), "", reason)
    abort(sprintf("%s: what was compiled cannot be loaded: %s", name, reason),
      code = library$code, op = name, operand = "libraries", call = call,
      hint = if (grepl("symbol", reason)) "`libraries` names the libraries that define what the code calls."
    )
  }
  library
}

has_load <- function(source) !is.null(source$on_load) || !is.null(source$on_unload)

# In Rust each module has the support code to itself.
load_symbols <- function(source, instances) {
  if (source$language == "rust") paste0(vapply(instances, `[[`, "", "symbol"), "_load") else "xlaffi_load"
}

# A library that is loaded already knows that it is.
run_on_load <- function(library, symbols, name, call) {
  for (symbol in symbols) {
    failure <- .Call(wrap__library_load, library, symbol)
    if (inherits(failure, "xlaffi_failure")) {
      abort(sprintf("%s: `on_load` fails: %s", name, failure$message),
        code = failure$code, op = name, operand = "on_load", call = call
      )
    }
  }
}

# The digest of all that the compiled code depends on. `write(folder)` writes what is compiled, and returns the names of
# the units.
source_key <- function(source, compiler, command, text, write) {
  marked <- function(name, lines) c(sprintf("%s: %d lines", name, length(lines)), lines)
  parts <- lapply(source$ops, function(op) {
    c(marked("code", op$code), marked("init", op$init), marked("cleanup", op$cleanup))
  })
  text_digest(c(
    "2", source$language, command$before, command$after, compiler$version, file_stamp(compiler$command[[1L]]), text,
    unlist(parts), marked("support", source$support), marked("on_load", source$on_load),
    marked("on_unload", source$on_unload), sprintf("%s = %s", names(source$dependencies), source$dependencies),
    local_files(source, command, write), header_digest(), if (source$native) processor()
  ))
}

# Whether each combination of dtypes is compiled alone, with dtype variables as types of the whole unit.
sees_dtypes <- function(source) {
  if (source$language != "c" && (source$language != "c++" || !is.null(source$file))) {
    return(FALSE)
  }
  variables <- unique(unlist(lapply(source$ops, function(op) op$signature$dtypes)))
  text <- c(
    source$support, source$on_load, source$on_unload, if (!is.null(source$file)) readLines(source$file, warn = FALSE)
  )
  length(variables) > 0L && any(grepl(sprintf("\\b(%s)\\b", paste(variables, collapse = "|")), text))
}

source_unit <- function(source, instances, typed) {
  switch(source$language,
    c = , "c++" = c_unit(source, instances, typed, source$language),
    fortran = fortran_unit(source, instances),
    rust = rust_unit(source, instances)
  )
}

unit_name <- function(i, language) paste0("unit", i, source_suffix(language))

source_suffix <- function(language) switch(language, c = ".c", "c++" = , xla = ".cpp", fortran = ".f90", rust = ".rs")

# The user's parts under the names that messages and debuggers show.
write_parts <- function(source, units, folder) {
  suffix <- source_suffix(source$language)
  write <- function(lines, name) if (!is.null(lines)) write_lines(lines, file.path(folder, name))
  for (op in source$ops) {
    write(if (source$language == "rust") rust_braces(op$code) else op$code, paste0(part_name(op$name), suffix))
    write(op$init, paste0(op$name, "-init", suffix))
    write(op$cleanup, paste0(op$name, "-cleanup", suffix))
  }
  write(source$support, paste0("support", suffix))
  braced <- if (source$language == "rust") rust_braces else identity
  write(braced(source$on_load), paste0("on_load", suffix))
  write(braced(source$on_unload), paste0("on_unload", suffix))
  for (i in seq_along(units)) {
    write(units[[i]], unit_name(i, source$language))
  }
}

# The file that an op's body lies in. The names of the generated ones are taken.
part_name <- function(name) {
  if (grepl("^(support|on_load|on_unload|unit[0-9]+)$", name, ignore.case = TRUE)) paste0(name, "-body") else name
}

# What messages call those.
part_names <- function(source) {
  suffix <- source_suffix(source$language)
  bodies <- vapply(names(source$ops), part_name, "")
  names <- c(bodies, paste0(names(source$ops), "-init"), paste0(names(source$ops), "-cleanup"))
  called <- rep(c("the body", "`init`", "`cleanup`"), each = length(source$ops))
  names <- c(names, "support", "on_load", "on_unload")
  called <- c(called, "`support`", "`on_load`", "`on_unload`")
  names(called) <- paste0(names, suffix)
  c(called, if (!is.null(source$file)) stats::setNames(basename(source$file), source$file))
}

compile_command <- function(source, compiler) {
  if (source$language == "rust") {
    return(rust_command(source, compiler))
  }
  variables <- compiler$variables
  openmp <- variables[[switch(source$language,
    c = "SHLIB_OPENMP_CFLAGS", fortran = "SHLIB_OPENMP_FFLAGS", "SHLIB_OPENMP_CXXFLAGS"
  )]]
  # What C compilers of today refuse, those of yesterday warn of.
  mistakes <- c("implicit-function-declaration", "incompatible-pointer-types", "int-conversion")
  strict <- if (source$language %in% c("c", "c++")) {
    paste0("-Werror=", c("return-type", if (source$language == "c") mistakes))
  }
  own <- if (!is.null(source$file)) dirname(source$file)
  include <- paste0("-I", path.expand(c(system.file("include", package = "xlaffi"), source$include, own)))
  list(
    before = c(
      compiler$command, words_of(variables[["CPPFLAGS"]]), include, compiler$flags, "-fvisibility=hidden", strict,
      if (source$openmp) words_of(openmp), if (source$native) "-march=native", if (source$debug) c("-O0", "-g"),
      if (source$language == "fortran") "-ffree-line-length-none", source$flags,
      words_of(variables[c("SHLIB_LDFLAGS", "LDFLAGS")])
    ),
    after = c(library_flags(source$libraries, variables), if (.Platform$OS.type == "unix") "-lm")
  )
}

library_flags <- function(libraries, variables) {
  unlist(lapply(libraries, function(library) {
    switch(library,
      blas = words_of(variables[c("BLAS_LIBS", "FLIBS")]),
      lapack = words_of(variables[c("LAPACK_LIBS", "BLAS_LIBS", "FLIBS")]),
      if (file.exists(library)) normalizePath(library, "/") else paste0("-l", library)
    )
  }))
}

header_digest <- function() {
  hash_file(system.file("include", "xlaffi.h", package = "xlaffi"))
}

# Files that the source includes, and those that these include, each with its digest; and libraries given as files.
# Which header a macro names the preprocessor tells; where there is none, the macro's definitions.
local_files <- function(source, command = NULL, write = NULL) {
  text <- character()
  base <- if (!is.null(source$file)) dirname(source$file)
  seen <- character()
  include <- path.expand(c(source$include, flag_values(source$flags, c("-I", "-iquote", "-isystem"))))
  form <- paste(
    "^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"].*", ".*\\binclude(_str|_bytes)?!\\s*\\(\\s*\"([^\"]+)\".*",
    "^\\s*include\\s*['\"]([^'\"]+)['\"].*",
    sep = "|"
  )
  visit <- function(lines, from) {
    text <<- c(text, lines)
    names <- sub(form, "\\1\\3\\4", grep(form, lines, value = TRUE, perl = TRUE), perl = TRUE)
    for (name in names) {
      files <- if (grepl("^(/|[A-Za-z]:)", name)) name else file.path(c(from, include), name)
      files <- files[file.exists(files)]
      if (length(files) && !files[[1L]] %in% seen) {
        seen <<- c(seen, files[[1L]])
        visit(readLines(files[[1L]], warn = FALSE), dirname(files[[1L]]))
      }
    }
  }
  parts <- unlist(lapply(source$ops, function(op) c(op$code, op$init, op$cleanup)))
  forced <- sprintf("#include \"%s\"", flag_values(source$flags, c("-include", "-imacros")))
  visit(forced, getwd())
  own <- if (!is.null(source$file)) readLines(source$file, warn = FALSE)
  visit(c(source$support, source$on_load, source$on_unload, parts, own), base)
  by_macro <- any(grepl("^\\s*#\\s*include\\s+[A-Za-z_]", text))
  unknown <- NULL
  if (by_macro && !is.null(write)) {
    seen <- c(seen, preprocessed_files(command, write))
  } else if (by_macro) {
    repeat {
      before <- length(seen)
      named <- named_by_macros(c(text, defined_by_flags(source$flags)))
      visit(sprintf("#include \"%s\"", named$headers), unique(c(base, dirname(seen))))
      if (length(seen) == before) break
    }
    # What nobody knows is like nothing before.
    unknown <- if (!named$are_all) basename(tempfile(format(Sys.time(), "%s ")))
  }
  libraries <- source$libraries[file.exists(source$libraries)]
  files <- unique(c(source$file, seen, libraries, crate_files(source$dependencies)))
  c(paste(files, hash_file(files)), unknown)
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
  rules <- unlist(lapply(write(folder), function(unit) {
    done <- run_program(command$before[[1L]], c(command$before[-1L], "-M", "-MF", "rule", unit), folder)
    if (done$status == 0L) readLines(file.path(folder, "rule"), warn = FALSE)
  }))
  # A rule of make: names behind a colon, lines that end in a backslash, spaces in names behind one.
  names <- unlist(strsplit(sub("^[^ ]*: ", "", sub(" *\\\\$", "", rules)), "(?<!\\\\) +", perl = TRUE))
  names <- unique(gsub("\\ ", " ", names[nzchar(names)], fixed = TRUE))
  sort(names[grepl("^(/|[A-Za-z]:)", names) & file.exists(names)])
}

# What options of a compiler are given, in the same word or in the next.
flag_values <- function(flags, options) {
  unlist(lapply(options, function(option) {
    joined <- flags[startsWith(flags, option) & flags != option]
    c(substring(joined, nchar(option) + 1L), flags[-1L][utils::head(flags == option, -1L)])
  }))
}
