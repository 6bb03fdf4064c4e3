# Where parts come from: `next_part()` gives one, NULL at the end.
chunk_source <- function(chunks, call = rlang::caller_env()) {
  force(call)
  source <- function(next_part, close = function() NULL) list(next_part = next_part, close = close)
  if (is.function(chunks)) {
    source(chunks)
  } else if (inherits(chunks, "connection")) {
    connection_source(chunks, source, call)
  } else if (is_arrow(chunks)) {
    source(arrow_parts(chunks, call))
  } else if (is.list(chunks) && !is.object(chunks)) {
    if (any(vapply(chunks, is.null, NA))) {
      abort("`chunks` must be a list of parts, and one of them is NULL", operand = "chunks", call = call)
    }
    at <- 0L
    source(function() {
      at <<- at + 1L
      if (at <= length(chunks)) chunks[[at]]
    })
  } else {
    abort(
      sprintf(
        "`chunks` must be a function, a list, a connection or a stream of record batches, not %s",
        describe(chunks)
      ),
      operand = "chunks", hint = foreign_hint(chunks), call = call
    )
  }
}

# So many bytes are taken from a connection at once.
connection_part <- 2^24

connection_source <- function(connection, source, call) {
  was_open <- isOpen(connection)
  if (!was_open) {
    open(connection, "rb")
  } else if (summary(connection)$text != "binary") {
    abort("`chunks` must be a connection in binary mode",
      operand = "chunks", hint = "Open it with `open = \"rb\"`.", call = call
    )
  }
  source(
    function() {
      bytes <- readBin(connection, "raw", connection_part)
      if (length(bytes)) bytes
    },
    function() if (!was_open) close(connection)
  )
}

# A part as the vector, array or bytes that go to the device.
chunk_data <- function(part, number, call = rlang::caller_env()) {
  if (is.data.frame(part)) {
    part <- frame_matrix(part, number, call)
  }
  numbers <- is.numeric(part) || is.logical(part) || is.complex(part) || is.raw(part)
  if (!numbers || (is.object(part) && !inherits(part, "integer64"))) {
    abort(sprintf("part %d must be numbers, bytes or a data frame, not %s", number, describe(part)),
      operand = "chunks", hint = foreign_hint(part), call = call
    )
  }
  part
}

chunk_type <- function(part) if (inherits(part, "integer64")) "integer64" else typeof(part)

# The dtype that pjrt_buffer() takes for such data.
chunk_dtype <- function(part, call) {
  dtypes <- c(logical = "pred", integer = "i32", double = "f32", complex = "c64", integer64 = "i64")
  type <- chunk_type(part)
  if (!type %in% names(dtypes)) {
    abort("raw data need a `dtype`", operand = "dtype", call = call)
  }
  dtypes[[type]]
}

chunk_shape <- function(part, call) {
  if (is.raw(part)) {
    abort("raw data need a `shape`", operand = "shape", call = call)
  }
  c(NA_integer_, dim(part)[-1L])
}

check_chunk_shape <- function(part, shape, number, call) {
  axes <- dim(part)
  has_rows <- !is.null(axes) || length(shape) == 1L
  if (is.raw(part) || (has_rows && identical(as.integer(axes[-1L]), as.integer(shape[-1L])))) {
    return(invisible())
  }
  came <- if (is.null(axes)) {
    sprintf("is a vector of length %d", length(part))
  } else {
    sprintf("has shape %s", shape_text(axes))
  }
  abort(
    sprintf("part %d %s, and parts of this array have shape %s", number, came, shape_text(c("n", shape[-1L]))),
    operand = "chunks", call = call
  )
}

# The columns of a data frame as a matrix, of a type that holds them all.
frame_matrix <- function(frame, number, call) {
  types <- vapply(frame, function(column) {
    fine <- (is.numeric(column) || is.logical(column) || is.complex(column)) && is.null(dim(column))
    if (fine && (!is.object(column) || inherits(column, "integer64"))) chunk_type(column) else NA_character_
  }, "")
  if (anyNA(types)) {
    at <- which(is.na(types))[[1L]]
    abort(
      sprintf("part %d: column `%s` must be numbers, not %s", number, names(frame)[[at]], describe(frame[[at]])),
      operand = "chunks", call = call
    )
  }
  shape <- c(nrow(frame), length(frame))
  if (!"integer64" %in% types) {
    return(array(unlist(unclass(frame), use.names = FALSE), shape))
  }
  if (any(types %in% c("double", "complex"))) {
    abort(
      sprintf(
        "part %d has columns of type integer64 beside others of type %s: no type of R holds both",
        number, setdiff(types, c("integer64", "integer", "logical"))[[1L]]
      ),
      operand = "chunks", hint = "Convert them, for instance by `as.double()`.", call = call
    )
  }
  # The bits of 64-bit integers, in the memory of doubles.
  bits <- lapply(frame, function(column) unclass(bit64::as.integer64(column)))
  structure(unlist(bits, use.names = FALSE), dim = shape, class = "integer64")
}
