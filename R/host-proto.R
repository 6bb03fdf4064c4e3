# The text form of a serialized HloModuleProto, line by line, in the way of protobuf's own dump.

# What the messages' fields are called; a name that ends in a message's name opens one. Fields that
# are not listed are shown by number.
hlo_fields <- list(
  module = c(
    "1" = "name", "2" = "entry_computation_name", "3" = "computations:computation",
    "4" = "host_program_shape:program_shape", "5" = "id", "6" = "entry_computation_id"
  ),
  computation = c(
    "1" = "name", "2" = "instructions:instruction", "4" = "program_shape:program_shape", "5" = "id",
    "6" = "root_id"
  ),
  instruction = c(
    "1" = "name", "2" = "opcode", "3" = "shape:shape", "9" = "parameter_number",
    "28" = "custom_call_target", "35" = "id", "36" = "operand_ids", "38" = "called_computation_ids"
  ),
  program_shape = c("1" = "parameters:shape", "2" = "result:shape", "3" = "parameter_names"),
  shape = c(
    "2" = "element_type", "3" = "dimensions", "4" = "tuple_shapes:shape", "5" = "layout:layout"
  ),
  layout = c("1" = "minor_to_major")
)

# The first `n` lines, or fewer; NULL where the bytes are no message.
hlo_proto_lines <- function(bytes, n) {
  lines <- character()
  put <- function(depth, text) {
    lines[[length(lines) + 1L]] <<- paste0(strrep("  ", depth), text)
    length(lines) < n
  }
  # Whether there is room for more lines; NULL for bytes that are no message.
  message <- function(from, to, type, depth) {
    at <- from
    while (at <= to) {
      key <- read_varint(bytes, at, to)
      if (is.null(key)) {
        return(NULL)
      }
      field <- key$value %/% 8
      content <- read_field(bytes, key$after, to, key$value %% 8)
      if (field < 1 || is.null(content)) {
        return(NULL)
      }
      name <- strsplit(c(hlo_fields[[type]][as.character(field)], NA), ":", fixed = TRUE)[[1L]]
      if (anyNA(name)) {
        name <- format(field, scientific = FALSE)
      }
      if (length(name) > 1L) {
        more <- put(depth, paste(name[[1L]], "{")) &&
          message(content$from, content$to, name[[2L]], depth + 1L)
        more <- if (isTRUE(more)) put(depth, "}") else more
      } else {
        more <- put(depth, paste0(name, ": ", field_text(bytes, content, name)))
      }
      if (!isTRUE(more)) {
        return(more)
      }
      at <- content$after
    }
    TRUE
  }
  if (is.null(message(1, length(bytes), "module", 0L))) NULL else lines
}

# An integer of seven bits a byte and where the next thing starts; exact up to 2^53.
read_varint <- function(bytes, at, to) {
  value <- 0
  for (i in seq_len(min(10, to - at + 1))) {
    byte <- as.integer(bytes[[at + i - 1]])
    value <- value + (byte %% 128L) * 128^(i - 1)
    if (byte < 128L) {
      return(list(value = value, after = at + i))
    }
  }
  NULL
}

read_field <- function(bytes, at, to, wire) {
  if (wire == 0) {
    number <- read_varint(bytes, at, to)
    return(if (!is.null(number)) list(number = number$value, after = number$after))
  }
  length <- if (wire == 2) read_varint(bytes, at, to) else list(value = c(8, 4)[match(wire, c(1, 5))], after = at)
  if (is.null(length) || is.na(length$value) || length$after + length$value - 1 > to) {
    return(NULL)
  }
  end <- length$after + length$value - 1
  list(from = length$after, to = end, after = end + 1)
}

hlo_element_types <- c(
  "PRED", "S8", "S16", "S32", "S64", "U8", "U16", "U32", "U64", "F16", "F32", "F64", "TUPLE",
  "OPAQUE_TYPE", "C64", "BF16", "TOKEN", "C128"
)

field_text <- function(bytes, content, name) {
  if (!is.null(content$number)) {
    known <- name == "element_type" && content$number %in% seq_along(hlo_element_types)
    return(if (known) hlo_element_types[[content$number]] else format(content$number, scientific = FALSE))
  }
  found <- bytes[seq_len(content$to - content$from + 1) + content$from - 1]
  if (name %in% c("dimensions", "minor_to_major", "operand_ids", "called_computation_ids")) {
    return(toString(packed_numbers(found)))
  }
  if (all(found >= as.raw(0x20) & found < as.raw(0x7f))) {
    return(encodeString(rawToChar(found), quote = "\""))
  }
  sprintf("<%d bytes>", length(found))
}

packed_numbers <- function(bytes) {
  numbers <- numeric()
  at <- 1
  while (at <= length(bytes)) {
    number <- read_varint(bytes, at, length(bytes))
    if (is.null(number)) {
      break
    }
    numbers <- c(numbers, number$value)
    at <- number$after
  }
  numbers
}
