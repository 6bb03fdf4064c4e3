# A failing program becomes the smallest one that still fails in the same way: operands in the place of calls, data and
# numbers in the place of operands, then less data.

# A batch of candidates at a time; the rounds end when no smaller program fails.
shrunk_program <- function(code, data, problem, dtype, kinds, rounds = 25L) {
  for (round in seq_len(rounds)) {
    smaller <- failing(smaller_programs(code, data), data, problem, dtype, kinds)
    if (is.null(smaller)) break
    code <- smaller
  }
  data <- data[intersect(names(data), all.names(code))]
  for (round in seq_len(6L)) {
    found <- NULL
    for (candidate in smaller_data(data)) {
      if (!is.null(failing(list(code), candidate, problem, dtype, kinds))) {
        found <- candidate
        break
      }
    }
    if (is.null(found)) break
    data <- found
  }
  list(code = code, data = data)
}

# The first of the programs that fails as `problem` says.
failing <- function(codes, data, problem, dtype, kinds) {
  codes <- utils::head(codes, 150L)
  scopes <- lapply(c(0, 1, -1), rounding_scope, kinds)
  found <- lapply(codes, rounded_value, data, scopes)
  usable <- vapply(found, function(one) !is.null(one) && !length(one$kinds), NA)
  codes <- codes[usable]
  found <- found[usable]
  if (!length(codes)) {
    return(NULL)
  }
  outcomes <- batch_outcomes(codes, data, dtype)
  for (at in seq_along(codes)) {
    again <- outcome_problem(outcomes[[at]], found[[at]], dtype, codes[[at]])
    if (!is.null(again) && problem_class(again) == problem_class(problem)) {
      return(codes[[at]])
    }
  }
  NULL
}

# All programs that are smaller by one step, the smallest first.
smaller_programs <- function(code, data) {
  variants <- list()
  add <- function(path, piece) {
    smaller <- if (length(path)) `[[<-`(code, path, piece) else piece
    if (program_size(smaller) < program_size(code)) variants[[length(variants) + 1L]] <<- smaller
  }
  walk <- function(piece, path) {
    if (!is.call(piece)) {
      return()
    }
    head <- piece[[1L]]
    if (identical(head, quote(`function`))) {
      walk(piece[[3L]], c(path, 3L))
      return()
    }
    if (identical(head, quote(`<-`)) || identical(head, quote(`for`))) {
      for (at in seq_along(piece)[-(1:2)]) walk(piece[[at]], c(path, at))
      return()
    }
    for (at in seq_along(piece)[-1L]) {
      if (identical(piece[[at]], quote(expr = ))) next # nolint
      if (!identical(head, quote(`{`)) || at == length(piece)) add(path, piece[[at]])
      # One argument or statement less
      if (length(piece) > 2L) add(path, piece[-at])
    }
    if (is.call(head)) {
      walk(head, c(path, 1L))
    } else {
      for (name in names(data)) add(path, as.name(name))
      for (number in list(0, 1, 2, 1L)) add(path, number)
    }
    for (at in seq_along(piece)[-1L]) if (!identical(piece[[at]], quote(expr = ))) walk(piece[[at]], c(path, at)) # nolint
  }
  walk(code, integer())
  sizes <- vapply(variants, program_size, 0)
  unique(variants[order(sizes)])
}

program_size <- function(code) {
  if (is.call(code)) {
    # What is written in braces takes more room than a call.
    10 + sum(vapply(as.list(code), function(x) if (identical(x, quote(expr = ))) 0 else program_size(x), 0)) # nolint
  } else if (is.name(code)) {
    3
  } else {
    1
  }
}

smaller_data <- function(data) {
  candidates <- list()
  for (name in names(data)) {
    x <- data[[name]]
    # That an array is large may be what fails.
    if (length(x) > 1000L) next
    if (is.null(dim(x)) && length(x) > 1L) {
      # Vectors of one length stay so.
      same <- vapply(data, function(other) is.null(dim(other)) && length(other) == length(x), NA)
      candidates <- c(candidates, list(replace(data, same, lapply(data[same], utils::head, 1L))))
      candidates <- c(candidates, list(replace(data, same, lapply(data[same], utils::head, -1L))))
      candidates <- c(candidates, list(replace(data, same, lapply(data[same], utils::tail, -1L))))
    }
    rounder <- if (is.double(x)) ifelse(is.finite(x), sign(x) * pmax(round(abs(x)), 0.5), x) else x
    if (!identical(rounder, x)) {
      if (!is.null(dim(x))) dim(rounder) <- dim(x)
      candidates <- c(candidates, list(replace(data, name, list(rounder))))
    }
  }
  candidates
}

problem_class <- function(problem) gsub("[0-9]+", "0", substr(problem, 1L, 60L))

# The program as R code that can be pasted.
program_text <- function(program, dtype, problem) {
  data <- program$data
  lines <- sprintf("%s <- %s", names(data), vapply(data, literal_text, ""))
  names <- toString(names(data))
  arguments <- if (dtype == "f64") names else toString(sprintf("%s", vapply(names(data), single_text, "", data)))
  c(
    lines, sprintf("f <- function(%s) %s", names, paste(deparse(program$code, width.cutoff = 110L), collapse = "\n")),
    sprintf("f(%s)", names), sprintf("xlaffi::xla_jit(f)(%s)", arguments)
  )
}

literal_text <- function(x) {
  if (length(x) > 1000L) {
    return(sprintf("<%s of the batch: %s>", typeof(x), toString(if (is.null(dim(x))) length(x) else dim(x))))
  }
  text <- paste(deparse(as.vector(x), control = c("keepNA", "keepInteger", "digits17")), collapse = "")
  text <- gsub("(^|[^0-9.])-0([,)]|$)", "\\1-0\\2", text)
  if (is.null(dim(x))) text else sprintf("array(%s, c(%s))", text, toString(dim(x)))
}

single_text <- function(name, data) {
  type <- c(double = "f32", complex = "c64", integer = "i32", logical = "pred")[[typeof(data[[name]])]]
  sprintf("pjrt_buffer(%s, \"%s\")", name, type)
}
