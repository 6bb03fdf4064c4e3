# Files in the format safetensors, through the package safetensors: `safe_save_file()` takes
# buffers, and `safe_load_file(framework = "xlaffi")` gives them. As long as pjrt is not there,
# its name of a framework means us too.

safetensors_dtypes <- c(
  pred = "BOOL", i8 = "I8", i16 = "I16", i32 = "I32", i64 = "I64", ui8 = "U8", ui16 = "U16",
  ui32 = "U32", ui64 = "U64", f16 = "F16", bf16 = "BF16", f32 = "F32", f64 = "F64", c64 = "C64"
)

register_safetensors <- function(...) {
  register_methods("safetensors", list(
    safe_tensor_buffer = list(xlaffi_buffer = function(x) as_raw(x, row_major = TRUE)),
    safe_tensor_meta = list(xlaffi_buffer = safetensors_meta)
  ))
  frameworks <- getExportedValue("safetensors", "safetensors_frameworks")
  ours <- list(constructor = buffer_from_safetensors, packages = "xlaffi")
  frameworks[["xlaffi"]] <- ours
  if (is.null(frameworks[["pjrt"]])) {
    frameworks[["pjrt"]] <- ours
  }
}

# A list of dimensions, so that one dimension stays an array in the file's header.
safetensors_meta <- function(x) {
  info <- buffer_info(x)
  dtype <- safetensors_dtypes[info$dtype]
  if (is.na(dtype)) {
    abort(sprintf("safetensors files cannot hold the dtype %s", info$dtype), operand = "x")
  }
  list(shape = as.list(info$shape), dtype = unname(dtype))
}

buffer_from_safetensors <- function(raw, meta, device = NULL) {
  dtype <- names(safetensors_dtypes)[match(meta$dtype, safetensors_dtypes)]
  if (is.na(dtype)) {
    abort(sprintf("the file has the dtype %s, which no buffer can have", describe(meta$dtype)),
      code = "UNIMPLEMENTED", operand = "dtype"
    )
  }
  pjrt_buffer(raw, dtype, as_pjrt_device(device), shape = as.numeric(unlist(meta$shape)), row_major = TRUE)
}

#' @rdname pjrt_buffer_from_file
#' @export
pjrt_buffers_from_safetensors <- function(path, names = NULL, device = NULL, progress = NULL) {
  path <- check_file(path)
  device <- as_pjrt_device(device)
  progress <- progress_of(progress)
  arrays <- safetensors_header(path)
  if (!is.null(names)) {
    if (!is.character(names) || anyNA(names) || anyDuplicated(names)) {
      abort(sprintf("`names` must be NULL or different names, not %s", describe(names)), operand = "names")
    }
    unknown <- setdiff(names, names(arrays))
    if (length(unknown)) {
      abort(sprintf("\"%s\" has no array \"%s\"", path, unknown[[1L]]),
        code = "NOT_FOUND", operand = "names",
        hint = name_hint(unknown[[1L]], names(arrays), "\"%s\"", sprintf("It has %d.", length(arrays)))
      )
    }
    arrays <- arrays[names]
  }
  for (name in names(arrays)) {
    if (is.na(arrays[[name]]$dtype)) {
      type <- arrays[[name]]$type
      abort(sprintf("array \"%s\" of \"%s\" has the dtype %s, which no buffer can have", name, path, type),
        code = "UNIMPLEMENTED", operand = "path"
      )
    }
  }
  call <- environment()
  lapply(arrays, function(array) read_array(path, array, device, NULL, progress, call))
}

# As the format's own library has it: a longer header is none.
longest_header <- 1e8

# The arrays of a file, in its order. As the format demands, they fill the file without gaps.
safetensors_header <- function(path, call = rlang::caller_env()) {
  refuse <- function(...) {
    abort(sprintf("\"%s\" is no safetensors file: %s", path, sprintf(...)), operand = "path", call = call)
  }
  rlang::check_installed("jsonlite", "to read the header of a safetensors file.", call = call)
  connection <- file(path, "rb")
  on.exit(close(connection))
  size <- readBin(connection, "raw", 8L)
  length <- sum(as.integer(size) * 256^(seq_along(size) - 1))
  start <- 8 + length
  if (length(size) < 8L || length > longest_header || start > file.size(path)) {
    refuse("it has no header")
  }
  text <- readBin(connection, "raw", length)
  text <- if (any(text == 0)) "" else rawToChar(text)
  Encoding(text) <- "UTF-8"
  header <- if (validUTF8(text) && startsWith(text, "{")) {
    tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(error) NULL)
  }
  if (!is.list(header) || anyDuplicated(names(header)) || anyNA(header)) {
    refuse("its header is no JSON object")
  }
  header[["__metadata__"]] <- NULL
  count <- function(x) is.numeric(x) && length(x) == 1L && !is.na(x) && x >= 0 && x == trunc(x) && x < 2^53
  counts <- function(x) is.list(x) && all(vapply(x, count, NA))
  arrays <- Map(function(array, name) {
    offsets <- if (is.list(array)) array[["data_offsets"]]
    placed <- counts(offsets) && length(offsets) == 2L
    if (!placed || !counts(array[["shape"]]) || !is.character(array[["dtype"]])) {
      refuse("its array \"%s\" has no dtype, shape or place", name)
    }
    shape <- as.numeric(unlist(array[["shape"]]))
    dtype <- names(safetensors_dtypes)[match(array[["dtype"]], safetensors_dtypes)]
    bytes <- offsets[[2L]] - offsets[[1L]]
    if (bytes < 0 || (!is.na(dtype) && bytes != prod(shape) * element_bytes(dtype))) {
      type <- array[["dtype"]]
      refuse("its array \"%s\" of dtype %s with shape %s has %.0f bytes", name, type, shape_text(shape), bytes)
    }
    list(
      dtype = dtype, type = array[["dtype"]], shape = shape, row_major = TRUE,
      offset = start + offsets[[1L]], endian = "little", end = start + offsets[[2L]]
    )
  }, header, names(header))
  arrays <- arrays[order(vapply(arrays, `[[`, 0, "offset"), vapply(arrays, `[[`, 0, "end"))]
  begins <- vapply(arrays, `[[`, 0, "offset")
  ends <- vapply(arrays, `[[`, 0, "end")
  if (!identical(unname(c(begins, file.size(path))), unname(c(start, ends)))) {
    refuse("its arrays do not fill it without gaps")
  }
  arrays
}
