#' Compiled programs as bytes
#'
#' `pjrt_serialize()` writes a compiled program down, `pjrt_deserialize()` makes an executable of it again, in a
#' fraction of the time that compiling takes.
#'
#' @details
#' A compiled program is machine code. It is good for the plugin, the version of the plugin and of this package, and the
#' kind of device and of processor that it was compiled with; anywhere else there is an error that says what differs
#' (code `FAILED_PRECONDITION`), and [pjrt_compile()] is the way. Bytes that were cut off or changed are refused
#' (`DATA_LOSS`); a digest tells. It does not tell who wrote them: load only files that you trust, as you would with an
#' R package.
#'
#' The program's custom calls are in there by name. Where one is not registered, there is an error that names it
#' (`NOT_FOUND`). Ops of the user's own ([ffi_source()] and the like) must be defined as they were: the program knows
#' which definition it was compiled for. A program that calls R functions ([ffi_callback()]) belongs to the session
#' that made the op.
#'
#' Functions made by [xla_jit()] and ops need none of this: what they compile is kept on disk, see [xla_cache()].
#'
#' @param executable An executable, see [pjrt_compile()].
#' @param path A file to write to, or to read from. It is written under another name first, so that nobody finds half
#'   of it. A file that was there keeps its mode, and a link what it leads to; devices are written to as they are.
#' @param bytes A raw vector made by `pjrt_serialize()`.
#' @param device The device to load the program for: a device, a name such as `"cpu:1"`, or `NULL` for the default. For
#'   a program on several devices a list of as many, or `NULL` for the first.
#' @return `pjrt_serialize()` a raw vector, invisibly where it was written to a file. `pjrt_deserialize()` an
#'   executable, class `xlaffi_executable`, for [pjrt_execute()].
#' @examplesIf plugins_downloaded()
#' double <- pjrt_compile(pjrt_program("
#' func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
#'   %0 = stablehlo.add %x, %x : tensor<2xf32>
#'   return %0 : tensor<2xf32>
#' }
#' "))
#' file <- tempfile()
#' pjrt_serialize(double, file)
#' again <- pjrt_deserialize(path = file)
#' pjrt_execute(again, pjrt_buffer(c(1, 2)))
#' @export
pjrt_serialize <- function(executable, path = NULL) {
  check_given(executable)
  if (!inherits(executable, "xlaffi_executable")) {
    abort(sprintf("`executable` must be an executable made by pjrt_compile(), not %s", describe(executable)),
      operand = "executable", hint = foreign_hint(executable)
    )
  }
  bytes <- pack_program(executable, compilation_facts(device(executable))$where)
  if (is.null(path)) {
    return(bytes)
  }
  check_string(path, "path")
  if (!isTRUE(write_in_place(bytes, path.expand(path)))) {
    abort(sprintf("\"%s\" cannot be written", path), code = "UNAVAILABLE", operand = "path")
  }
  invisible(bytes)
}

# Bytes to a file of the user's: whether that was possible
write_in_place <- function(bytes, path) {
  exists <- file.exists(path)
  if (exists) path <- normalizePath(path)
  if (exists && grepl("^/(dev|proc)/", path)) {
    no <- function(condition) FALSE
    return(tryCatch(is.null(writeBin(bytes, path)), error = no, warning = no))
  }
  write_whole(path, function(made) write_bytes(bytes, made), if (exists) file.mode(path))
}

#' @rdname pjrt_serialize
#' @export
pjrt_deserialize <- function(bytes = NULL, path = NULL, device = NULL) {
  if (is.null(bytes) == is.null(path)) {
    abort("give either `bytes` or `path`", operand = "bytes")
  }
  if (!is.null(path)) {
    bytes <- read_bytes(path)
  } else if (!is.raw(bytes)) {
    abort(sprintf("`bytes` must be a raw vector made by pjrt_serialize(), not %s", describe(bytes)), operand = "bytes")
  }
  several <- is.list(device) || length(device) > 1L
  devices <- if (several) as_device_list(device, "device")
  first <- if (several) devices[[1L]] else as_pjrt_device(device)
  saved <- unpack_program(bytes, compilation_facts(first)$where)
  options <- pjrt_compile_options(saved$replicas, saved$partitions, devices)
  load_program(saved, options, if (!several) device)
}

read_bytes <- function(path, call = rlang::caller_env()) {
  path <- check_file(path, call = call)
  tryCatch(readBin(path, "raw", file.size(path)), error = function(error) {
    abort(sprintf("\"%s\" cannot be read", path), code = "UNAVAILABLE", operand = "path", call = call)
  }, warning = function(warning) {
    abort(sprintf("\"%s\" cannot be read", path), code = "UNAVAILABLE", operand = "path", call = call)
  })
}

load_program <- function(saved, options, device, call = rlang::caller_env()) {
  place <- compilation_place(options, device, call)
  program <- check(.Call(wrap__program_new, saved$program, saved$format), call)
  note_flags(platform(place$device))
  tryCatch(
    finish(.Call(wrap__client_load, place$device, program, saved$compiled, place$options), call),
    xlaffi_error_not_found = function(error) {
      abort(sprintf("the compiled program cannot be loaded: %s", conditionMessage(error)),
        code = "NOT_FOUND", op = error$op, call = call,
        hint = "Its custom calls must be registered before, and ops of your own defined."
      )
    }
  )
}

# What a compiled program is good for: `where`, facts that must be the same where it is loaded, and `threads`, which
# only the compiler looks at.
compilation_facts <- function(device) {
  facts <- check(.Call(wrap__client_facts, device))
  where <- c(
    xlaffi = as.character(session$version), platform = platform(device), plugin = facts$plugin, device = facts$device,
    system = R.version$platform, processor = known_processor()
  )
  list(where = gsub("[\r\n]+", " ", where), threads = facts$threads)
}

# The model, for people, and a digest of that and of all that it can do.
known_processor <- function() {
  if (is.null(saved_state$processor)) {
    facts <- processor()
    model <- regmatches(facts, regexpr("(?<=model name)\\s*:[^\n]*", facts, perl = TRUE))
    model <- if (length(model)) trimws(sub("^\\s*:", "", model)) else Sys.info()[["machine"]]
    saved_state$processor <- paste(model, substr(text_digest(facts), 1L, 16L))
  }
  saved_state$processor
}

# The bytes are lines of text, an empty one, the program and what was made of it. The last line has a digest of all
# else. A change of this format has another number.
serialized_head <- "xlaffi compiled program "
serialized_format <- 2L

pack_program <- function(executable, where, call = rlang::caller_env()) {
  parts <- check(.Call(wrap__executable_serialize, executable), call)
  info <- check(.Call(wrap__executable_info, executable), call)
  lines <- c(
    paste0(serialized_head, serialized_format), paste(names(where), where),
    sprintf("devices %d %d", info$replicas, info$partitions),
    sprintf("program %s %.0f", parts$format, length(parts$program))
  )
  head <- charToRaw(paste0(lines, "\n", collapse = ""))
  body <- c(parts$program, parts$compiled)
  c(head, charToRaw(sprintf("sha256 %s\n\n", digest_of(c(head, body)))), body)
}

# `format`, `program` and `compiled`, where the bytes are what was written and for where we are.
unpack_program <- function(bytes, where, call = rlang::caller_env()) {
  damaged <- function() {
    abort("the compiled program is damaged: bytes are missing or were changed",
      code = "DATA_LOSS", operand = "bytes", call = call
    )
  }
  newlines <- which(utils::head(bytes, most_of_head) == as.raw(10L))
  check_head(bytes, newlines, damaged, call)
  # The empty line, and the digest's before it.
  last <- match(1L, diff(newlines)) + 1L
  if (is.na(last) || last < 4L) {
    damaged()
  }
  # A connection: indices of millions of bytes take longer than what they are for.
  source <- rawConnection(bytes)
  on.exit(close(source))
  take <- function(count) readBin(source, "raw", count)
  head <- take(newlines[[last - 2L]])
  digest <- utils::head(take(newlines[[last]] - length(head)), -2L)
  body <- take(length(bytes))
  if (!identical(digest, charToRaw(paste("sha256", digest_of(c(head, body)))))) {
    damaged()
  }
  parts <- rawConnection(body)
  on.exit(close(parts), add = TRUE)
  program_parts(head, where, function(size) readBin(parts, "raw", size), length(body), call)
}

# The same of a file whose digest has been compared. Another session may have taken it away since.
read_program <- function(path, where, call = rlang::caller_env()) {
  damaged <- function() abort("the compiled program is damaged", code = "DATA_LOSS", operand = "path", call = call)
  gone <- function(condition = NULL) abort("the compiled program is gone", "NOT_FOUND", operand = "path", call = call)
  source <- tryCatch(file(path, "rb"), error = gone, warning = gone)
  on.exit(close(source))
  start <- readBin(source, "raw", most_of_head)
  newlines <- which(start == as.raw(10L))
  check_head(start, newlines, damaged, call)
  last <- match(1L, diff(newlines)) + 1L
  if (is.na(last) || last < 4L) {
    damaged()
  }
  size <- file.size(path) - newlines[[last]]
  if (is.na(size)) {
    gone()
  }
  seek(source, newlines[[last]])
  take <- function(size) readBin(source, "raw", size)
  program_parts(start[seq_len(newlines[[last - 2L]])], where, take, size, call)
}

# So many bytes hold all lines before the program.
most_of_head <- 16384L

# `take(size)` gives the next of the `size` bytes behind the head.
program_parts <- function(head, where, take, size, call) {
  lines <- strsplit(rawToChar(head), "\n", fixed = TRUE)[[1L]]
  check_place(lines, where, call)
  last <- strsplit(utils::tail(lines, 2L), " ", fixed = TRUE)
  program <- as.numeric(last[[2L]][[3L]])
  list(
    format = last[[2L]][[2L]], program = take(program), compiled = take(size - program),
    replicas = as.integer(last[[1L]][[2L]]), partitions = as.integer(last[[1L]][[3L]])
  )
}

# Whether the first line is that of this format.
check_head <- function(bytes, newlines, damaged, call) {
  head <- charToRaw(serialized_head)
  if (length(bytes) < length(head) || !identical(bytes[seq_along(head)], head)) {
    abort("these are no bytes of a compiled program",
      operand = "bytes", call = call, hint = "`pjrt_serialize()` makes such."
    )
  }
  if (!length(newlines)) {
    damaged()
  }
  format <- bytes[seq(length(head) + 1L, length.out = newlines[[1L]] - length(head) - 1L)]
  if (!identical(format, charToRaw(as.character(serialized_format)))) {
    if (!all(format %in% charToRaw("0123456789"))) {
      damaged()
    }
    abort(
      sprintf(
        "the compiled program is of format %s, this version of xlaffi reads %d", rawToChar(format), serialized_format
      ),
      code = "FAILED_PRECONDITION", operand = "bytes", call = call
    )
  }
}

check_place <- function(lines, where, call) {
  for (name in names(where)) {
    start <- paste0(name, " ")
    made <- substring(lines[-1L][startsWith(lines[-1L], start)][1L], nchar(start) + 1L)
    here <- where[[name]]
    if (!identical(made, here)) {
      what <- switch(name,
        xlaffi = "version of xlaffi", device = "kind of device", system = "system", name
      )
      abort(sprintf("the compiled program is for another %s (%s) than is here (%s)", what, made, here),
        code = "FAILED_PRECONDITION", operand = "bytes", call = call,
        hint = "It is machine code: compile the program here, see `?pjrt_compile`."
      )
    }
  }
}
