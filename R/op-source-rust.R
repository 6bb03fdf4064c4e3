# Compilation units in Rust: a module for each combination of dtypes. The body lies in a file of its own, so that
# messages show
# its lines.

rust_types <- c(
  pred = "bool", i8 = "i8", i16 = "i16", i32 = "i32", i64 = "i64", ui8 = "u8", ui16 = "u16", ui32 = "u32", ui64 = "u64",
  f16 = "u16", bf16 = "u16", f32 = "f32", f64 = "f64", c64 = "xlaffi::Complex<f32>", c128 = "xlaffi::Complex<f64>"
)

rust_unit <- function(source, instances) {
  c(rust_head(), unlist(lapply(instances, function(instance) rust_instance(instance$op, instance, source))))
}

rust_head <- function() {
  template <- system.file("templates", "xlaffi.rs", package = "xlaffi")
  c(
    "#![allow(dead_code, unused, non_snake_case, non_camel_case_types)]",
    "#[macro_use]", "mod xlaffi {", readLines(template, warn = FALSE)[-1L], "}"
  )
}

# A file that is included as an expression is a block. The brace leaves the first line where it is.
rust_braces <- function(code) {
  if (is.null(code)) NULL else c(paste("{", code[[1L]]), code[-1L], "}")
}

rust_instance <- function(op, instance, source) {
  signature <- op$signature
  arguments <- c(rust_buffers(signature, instance), rust_dims(signature), rust_attributes(signature))
  names <- vapply(arguments, `[[`, "", "name")
  types <- vapply(arguments, `[[`, "", "type")
  run <- if (is.null(op$code)) {
    sprintf("xlaffi::outcome(%s(%s))", op$symbol, toString(rust_casts(op, signature$dims)))
  } else {
    sprintf("body(%s)", toString(names))
  }
  c(
    sprintf("mod %s {", instance$symbol),
    "use super::{fail, xlaffi};", "use super::xlaffi::{Complex, Error};",
    sprintf("type %s = %s;", names(instance$dtypes), rust_types[instance$dtypes]),
    if (!is.null(source$support)) "include!(\"support.rs\");",
    if (!is.null(source$file)) sprintf("include!(r#\"%s\"#);", source$file),
    if (!is.null(op$code)) {
      c(
        sprintf("fn body(%s) -> Result<(), Error> {", toString(paste0(names, ": ", types))),
        sprintf("let outcome = include!(\"%s.rs\");", part_name(op$name)), "xlaffi::body_outcome(outcome)", "}"
      )
    },
    "#[no_mangle]",
    sprintf("unsafe extern \"C\" fn %s(call: *const xlaffi::Call) -> i32 {", instance$symbol),
    "xlaffi::run(call, |call| {",
    sprintf("let %s_: i64 = call.dim(%d);", signature$dims, seq_along(signature$dims) - 1L),
    rust_dim_attributes(signature),
    vapply(arguments, function(argument) sprintf("let %s: %s = %s;", argument$name, argument$type, argument$value), ""),
    run, "})", "}", rust_load(instance, source), "}"
  )
}

# As c_load(), in the module of an instance.
rust_load <- function(instance, source) {
  if (!has_load(source)) {
    return(NULL)
  }
  part <- function(name) {
    if (is.null(source[[name]])) {
      return("Ok(())")
    }
    c(sprintf("let outcome = include!(\"%s.rs\");", name), "xlaffi::body_outcome(outcome)")
  }
  c(
    "static LOADED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);",
    "#[no_mangle]",
    sprintf("unsafe extern \"C\" fn %s_load(call: *const xlaffi::Call) -> i32 {", instance$symbol),
    "if LOADED.load(std::sync::atomic::Ordering::Relaxed) { return 0; }",
    "let code = xlaffi::run(call, |_| {", part("on_load"), "});",
    "LOADED.store(code == 0, std::sync::atomic::Ordering::Relaxed);", "code", "}",
    if (!is.null(source$on_unload)) {
      c(
        "extern \"C\" fn on_unload() {",
        "if LOADED.load(std::sync::atomic::Ordering::Relaxed) { xlaffi::end(|| {", part("on_unload"), "}) }", "}",
        "#[used]", "#[cfg_attr(target_vendor = \"apple\", link_section = \"__DATA,__mod_term_func\")]",
        "#[cfg_attr(not(target_vendor = \"apple\"), link_section = \".fini_array\")]",
        "static ON_UNLOAD: extern \"C\" fn() = on_unload;"
      )
    }
  )
}

# The length of an array, of dimensions whose variables end in `_`.
rust_size <- function(dims) {
  sprintf("xlaffi::size(&[%s])", toString(vapply(dims, function(dim) rust_dim(parse(text = dim)[[1L]]), "")))
}

rust_dim <- function(dim) {
  if (is.numeric(dim)) {
    sprintf("%.0fi64", dim)
  } else if (is.name(dim)) {
    paste0(dim, "_")
  } else {
    parts <- vapply(as.list(dim)[-1L], rust_dim, "")
    operator <- as.character(dim[[1L]])
    switch(operator,
      min = sprintf("(%s).min(%s)", parts[[1L]], parts[[2L]]),
      max = sprintf("(%s).max(%s)", parts[[1L]], parts[[2L]]),
      "/" = sprintf("xlaffi::div(%s, %s)", parts[[1L]], parts[[2L]]),
      "(" = parts[[1L]],
      if (length(parts) == 1L) paste0("-", parts) else sprintf("(%s %s %s)", parts[[1L]], operator, parts[[2L]])
    )
  }
}

rust_buffers <- function(signature, instance) {
  arrays <- c(signature$operands, signature$results, signature$scratch)
  written <- seq_along(arrays) > length(signature$operands)
  in_place <- vapply(Filter(function(result) isTRUE(result$in_place), signature$results), `[[`, "", "name")
  arguments <- lapply(seq_along(arrays), function(i) {
    array <- arrays[[i]]
    if (!written[[i]] && array$name %in% in_place) {
      return(NULL)
    }
    type <- rust_types[[instance$types[[i]]]]
    size <- rust_size(array$dims)
    access <- if (written[[i]]) "write" else "read"
    mutable <- if (written[[i]]) "mut " else ""
    scalar <- !length(array$dims)
    if (!is.null(array$count)) {
      return(list(
        name = array$name, type = sprintf("&%s[&%s[%s]]", mutable, mutable, type),
        value = sprintf("&%scall.%s_all(%d, %s_ as usize, %s)", mutable, access, i - 1L, array$count, size)
      ))
    }
    one <- sprintf("&%s%s", mutable, if (scalar) type else sprintf("[%s]", type))
    value <- sprintf("call.%s::<%s>(%d, %s)", access, type, i - 1L, size)
    value <- if (scalar) sprintf("&%s%s[0]", mutable, value) else value
    if (isTRUE(array$optional)) {
      one <- sprintf("Option<%s>", one)
      value <- sprintf("if call.is_given(%d) { Some(%s) } else { None }", i - 1L, value)
    }
    list(name = array$name, type = one, value = value)
  })
  Filter(length, arguments)
}

rust_dims <- function(signature) {
  lapply(signature$dims, function(dim) list(name = dim, type = "usize", value = paste0(dim, "_ as usize")))
}

rust_attributes <- function(signature) {
  lapply(seq_along(signature$attributes), function(i) {
    attribute <- signature$attributes[[i]]
    if (attribute$dtype == "str") {
      return(list(name = attribute$name, type = "&str", value = sprintf("call.text(%d)?", i - 1L)))
    }
    type <- rust_types[[attribute$dtype]]
    if (is.null(attribute$length)) {
      list(name = attribute$name, type = type, value = sprintf("call.attribute(%d)", i - 1L))
    } else {
      list(name = attribute$name, type = sprintf("&[%s]", type), value = sprintf("call.attributes(%d)", i - 1L))
    }
  })
}

# Whole attributes may be part of a dimension.
rust_dim_attributes <- function(signature) {
  whole <- vapply(signature$attributes, function(a) is.null(a$length) && grepl("^u?i[0-9]+$", a$dtype), NA)
  lines <- lapply(which(whole), function(i) {
    attribute <- signature$attributes[[i]]
    sprintf("let %s_: i64 = call.attribute::<%s>(%d) as i64;", attribute$name, rust_types[[attribute$dtype]], i - 1L)
  })
  unlist(lines)
}

# A function's arguments; dimensions as the type that it declares.
rust_casts <- function(op, dims) {
  types <- op$argument_types
  is_cast <- op$arguments %in% dims & types != "usize"
  ifelse(is_cast, sprintf("%s::try_from(%s)?", types, op$arguments), op$arguments)
}

rust_command <- function(source, compiler) {
  list(
    before = c(
      compiler$command, "--crate-type=cdylib", "--crate-name=xlaffi_op", "--edition=2021", "--cap-lints=warn",
      if (source$debug) c("-Copt-level=0", "-Cdebuginfo=2") else c("-Copt-level=3", "-Cstrip=debuginfo"),
      rust_flags(source)
    ),
    after = character()
  )
}

rust_flags <- function(source) {
  paths <- sprintf("-L%s", path.expand(source$include))
  c(if (source$native) "-Ctarget-cpu=native", paths, sprintf("-l%s", source$libraries), source$flags)
}

# With crates: a package for cargo, whose crates are compiled once for all ops.
cargo_build <- function(source, folder, key, name, libraries, parts, call) {
  cargo <- program_file("cargo")
  if (is.null(cargo)) {
    no_compiler("rust", "cargo", call)
  }
  # cargo puts the libraries of all packages into one folder.
  package <- paste0("op_", substr(key, 1L, 16L))
  crates <- source$dependencies
  plain <- !startsWith(crates, "{")
  crates[plain] <- sprintf("\"%s\"", crates[plain])
  write_lines(
    c(
      "[package]", sprintf("name = \"%s\"", package), "version = \"0.0.0\"", "edition = \"2021\"",
      "[lib]", "crate-type = [\"cdylib\"]", "path = \"unit1.rs\"",
      "[dependencies]", sprintf("%s = %s", names(crates), crates),
      "[profile.release]", if (source$debug) c("opt-level = 0", "debug = true") else "opt-level = 3", "[workspace]"
    ),
    file.path(folder, "Cargo.toml")
  )
  target <- crates_folder(dirname(folder))
  flags <- rust_flags(source)
  environment <- c(
    paste0("CARGO_TARGET_DIR=", target), "CARGO_TERM_COLOR=never",
    if (length(flags)) paste0("CARGO_ENCODED_RUSTFLAGS=", paste(flags, collapse = "\x1f"))
  )
  command <- c(cargo, "build", "--release", vendored_flags(crates, call))
  compile_code(list(command), folder, name, "rust", parts, environment, call)
  extension <- if (Sys.info()[["sysname"]] == "Darwin") ".dylib" else .Platform$dynlib.ext
  made <- paste0(if (.Platform$OS.type == "unix") "lib", package, extension)
  if (!file.rename(file.path(target, "release", made), file.path(folder, libraries))) {
    disk_full("cannot be written")
  }
  files <- list.files(file.path(target, "release", "deps"), "[.]d$", full.names = TRUE)
  write_lines(c("", dependencies_of(files, folder, crates)), file.path(folder, "unit1.d"))
  # The crates stay, for other ops; what is the op's own is done with.
  own <- list.files(file.path(target, "release"), package, full.names = TRUE, recursive = TRUE, include.dirs = TRUE,
    all.files = TRUE
  )
  unlink(own, recursive = TRUE)
}

# What rustc says that the op depends on, and so for crates that are given by their folders.
dependencies_of <- function(files, folder, dependencies) {
  places <- c(folder, normalizePath(crate_folders(dependencies), "/", FALSE))
  unlist(lapply(files, function(file) {
    lines <- readLines(file, warn = FALSE)
    is_ours <- vapply(places, function(place) any(grepl(place, lines, fixed = TRUE)), NA)
    if (any(is_ours) || grepl("^(lib)?op_", basename(file))) lines
  }))
}

# Where cargo keeps the crates that it has compiled: an entry of the cache like others, in use as of now.
crates_folder <- function(root) {
  folder <- file.path(root, "cargo")
  dir.create(folder, showWarnings = FALSE, mode = "0700")
  write_lines("name crates", file.path(folder, "about"))
  folder
}

# The sources of crates that are given by their folders.
crate_files <- function(dependencies) {
  folders <- crate_folders(dependencies)
  files <- list.files(folders, "([.]rs|^Cargo[.]toml)$", recursive = TRUE, full.names = TRUE)
  files[!grepl("/target/", files, fixed = TRUE)]
}

crate_folders <- function(dependencies) {
  form <- "^.*\\bpath\\s*=\\s*[\"']([^\"']+)[\"'].*$"
  sub(form, "\\1", grep(form, dependencies, value = TRUE))
}
