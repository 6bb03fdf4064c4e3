#' A package with ops of its own
#'
#' Writes the files of a small package with one op in C, or in Rust: sources, registration when the package is loaded,
#' help page and test. It passes `R CMD check` as it is. Nothing is compiled when somebody uses the package, and it
#' loads without XLA.
#'
#' @details
#' # C
#' Ops are functions in `src/ops/*.c`, each behind a comment with its signature, as [ffi_source()] takes them with
#' `file =`; so they can be tried without building the package. They are `static`, since with a dtype variable their
#' file is compiled for each dtype.
#'
#' # Rust
#' Ops are functions in `src/rust/ops/*.rs`, in the same way. `rustc` alone compiles them, no crate is needed. On
#' Windows `src/Makevars.win` compiles them for Rust's target `x86_64-pc-windows-gnu`, which `rustup target add` brings.
#'
#' # What is generated
#' `src/xlaffi-*.c` and `src/rust/xlaffi-ops.rs`, which call the functions and register them as routines, and in
#' `R/xlaffi-ops.R` for each op a function such as `load_rms_norm(...)`, which `.onLoad()` calls, with the op's rules if
#' it has any. After an edit of signatures call either function again: in a package that is there these files are
#' all that they write.
#'
#' A package that you have needs `Imports: xlaffi` and `LinkingTo: xlaffi` in its DESCRIPTION, `useDynLib()` in its
#' NAMESPACE, and a call of `xlaffi_register_ops()` where its routines are registered; for Rust `src/Makevars` and
#' `src/Makevars.win` as in a package that is new.
#'
#' @param path The package's folder: one that is not there, an empty one, or a package.
#' @param name The package's name, where it is new.
#' @return The folder, invisibly.
#' @seealso `vignette("own-ops-tools")`; [ffi_load()] makes an op of a function in a package's library.
#' @section Errors:
#' What cannot be the name of a package is an error, and so is a folder that is neither empty nor a package; nothing is
#' written then.
#'
#' @examples
#' path <- file.path(tempfile(), "mynorms")
#' ffi_use_c(path)
#' list.files(path, recursive = TRUE)
#' path <- file.path(tempfile(), "rustynorms")
#' ffi_use_rust(path)
#' list.files(path, recursive = TRUE)
#' @export
ffi_use_c <- function(path, name = basename(path)) {
  use_package(path, name, "package-c")
}

#' @rdname ffi_use_c
#' @export
ffi_use_rust <- function(path, name = basename(path)) {
  use_package(path, name, "package-rust")
}

use_package <- function(path, name, template, call = rlang::caller_env()) {
  check_string(path, "path", call)
  known <- file.path(path, "DESCRIPTION")
  is_new <- !file.exists(known)
  if (is_new) {
    files <- c(new_package(path, name, template, call))
  } else {
    name <- read.dcf(known, "Package")[[1L]]
    files <- character()
  }
  tell_written(path, name, c(files, package_ops(path, name, call)), is_new)
}

# The files that all such packages have, and those of the template.
new_package <- function(path, name, template, call) {
  check_string(name, "name", call)
  if (!grepl("^[A-Za-z][A-Za-z0-9.]*[A-Za-z0-9]$", name)) {
    abort(sprintf("%s cannot be the name of a package", dQuote(name, FALSE)),
      operand = "name", hint = "Names are letters, digits and dots, at least two, and begin with a letter.", call = call
    )
  }
  if (name == "xlaffi" || name %in% rownames(utils::installed.packages(.Library, priority = "high"))) {
    abort(sprintf("%s cannot be the name of a package: there is one", dQuote(name, FALSE)),
      operand = "name", call = call
    )
  }
  if (file.exists(path) && (!dir.exists(path) || length(list.files(path, all.files = TRUE, no.. = TRUE)))) {
    abort(sprintf("%s is there, and is neither empty nor a package", path),
      code = "ALREADY_EXISTS", operand = "path", hint = "Nothing was written.", call = call
    )
  }
  init <- paste0("R_init_", gsub(".", "_", name, fixed = TRUE))
  values <- c(name = name, init = init, year = format(Sys.Date(), "%Y"))
  files <- lapply(c("package", template), function(part) {
    from <- system.file("templates", part, package = "xlaffi")
    files <- list.files(from, recursive = TRUE)
    for (file in files) {
      lines <- readLines(file.path(from, file), warn = FALSE)
      for (value in names(values)) {
        lines <- gsub(sprintf("{{%s}}", value), values[[value]], lines, fixed = TRUE)
      }
      write_file(lines, file.path(path, file))
    }
    files
  })
  sort(unlist(files))
}

write_file <- function(lines, path) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  writeLines(lines, path, useBytes = TRUE)
}

tell_written <- function(path, name, files, is_new) {
  next_step <- if (is_new) "Build it with {.code R CMD INSTALL {path}}, check it with {.code R CMD check}."
  cli::cli_inform(
    c(
      if (is_new) "Wrote the package {.pkg {name}}:" else "Wrote files of the package {.pkg {name}}:",
      stats::setNames(sprintf("{.file {files[[%d]]}}", seq_along(files)), rep("*", length(files))),
      if (is_new) c(i = next_step)
    ),
    class = "xlaffi_message_package"
  )
  invisible(path)
}

# What a package with ops needs besides them: their functions for each dtype, their registration as routines, and
# the R functions that make ops of them.

generated_mark <- "Generated by the R package xlaffi from the ops of this package: do not edit."

# Writes them; their names.
package_ops <- function(path, name, call = rlang::caller_env()) {
  files <- generated_files(path, name, call)
  c_files <- list.files(file.path(path, "src"), "^xlaffi-.*[.]c$")
  old <- c("R/xlaffi-ops.R", "src/rust/xlaffi-ops.rs", if (length(c_files)) file.path("src", c_files))
  for (file in old[file.exists(file.path(path, old))]) {
    if (!grepl(generated_mark, readLines(file.path(path, file), 1L, warn = FALSE), fixed = TRUE)) {
      abort(sprintf("%s was not generated, and its name is that of a generated file", file),
        code = "ALREADY_EXISTS", operand = "path", hint = "Nothing was written.", call = call
      )
    }
  }
  unlink(file.path(path, setdiff(old, names(files))))
  for (file in names(files)) {
    write_file(files[[file]], file.path(path, file))
  }
  names(files)
}

# By name their lines.
generated_files <- function(path, name, call) {
  at <- function(folder, suffix) {
    files <- list.files(file.path(path, "src", folder), suffix)
    if (length(files)) file.path(folder, files)
  }
  sources <- c(at("ops", "[.]c$"), at("rust/ops", "[.]rs$"))
  if (!length(sources)) {
    abort(sprintf("the package %s has no ops: no file in src/ops or src/rust/ops declares one", name),
      code = "NOT_FOUND", operand = "path", call = call
    )
  }
  parts <- lapply(sources, function(source) package_source(path, source, call))
  ops <- unlist(lapply(parts, `[[`, "ops"), recursive = FALSE)
  names <- vapply(ops, `[[`, "", "name")
  if (anyDuplicated(names)) {
    abort(sprintf("two files declare the op `%s`", names[[anyDuplicated(names)]]), operand = "path", call = call)
  }
  rust <- unlist(lapply(parts, `[[`, "rust"))
  c(
    unlist(lapply(parts, `[[`, "units"), recursive = FALSE),
    if (!is.null(rust)) list("src/rust/xlaffi-ops.rs" = c(paste("//", generated_mark), rust_head(), rust)),
    list("src/xlaffi-register.c" = register_unit(ops), "R/xlaffi-ops.R" = load_functions(ops, name))
  )
}

# The ops of one file, and what it is compiled from: units in C, or modules in Rust.
package_source <- function(path, file, call) {
  full <- normalizePath(file.path(path, "src", file), "/")
  source <- list(language = source_language(NULL, full), file = full)
  source$ops <- source_ops(source, NULL, NULL, NULL, list(), NULL, NULL, call = call)
  instances <- unlist(lapply(source$ops, function(op) {
    lapply(op$instances, function(instance) c(instance, list(op = op)))
  }), recursive = FALSE)
  typed <- sees_dtypes(source)
  # As the generated file includes it.
  source$file <- file.path("ops", basename(file))
  ops <- unname(source$ops)
  if (source$language == "rust") {
    modules <- lapply(instances, function(instance) rust_instance(instance$op, instance, source))
    return(list(ops = ops, rust = unlist(modules)))
  }
  groups <- if (typed) as.list(seq_along(instances)) else list(seq_along(instances))
  units <- lapply(groups, function(group) {
    c(sprintf("/* %s */", generated_mark), c_unit(source, instances[group], typed, "c"))
  })
  names(units) <- sprintf("src/xlaffi-%s-%d.c", tools::file_path_sans_ext(basename(file)), seq_along(units))
  list(ops = ops, units = units)
}

register_unit <- function(ops) {
  symbols <- unlist(lapply(ops, function(op) vapply(op$instances, `[[`, "", "symbol")))
  c(
    sprintf("/* %s */", generated_mark), "#include <R_ext/Rdynload.h>", "#include <xlaffi.h>", "",
    sprintf("int32_t %s(const xlaffi_call *call);", symbols), "void xlaffi_register_ops(DllInfo *dll);", "",
    "static const R_CMethodDef ops[] = {",
    sprintf("  {\"%s\", (DL_FUNC) &%s, 1, NULL},", symbols, symbols), "  {NULL, NULL, 0, NULL}", "};", "",
    "void xlaffi_register_ops(DllInfo *dll) {", "  R_registerRoutines(dll, ops, NULL, NULL, NULL);", "}"
  )
}

load_functions <- function(ops, package) {
  functions <- lapply(ops, function(op) {
    symbols <- vapply(op$instances, function(instance) {
      name <- if (length(instance$dtypes)) sprintf("\"%s\" = ", toString(instance$dtypes)) else ""
      sprintf("%s\"%s\"", name, instance$symbol)
    }, "")
    c(
      "", sprintf("load_%s <- function(...) {", op$name),
      sprintf("  library <- getLoadedDLLs()[[\"%s\"]]", package),
      sprintf("  symbols <- c(%s)", toString(symbols)),
      sprintf("  xlaffi::ffi_load(library, symbols, %s,", encodeString(gsub("\\s+", " ", op$text), quote = "\"")),
      sprintf("    name = \"%s.%s\", ...", package, op$name), "  )", "}"
    )
  })
  c(paste("#", generated_mark), unlist(functions))
}
