# Files written with XLA's own C++ header: each handler that they define becomes a target.

xla_source <- function(source, lines, call = rlang::caller_env()) {
  handlers <- handlers_in(lines)
  if (!length(handlers)) {
    abort("the code defines no handler", operand = "code", call = call,
      hint = "XLA_FFI_DEFINE_HANDLER_SYMBOL(Name, function, binding) defines one."
    )
  }
  compiler <- compiler_of("c++", call)
  source$include <- c(source$include, xla_include())
  command <- compile_command(source, compiler)
  library <- paste0("unit1", .Platform$dynlib.ext)
  file <- if (is.null(source$file)) "code.cpp" else source$file
  unit <- c(sprintf("#include \"%s\"", file), xla_types(lines), xla_entry(names(handlers)))
  source$ops <- list()
  write <- function(folder) {
    if (is.null(source$file)) {
      write_lines(lines, file.path(folder, file))
    }
    write_lines(unit, file.path(folder, "unit1.cpp"))
    "unit1.cpp"
  }
  key <- source_key(source, compiler, command, c(lines, unit), write)
  name <- toString(names(handlers))
  entry <- input_entry(key, name, library, function(folder, key) {
    write(folder)
    parts <- stats::setNames(if (is.null(source$file)) "the code" else basename(file), file)
    line <- c(command$before, "unit1.cpp", made_with_messages("xla", library, 1L), command$after)
    compile_code(list(line), folder, name, "xla", parts, call = call)
  }, compiler)
  opened <- open_compiled(file.path(entry$folder, library), name, call)
  pointers <- lapply(names(handlers), function(handler) {
    check(.Call(wrap__library_symbol, opened, paste0("xlaffi_", handler)), call)
  })
  names(pointers) <- names(handlers)
  register_handlers(pointers[handlers], source_common(source, lines))
  pointers
}

# Asking Python takes a process: where the headers were is where they are, as long as nothing says otherwise and they
# are there.
xla_include <- function(find = ffi_include_dir) {
  names <- c("XLAFFI_PYTHON", "RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "PATH")
  ask <- function(again) {
    stamp <- paste(c(Sys.getenv(names), file_stamp(file.path(python_home(), "pyvenv.cfg")), again), collapse = "\n")
    remembered("xla-include", stamp, find)
  }
  folder <- ask(NULL)
  header <- file.path("xla", "ffi", "api", "ffi.h")
  if (file.exists(file.path(folder, header))) folder else ask(format(Sys.time()))
}

# By the names behind XLA's macro whether a handler is that of the execution; the others are parts of one.
handlers_in <- function(lines) {
  text <- xla_text(lines)
  form <- "\\bXLA_FFI_DEFINE_HANDLER_SYMBOL(_AUTO)?\\s*\\(\\s*([A-Za-z_][A-Za-z0-9_]*)"
  at <- gregexpr(form, text, perl = TRUE)
  found <- regmatches(text, at)[[1L]]
  names <- sub(form, "\\2", found, perl = TRUE)
  rest <- substring(text, at[[1L]] + attr(at[[1L]], "match.length"))
  other_stage <- "\\bBind(Instantiate|Prepare|Initialize)\\b|\\bk(Instantiate|Prepare|Initialize)\\b"
  executes <- !grepl(other_stage, vapply(rest, in_parentheses, "", USE.NAMES = FALSE))
  stats::setNames(executes, names)[!duplicated(names) & nzchar(names)]
}

xla_text <- function(lines) {
  text <- paste(sub("//.*$", "", lines), collapse = "\n")
  text <- gsub("(?s)/[*].*?[*]/", "", text, perl = TRUE)
  gsub("(?m)^\\s*#\\s*define.*$", "", text, perl = TRUE)
}

# XLA must know the types of states. Where they are registered by Python otherwise, here each handler does so when it is
# first called by an XLA. Types are found by the definition of their `id`.
xla_types <- function(lines) {
  form <- "\\bTypeId\\s+([A-Za-z_][A-Za-z0-9_]*)::id\\b"
  inside <- "\\b(?:struct|class)\\s+([A-Za-z_][A-Za-z0-9_]*)[^;{}]*[{][^}]*\\binline\\b[^;}]*\\bTypeId\\s+id\\b"
  types <- unlist(lapply(c(form, inside), function(form) {
    found <- regmatches(xla_text(lines), gregexpr(form, xla_text(lines), perl = TRUE))[[1L]]
    sub(paste0("(?s)", form, ".*$"), "\\1", found, perl = TRUE)
  }))
  types <- unique(types)
  c(
    "#include <atomic>", "#include <mutex>", "#include <set>", "#include <string>",
    "static XLA_FFI_Error *xlaffi_types(const XLA_FFI_Api *api) {",
    if (length(types)) {
      c(
        "static std::mutex mutex;", "static std::set<const XLA_FFI_Api *> known;",
        "static std::atomic<const XLA_FFI_Api *> last{nullptr};",
        "if (api == nullptr || api == last.load() ||",
        "    api->struct_size < offsetof(XLA_FFI_Api, XLA_FFI_Type_Register) + sizeof(void *) ||",
        "    api->XLA_FFI_Type_Register == nullptr) return nullptr;",
        "std::lock_guard<std::mutex> lock(mutex);",
        "if (known.count(api) == 0) {",
        sprintf(
          paste(
            "static const XLA_FFI_TypeInfo info_%s = xla::ffi::MakeTypeInfo<%s>();",
            "static const std::string name_%s = \"%s@\" + std::to_string(reinterpret_cast<uintptr_t>(&%s::id));",
            "if (XLA_FFI_Error *error = xla::ffi::Ffi::RegisterTypeId(api, name_%s, &%s::id, &info_%s)) return error;",
            sep = "\n"
          ),
          types, types, types, types, types, types, types, types
        ),
        "known.insert(api);", "}", "last.store(api);"
      )
    },
    "return nullptr;", "}"
  )
}

# What is exported.
xla_entry <- function(handlers) {
  sprintf(
    paste(
      "extern \"C\" __attribute__((visibility(\"default\")))",
      "XLA_FFI_Error *xlaffi_%s(XLA_FFI_CallFrame *frame) {",
      "if (XLA_FFI_Error *error = xlaffi_types(frame->api)) return error;",
      "return %s(frame);", "}",
      sep = "\n"
    ),
    handlers, handlers
  )
}
