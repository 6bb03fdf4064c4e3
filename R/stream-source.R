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
