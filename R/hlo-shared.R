# Constants of a program that have more than one element stand in it once. What is small is named where it is first
# used, within the function or the region. What is large is named before everything else: as a hidden argument of a
# compiled program, which is uploaded once, else as a constant at its beginning. Regions see names of what is around
# them; only those of shard_map do not, and are given what they need as operands.

# From so many elements on a constant is large: XLA's parser and compiler take time and memory for each of them.
large_constant <- 512L

# Constants with their names. `prefix` begins the names of large ones.
new_constants <- function(prefix = "") {
  list2env(list(prefix = prefix, entries = list(), buckets = new.env(parent = emptyenv())), parent = emptyenv())
}

# The entry of a constant in `table`; `name()` names one that comes for the first time.
shared_constant <- function(table, node, name) {
  type <- node$types[[1L]]
  data <- node$params$data
  # Equal data have equal ends.
  bucket <- paste(c(type@dtype, type@shape, data[c(1L, length(data) %/% 2L + 1L, length(data))]), collapse = " ")
  for (entry in table$buckets[[bucket]]) {
    if (is_same(entry$data, data)) {
      return(entry)
    }
  }
  entry <- list(name = name(), type = type, data = data, node = node)
  table$buckets[[bucket]] <- c(table$buckets[[bucket]], list(entry))
  entry
}

# The name of a large constant, of which the table keeps the order.
large_name <- function(table, node) {
  shared_constant(table, node, function() {
    name <- sprintf("%%%sconst%d", table$prefix, length(table$entries))
    table$entries <- c(table$entries, list(list(name = name, type = node$types[[1L]], node = node)))
    name
  })$name
}

# NA that stands for the least integer cannot be uploaded: runs refuse it.
is_large_constant <- function(node) {
  data <- node$params$data
  node$op == "constant" && length(data) >= large_constant && (!is_integer(node$types[[1L]]@dtype) || !anyNA(data))
}

constant_text <- function(node) {
  type <- node$types[[1L]]
  sprintf("stablehlo.constant %s : %s", mlir_dense(node$params$data, type@dtype, type@shape), mlir_type(type))
}

primitive("constant", text = function(node, operands, scope) {
  if (length(node$params$data) == 1L) {
    return(constant_text(node))
  }
  if (is_large_constant(node)) {
    return(list(lines = character(), names = large_name(scope$shared, node)))
  }
  lines <- character()
  entry <- shared_constant(scope$block, node, function() {
    name <- fresh_name(scope)
    lines <<- sprintf("%s%s = %s", scope$indent, name, constant_text(node))
    name
  })
  list(lines = lines, names = entry$name)
})

# The large constants as lines in front of a text
large_lines <- function(scope) {
  as.character(lapply(scope$shared$entries, function(entry) {
    sprintf("%s%s = %s", scope$indent, entry$name, constant_text(entry$node))
  }))
}

# The large constants of a program that is going to run, on `device` or as `layout` says: for each its `type`, `data`,
# and what a run is given, `argument`.
uploaded_constants <- function(entries, device, layout) {
  place <- if (is.null(layout)) format(device) else layout$mesh$key
  lapply(entries, function(entry) {
    type <- entry$type
    data <- entry$node$params$data
    known <- known_constant(type, data, place)
    if (!is.null(known)) {
      return(known)
    }
    # What NA means in these dtypes was seen to when the constant was made.
    argument <- if (is.null(layout)) {
      pjrt_buffer(array_of(data, type@shape), type@dtype, device)
    } else {
      whole <- whole_spec(type)
      parts <- local_parts(layout$mesh, whole)
      local <- local_shape(whole, layout$mesh, type@shape)
      shards <- parts_on_devices(
        array_of(data, type@shape), type, layout$mesh, parts, local, first_of_same(parts)
      )
      if (mesh_size(layout$mesh) == 1L) shards[[1L]] else shards
    }
    list(type = type, data = data, place = place, argument = argument)
  })
}

array_of <- function(data, shape) {
  attributes(data) <- attributes(data)["class"]
  dim(data) <- shape
  data
}

# The same constant of another call that is kept: programs for derivatives have it, too.
known_constant <- function(type, data, place) {
  for (call in as.list(the$calls)) {
    for (known in call$constants) {
      if (known$place == place && identical(known$type, type) && is_same(known$data, data)) {
        return(known)
      }
    }
  }
}
