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

# The large constants as lines in front of a text
large_lines <- function(scope) {
  as.character(lapply(scope$shared$entries, function(entry) {
    sprintf("%s%s = %s", scope$indent, entry$name, constant_text(entry$node))
  }))
}
