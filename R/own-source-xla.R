# Files written with XLA's own C++ header: each handler that they define becomes a target.

xla_source <- function(source, code, call = rlang::caller_env()) {
  lines <- if (is.null(source$file)) code_lines(code, "code", call) else readLines(source$file, warn = FALSE)
  handlers <- handlers_in(lines)
  if (!length(handlers)) {
    abort("the code defines no handler", operand = "code", call = call,
      hint = "XLA_FFI_DEFINE_HANDLER_SYMBOL(Name, function, binding) defines one."
    )
  }
  compiler <- compiler_of("c++", call)
  source$include <- c(source$include, xla_include())
  command <- compile_command(source, compiler)
  # XLA's macro exports nothing on its own.
  command$before <- setdiff(command$before, "-fvisibility=hidden")
  library <- paste0("unit1", .Platform$dynlib.ext)
  source$ops <- list()
  key <- source_key(source, compiler, command, lines)
  name <- toString(handlers)
  folder <- code_entry(key, name, library, function(folder) {
    file <- source$file
    if (is.null(file)) {
      file <- "code.cpp"
      write_lines(lines, file.path(folder, file))
    }
    parts <- stats::setNames(if (is.null(source$file)) "the code" else basename(file), file)
    compile_code(list(c(command$before, file, "-o", library, command$after)), folder, name, "xla", parts, call = call)
  })
  opened <- open_compiled(file.path(folder, library), name, call)
  pointers <- lapply(handlers, function(handler) check(.Call(wrap__library_symbol, opened, handler), call))
  names(pointers) <- handlers
  register_handlers(pointers)
  pointers
}

# Asking Python takes a process: where the headers were is where they are, as long as they are there.
xla_include <- function() {
  if (is.null(the$xla_include) || !file.exists(file.path(the$xla_include, "xla", "ffi", "api", "ffi.h"))) {
    the$xla_include <- ffi_include_dir()
  }
  the$xla_include
}

# The names behind XLA's macro, outside of comments.
handlers_in <- function(lines) {
  text <- paste(sub("//.*$", "", lines), collapse = "\n")
  text <- gsub("(?s)/[*].*?[*]/", "", text, perl = TRUE)
  text <- gsub("(?m)^\\s*#\\s*define.*$", "", text, perl = TRUE)
  form <- "\\bXLA_FFI_DEFINE_HANDLER_SYMBOL(_AUTO)?\\s*\\(\\s*([A-Za-z_][A-Za-z0-9_]*)"
  found <- regmatches(text, gregexpr(form, text, perl = TRUE))[[1L]]
  unique(sub(form, "\\2", found, perl = TRUE))
}
