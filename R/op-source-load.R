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
  entry <- input_entry(key, name, libraries, function(folder, key) {
    write(folder)
    if (length(source$dependencies)) {
      return(cargo_build(source, folder, key, name, libraries, part_names(source), call))
    }
    map <- if (language == "rust") "--remap-path-prefix" else "-fdebug-prefix-map"
    map <- sprintf("%s=%s=%s", map, folder, file.path(dirname(folder), key))
    commands <- lapply(seq_along(units), function(i) {
      c(command$before, map, unit_name(i, language), made_with_messages(language, libraries[[i]], i), command$after)
    })
    compile_code(commands, folder, name, language, part_names(source), call = call)
  }, compiler)
  folder <- entry$folder
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
    digest <- text_digest(c(entry$digest, kernels$digest))
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
    "3", source$language, command$before, command$after, compiler$version, compiler$stamp, text,
    unlist(parts), marked("support", source$support), marked("on_load", source$on_load),
    marked("on_unload", source$on_unload), sprintf("%s = %s", names(source$dependencies), source$dependencies),
    local_files(source, command, if (is.null(compiler$missing)) write), compiler_environment(source$language),
    linked_files(command, compiler, source$language, linked_by_code(source, text)), header_digest(),
    if (source$native) processor()
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

# What is made, and where the compiler tells what it read.
made_with_messages <- function(language, library, i) {
  dependencies <- sprintf("unit%d.d", i)
  switch(language,
    rust = sprintf("--emit=link=%s,dep-info=%s", library, dependencies),
    fortran = c("-o", library),
    c("-o", library, "-MD", "-MF", dependencies)
  )
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
