# Programs of many small computations, such as a loop of R's over scalars that was written out. XLA's compiler takes
# time that grows with the third power of the length of such a row, or faster: it fuses each result with all that it is
# computed from, again in each of its users. So long rows are written as functions of at most `part_size` nodes, which
# XLA is told to leave apart, each as one piece of machine code. What the compiler is told besides stands beside its
# measurements in src/rust/crates/pjrt/src/options.rs.

part_size <- 256L

# Regions with fewer nodes are written as they are.
least_parted <- 512L

# Runs of fewer nodes are not worth a function.
least_part <- 16L

# Arrays of up to so many elements are small: nothing is gained by threads or by fused loops over them.
most_small <- 1024

part_attributes <- c(
  small = "{mhlo.frontend_attributes = {inlineable = \"false\", xla_cpu_small_call = \"true\"}}",
  large = "{mhlo.frontend_attributes = {inlineable = \"false\"}}"
)

# Kinds of nodes that go into functions
in_parts <- c(
  elementwise, "real", "imag", "abs", "complex", "convert", "bitcast_convert", "reshape", "broadcast_in_dim",
  "transpose", "concatenate", "dynamic_slice", "dynamic_update_slice", "pad", "slice", "constant", "iota", "reverse",
  "compare", "select"
)

# Collects the functions of a program; `small` says whether all that it computes is small and written out.
new_parts <- function() {
  parts <- new.env(parent = emptyenv())
  parts$count <- 0L
  parts$lines <- list()
  parts$small <- TRUE
  parts
}

# The kind of function that a node goes into; "" for none
part_kind <- function(node) {
  if (!node$op %in% in_parts) "" else if (is_small(node$types[[1L]])) "small" else "large"
}

is_small <- function(type) prod(type@shape) <= most_small

# Whether XLA's optimiser has nothing to gain at a node. Loops take as long as they take.
is_small_node <- function(node) {
  all(vapply(node$types, is_small, NA)) && (node$op %in% in_parts || (
    !node$op %in% c("while", "scan") && all(vapply(node$inputs, is_small, NA))
  ))
}

# Written where they are used, in each function: XLA's compiler ends the process over constants that go into one.
is_small_constant <- function(node) node$op == "constant" && !is_large_constant(node)

# The lines of nodes in their order, `results` being what is computed of them.
parted_lines <- function(scope, nodes, results) {
  # These have a name in front of everything else.
  large <- vapply(nodes, is_large_constant, NA)
  for (node in nodes[large]) node_lines(scope, node)
  nodes <- nodes[!large & !vapply(nodes, is_small_constant, NA)]
  last <- last_uses(nodes, results)
  lines <- lapply(part_runs(vapply(nodes, part_kind, "")), function(run) {
    here <- nodes[run]
    kind <- part_kind(here[[1L]])
    if (!nzchar(kind) || length(run) < least_part) {
      return(unlist(lapply(here, function(node) c(constant_lines(scope, node$inputs), node_lines(scope, node)))))
    }
    end <- run[[length(run)]]
    part_call(scope, here, Filter(function(node) last[[as.character(node$id)]] > end, here), kind)
  })
  c(unlist(lines), constant_lines(scope, results))
}

# Those constants among values that have no name yet
constant_lines <- function(scope, values) {
  lines <- character()
  for (value in values) {
    node <- resolved(value)@node
    if (is_small_constant(node) && is.null(scope$names[[as.character(node$id)]])) {
      lines <- c(lines, node_lines(scope, node))
    }
  }
  lines
}

# Neighbours of one kind, at most `part_size` of them, by number
part_runs <- function(kinds) {
  runs <- rle(kinds)$lengths
  ends <- cumsum(runs)
  unlist(Map(function(first, end) {
    numbers <- seq(first, end)
    unname(split(numbers, (numbers - first) %/% part_size))
  }, ends - runs + 1L, ends), recursive = FALSE)
}

# The number of the last node that uses what each node computes
last_uses <- function(nodes, results) {
  last <- new.env(parent = emptyenv())
  for (node in nodes) {
    last[[as.character(node$id)]] <- 0
  }
  for (i in seq_along(nodes)) {
    for (input in nodes[[i]]$inputs) {
      last[[as.character(resolved(input)@node$id)]] <- i
    }
  }
  for (value in results) {
    last[[as.character(resolved(value)@node$id)]] <- Inf
  }
  last
}

# Writes a function of `nodes`, which gives what `kept` compute, and gives the line that calls it.
part_call <- function(scope, nodes, kept, kind) {
  parts <- scope$parts
  parts$count <- parts$count + 1L
  name <- sprintf("@part%d", parts$count)
  inner <- new_scope("    ")
  arguments <- types <- list()
  lines <- lapply(nodes, function(node) {
    constants <- constant_lines(inner, node$inputs)
    for (input in node$inputs) {
      input <- resolved(input)
      id <- as.character(input@node$id)
      known <- inner$names[[id]]
      if (is.null(known)) known <- rep(NA_character_, length(input@node$types))
      if (is.na(known[[input@index]])) {
        arguments <<- c(arguments, value_name(input, scope))
        types <<- c(types, mlir_type(input))
        known[[input@index]] <- sprintf("%%arg%d", length(arguments) - 1L)
        inner$names[[id]] <- known
      }
    }
    c(constants, node_lines(inner, node))
  })
  results <- vapply(kept, function(node) inner$names[[as.character(node$id)]], "")
  given <- vapply(kept, function(node) mlir_type(node$types[[1L]]), "")
  parameters <- sprintf("%%arg%d: %s", seq_along(types) - 1L, as.character(types))
  parts$lines <- c(parts$lines, list(c(
    sprintf("  func.func private %s(%s) -> (%s) {", name, toString(parameters), toString(given)), unlist(lines),
    sprintf("    return %s : %s", toString(results), toString(given)), "  }"
  )))
  call <- fresh_name(scope)
  several <- length(kept) > 1L
  for (i in seq_along(kept)) {
    scope$names[[as.character(kept[[i]]$id)]] <- if (several) sprintf("%s#%d", call, i - 1L) else call
  }
  sprintf(
    "%s%s%s = func.call %s(%s) %s : (%s) -> (%s)", scope$indent, call, if (several) paste0(":", length(kept)) else "",
    name, toString(arguments), part_attributes[[kind]], toString(types), toString(given)
  )
}
