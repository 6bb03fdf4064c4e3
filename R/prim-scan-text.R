# The text of loops of a known number of turns: StableHLO's `while`, whose carry has a counter, slices and stacks.

# A loop that counts, takes the slices and writes the stacks.
scan_text <- function(node, operands, scope) {
  p <- node$params
  index <- "tensor<i32>"
  line <- function(scope, ...) {
    name <- fresh_name(scope)
    c(name = name, line = sprintf("%s%s = stablehlo.%s", scope$indent, name, sprintf(...)))
  }
  number <- function(scope, x) line(scope, "constant dense<%d> : %s", x, index)
  inputs <- scan_inputs(node)
  own <- seq_len(p$carry)
  stacks <- beyond(node$types, p$carry)
  inner <- scope
  inner$indent <- paste0(scope$indent, "  ")

  zero <- number(scope, 0L)
  end <- if (p$counted) c(name = operands$count, line = character()) else number(scope, p$turns)
  empty <- lapply(stacks, function(type) {
    line(scope, "constant %s : %s", mlir_dense(if (type@dtype == "pred") FALSE else 0, type@dtype, type@shape),
      mlir_type(type)
    )
  })
  types <- c(list(new_type("i32", integer())), node$types)
  loop <- fresh_name(scope)
  names <- sprintf("%%loop%s_%d", sub("%", "", loop), seq_along(types) - 1L)
  before <- c(zero[["name"]], unlist(operands$start), vapply(empty, `[[`, "", "name"))

  more <- line(inner, "compare LT, %s, %s, SIGNED : (%s, %s) -> tensor<i1>", names[[1L]], end[["name"]], index, index)
  test <- more[["line"]]
  going <- more[["name"]]
  if (!is.null(p$stop)) {
    name_parameters(inner, p$stop$params, names[own + 1L])
    lines <- region_lines(inner, p$stop)
    both <- line(inner, "and %s, %s : tensor<i1>", going, value_name(p$stop$results[[1L]], inner))
    test <- c(test, lines, both[["line"]])
    going <- both[["name"]]
  }

  one <- number(inner, 1L)
  body <- one[["line"]]
  add <- function(...) {
    made <- line(inner, ...)
    body <<- c(body, made[["line"]])
    made[["name"]]
  }
  at <- names[[1L]]
  if (p$reverse) {
    last <- add("subtract %s, %s : %s", end[["name"]], one[["name"]], index)
    at <- add("subtract %s, %s : %s", last, at, index)
  }
  # The place of the turn in an array of so many axes
  starts <- function(rank) toString(c(at, rep(zero[["name"]], rank - 1L)))
  indices <- function(rank) toString(rep(index, rank))
  elements <- Map(function(name, x) {
    rank <- length(x@shape)
    cut <- new_type(x@dtype, c(1L, x@shape[-1L]))
    piece <- add(
      "dynamic_slice %s, %s, sizes = %s : (%s, %s) -> %s", name, starts(rank), sizes_text(cut@shape), mlir_type(x),
      indices(rank), mlir_type(cut)
    )
    add("reshape %s : (%s) -> %s", piece, mlir_type(cut), mlir_type(new_type(x@dtype, x@shape[-1L])))
  }, operands$slices, inputs$slices)
  name_parameters(inner, p$region$params, c(names[own + 1L], unlist(elements)))
  body <- c(body, region_lines(inner, p$region))
  results <- vapply(p$region$results, value_name, "", scope = inner)
  written <- Map(function(name, stack, type) {
    rank <- length(type@shape)
    cut <- new_type(type@dtype, c(1L, type@shape[-1L]))
    piece <- add("reshape %s : (%s) -> %s", name, mlir_type(new_type(type@dtype, type@shape[-1L])), mlir_type(cut))
    add(
      "dynamic_update_slice %s, %s, %s : (%s, %s, %s) -> %s", stack, piece, starts(rank), mlir_type(type),
      mlir_type(cut), indices(rank), mlir_type(type)
    )
  }, beyond(results, p$carry), beyond(names, p$carry + 1L), stacks)
  following <- add("add %s, %s : %s", names[[1L]], one[["name"]], index)

  list(
    names = sprintf("%s#%d", loop, seq_along(node$types)),
    lines = c(
      zero[["line"]], end[names(end) == "line"], vapply(empty, `[[`, "", "line"),
      sprintf(
        "%s%s:%d = stablehlo.while(%s) : %s", scope$indent, loop, length(types),
        paste(sprintf("%s = %s", names, before), collapse = ", "), toString(vapply(types, mlir_type, ""))
      ),
      paste0(scope$indent, "cond {"), test, return_line(inner, going, list(new_type("pred", integer()))),
      paste0(scope$indent, "} do {"), body,
      return_line(inner, c(following, results[own], unlist(written)), types), paste0(scope$indent, "}")
    )
  )
}

primitive("scan", text = function(node, operands, scope) scan_text(node, scan_inputs(node, as.list(operands)), scope))
