#' The Rust crate for handlers
#'
#' `ffi_rust_dir()` gives the folder of the crate `xla-ffi`, with which this package's own ops are written: operands are
#' declared by `io!`, a body may be generic in its element types, keep a state for each compiled program, or use XLA's
#' thread pool. The sources are part of this package, with all crates that they need, so that nothing is downloaded.
#'
#' @details
#' [ffi_source()] takes a file that uses the crate and registers its ops: all that it needs is Rust with cargo.
#' ```rust
#' use xla_ffi::{io, Arg, Attr, Cx, Host, Kernel, Op, Result, Ret, Untyped};
#'
#' io! {
#'     pub struct ScaleIo<'f> {
#'         x: Arg<'f, f32>,
#'         y: Ret<'f, f32>,
#'         factor: Attr<f32> = 1.0,
#'     }
#' }
#'
#' pub struct Scale;
#'
#' impl Op for Scale {
#'     const TARGET: &'static str = "scale";
#'     type Dtypes = Untyped;
#' }
#'
#' impl Kernel<Host> for Scale {
#'     type Io<'f> = ScaleIo<'f>;
#'
#'     fn run(mut io: ScaleIo<'_>, _cx: &Cx<'_, Host>) -> Result<()> {
#'         let factor = *io.factor;
#'         io.y.map_from([&io.x], |[x]| factor * x)
#'     }
#' }
#' ```
#' ```r
#' ffi_source(file = "scale.rs")
#' scale <- ffi_call("scale", function(x) x, attributes = list(factor = ffi_attribute(3, "f32")))
#' scale(pjrt_buffer(c(1, 2, 3), "f32"))
#' ```
#' Each `impl Op for` in the file, which may be in any module of it that is `pub`, as its type must be, becomes a target
#' under its `TARGET`, a text in quotes; one with `impl Stateful` too is registered with its stages. What was
#' compiled of such ops stays loaded until the end of the session, as XLA drops states when it likes: each other version
#' of the code takes its size (half a megabyte or more) in memory, and a message tells when there are a hundred.
#' `cargo doc --open` in the folder shows the crate's documentation.
#'
#' A crate of your own names the folder in its `Cargo.toml`:
#' ```toml
#' xla-ffi = { path = "<ffi_rust_dir()>" }
#' ```
#' To build offline it takes the crates in `../vendor`, as a source that replaces crates.io. The feature `registry` is
#' not part of these sources. They lie in the cache of compiled code (see [xla_cache()]), under a name that changes with
#' them: copy the folder's parent for what is to last.
#'
#' @return The crate's folder; the crates that it needs are in `../vendor`.
#' @seealso [ffi_source()] for bodies in Rust that need no crate.
#' @examples
#' list.files(ffi_rust_dir())
#' @export
ffi_rust_dir <- function() {
  file.path(rust_crates(), "xla-ffi")
}

# The folder of the crate and of those that it needs: unpacked once, and looked at each time as compiled code is.
rust_crates <- function(call = rlang::caller_env()) {
  archive <- system.file("rust", "xla-ffi.tar.xz", package = "xlaffi")
  if (!nzchar(archive)) {
    abort("this installation has no sources of xla-ffi", code = "NOT_FOUND", call = call)
  }
  files <- utils::untar(archive, list = TRUE, tar = "internal")
  files <- files[!endsWith(files, "/")]
  code_entry(hash_file(archive), "xla-ffi", files, function(folder) {
    # Nobody else may add a file, which cargo could take for a part of a crate.
    umask <- Sys.umask("077")
    on.exit(Sys.umask(umask))
    if (utils::untar(archive, exdir = folder, tar = "internal") != 0L || !all(file.exists(file.path(folder, files)))) {
      disk_full("is full")
    }
  })
}

# What cargo is told where the crates that come with this package are all that is needed: not to ask for others.
vendored_flags <- function(dependencies, call = rlang::caller_env()) {
  if (!identical(unname(dependencies), vendored_dependency(call))) {
    return(character())
  }
  c(
    "--offline", "--config", "source.crates-io.replace-with=\"xlaffi\"",
    "--config", sprintf("source.xlaffi.directory='%s'", file.path(rust_crates(call), "vendor"))
  )
}

vendored_dependency <- function(call = rlang::caller_env()) {
  sprintf("{ path = '%s' }", file.path(rust_crates(call), "xla-ffi"))
}

# Ops in Rust, written with xla-ffi, which become targets.
rust_handlers_source <- function(source, lines, call = rlang::caller_env()) {
  handlers <- rust_ops_in(lines, call)
  source$language <- "rust"
  if (!"xla-ffi" %in% names(source$dependencies)) {
    source$dependencies <- c("xla-ffi" = vendored_dependency(call), source$dependencies)
  }
  compiler <- compiler_of("rust", call)
  library <- paste0("unit1", .Platform$dynlib.ext)
  file <- if (is.null(source$file)) "code.rs" else source$file
  unit <- c(sprintf("#[path = r#\"%s\"#] mod code;", file), unlist(lapply(handlers, rust_entry)))
  source$ops <- list()
  key <- source_key(source, compiler, rust_command(source, compiler), c(lines, unit), NULL)
  name <- toString(vapply(handlers, `[[`, "", "target"))
  entry <- input_entry(key, name, library, function(folder, key) {
    if (is.null(source$file)) {
      write_lines(lines, file.path(folder, file))
    }
    write_lines(unit, file.path(folder, "unit1.rs"))
    parts <- stats::setNames(if (is.null(source$file)) "the code" else basename(file), file)
    cargo_build(source, folder, key, name, library, parts, call)
  }, compiler)
  file <- file.path(entry$folder, library)
  opened <- open_compiled(file, name, call)
  if (any(lengths(lapply(handlers, `[[`, "stages")) > 1L)) {
    keep_library(file, opened)
  }
  pointers <- lapply(handlers, function(handler) {
    stages <- lapply(handler$stages, function(stage) {
      check(.Call(wrap__library_symbol, opened, sprintf("xlaffi_%s_%s", handler$symbol, stage)), call)
    })
    if (length(stages) == 1L) stages[[1L]] else stats::setNames(stages, handler$stages)
  })
  names(pointers) <- vapply(handlers, `[[`, "", "target")
  register_handlers(pointers, source_common(source, lines))
  pointers
}

# Types of states and what drops them are XLA's for ever: their library stays.
keep_library <- function(file, opened) {
  is_new <- !file %in% names(op_state$kept_libraries)
  op_state$kept_libraries[[file]] <- opened
  count <- length(op_state$kept_libraries)
  if (is_new && count %% 100L == 0L) {
    size <- sum(file.size(names(op_state$kept_libraries)), na.rm = TRUE)
    text <- sprintf(
      "%d different versions of Rust ops with state are loaded (%.0f MB), which only the end of the session frees.",
      count, size / 2^20
    )
    inform(text, "xlaffi_message_kept")
  }
}

# By `impl Op for Name` and what stands in its braces.
rust_ops_in <- function(lines, call) {
  text <- xla_text(lines)
  form <- "\\bimpl\\s+(?:xla_ffi::)?Op\\s+for\\s+([A-Za-z_][A-Za-z0-9_:]*)\\s*\\{[^}]*"
  bodies <- regmatches(text, gregexpr(form, text, perl = TRUE))[[1L]]
  if (!length(bodies)) {
    abort("the code defines no op", operand = "code", call = call,
      hint = "`impl xla_ffi::Op for Name` with a `TARGET` defines one."
    )
  }
  lapply(bodies, function(body) {
    type <- sub(paste0("(?s)", form, ".*$"), "\\1", body, perl = TRUE)
    target <- "(?s)^.*\\bconst\\s+TARGET\\s*:[^=]*=\\s*\"([^\"\\\\]+)\".*$"
    if (!grepl(target, body, perl = TRUE)) {
      abort(sprintf("the TARGET of `%s` must be a text in quotes, which names the custom call", type),
        operand = "code", call = call
      )
    }
    own <- sprintf("(?m)^\\s*(struct|enum)\\s+%s\\b", type)
    if (grepl(own, text, perl = TRUE)) {
      abort(sprintf("`%s` must be `pub`: what makes a target of it is another module", type),
        operand = "code", call = call
      )
    }
    stateful <- sprintf("\\bimpl\\s*(<[^{]*>)?\\s*(xla_ffi::)?Stateful\\s*<[^{]*>\\s*for\\s+%s\\b", type)
    asks <- function(constant) grepl(sprintf("\\bconst\\s+%s\\s*:\\s*bool\\s*=\\s*true", constant), text)
    stages <- if (grepl(stateful, text, perl = TRUE)) {
      c("instantiate", if (asks("PREPARES")) "prepare", if (asks("INITIALIZES")) "initialize", "execute")
    } else {
      "execute"
    }
    list(
      type = type, symbol = gsub("::", "_", type, fixed = TRUE), stages = stages,
      target = sub(target, "\\1", body, perl = TRUE)
    )
  })
}

# What is exported: a function for each stage.
rust_entry <- function(handler) {
  types <- sprintf("<code::%s, xla_ffi::Host>", handler$type)
  called <- ifelse(handler$stages == "execute",
    paste0("xla_ffi::handler::", types),
    sprintf("xla_ffi::bundle::%s().%s.unwrap_unchecked()", types, handler$stages)
  )
  frame <- "frame: *mut xla_ffi::sys::XLA_FFI_CallFrame"
  sprintf(
    "#[no_mangle]\nunsafe extern \"C\" fn xlaffi_%s_%s(%s) -> *mut xla_ffi::sys::XLA_FFI_Error { (%s)(frame) }",
    handler$symbol, handler$stages, frame, called
  )
}
