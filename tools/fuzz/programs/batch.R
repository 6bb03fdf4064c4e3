# Runs many programs as one: each as a result of its own, or the condition that it ended with.

# `codes` are calls over `data`; dtype "f64" takes R's data as they are, "f32" has them in single precision.
batch_outcomes <- function(codes, data, dtype = "f64") {
  outcomes <- vector("list", length(codes))
  failed <- logical(length(codes))
  none <- logical(length(codes))
  home <- list2env(sparse_words, parent = globalenv())
  home$attempt <- function(at, value) {
    tryCatch(
      {
        force(value)
        if (is.null(value)) none[at] <<- TRUE
        if (is.null(value) || is.character(value)) 0 else value
      },
      error = function(e) {
        failed[at] <<- TRUE
        outcomes[[at]] <<- e
        # What could not be decided would end the trace.
        notes <- xlaffi:::trace_state
        notes$undecided <- NULL
        0
      }
    )
  }
  attempts <- lapply(seq_along(codes), function(at) bquote(attempt(.(at), (function() .(codes[[at]]))())))
  formals <- stats::setNames(rep(alist(x = ), length(data)), names(data)) # nolint
  f <- as.function(c(formals, list(as.call(c(quote(list), attempts)))), envir = home)
  # What fails while it runs may tell it only where results are read.
  results <- tryCatch(lapply(do.call(xlaffi::xla_jit(f), batch_data(data, dtype)), read_outcome), error = identity)
  if (inherits(results, "condition")) {
    if (length(codes) == 1L) {
      return(list(results))
    }
    half <- seq_along(codes) <= length(codes) / 2
    return(c(batch_outcomes(codes[half], data, dtype), batch_outcomes(codes[!half], data, dtype)))
  }
  outcomes[!failed] <- results[!failed]
  outcomes[none & !failed] <- list(NULL)
  outcomes
}

# Runs `code` with all programs compiled as `kind` says, "long" or "short" (R/trace-kind.R).
compiled_as <- function(kind, code) {
  bounds <- c("least_long", "least_row")
  set <- function(values) Map(utils::assignInNamespace, bounds, values, "xlaffi")
  on.exit(set(before))
  before <- mget(bounds, asNamespace("xlaffi"))
  set(if (kind == "long") list(1L, 1L) else list(.Machine$integer.max, before$least_row))
  force(code)
}

batch_data <- function(data, dtype) {
  if (dtype == "f64") {
    return(data)
  }
  types <- c(double = "f32", complex = "c64", integer = "i32", logical = "pred")
  lapply(data, function(x) xlaffi::pjrt_buffer(x, types[[typeof(x)]]))
}

read_outcome <- function(x) {
  if (!inherits(x, "xlaffi_buffer")) {
    return(x)
  }
  value <- xlaffi::as_array(x)
  if (length(dim(value)) < 2L) dim(value) <- NULL
  value
}

# What of `outcome` is not what R found: one word, or NULL. `found` is rounded_value()'s.
outcome_problem <- function(outcome, found, dtype = "f64", code = NULL) {
  expected <- found$value
  if (inherits(outcome, "condition")) {
    return(condition_problem(outcome))
  }
  if (!is.atomic(outcome) || is.null(outcome)) {
    return("other data")
  }
  if (length(dim(expected)) == 1L) dim(expected) <- NULL
  if (!is.null(names(outcome)) || !is.null(dimnames(outcome))) {
    return("names")
  }
  if (!identical(dim(outcome), dim(expected)) || length(outcome) != length(expected)) {
    return("dims")
  }
  if (typeof(outcome) != typeof(expected)) {
    return("type")
  }
  if (!is.double(expected) && !is.complex(expected)) {
    return(if (!identical(as.vector(outcome), as.vector(expected))) "value")
  }
  signs <- !any(zero_signs %in% all.names(code))
  number_problem(as.vector(outcome), as.vector(expected), found$spread, dtype, signs)
}

number_problem <- function(outcome, expected, spread, dtype, signs) {
  if (is.complex(expected)) {
    sides <- list(number_problem(Re(outcome), Re(expected), spread, dtype, FALSE),
      number_problem(Im(outcome), Im(expected), spread, dtype, FALSE))
    problem <- unlist(sides)
    # Half of a number that is large beside its other half is known less well.
    close <- Mod(outcome - expected) <= tolerated(Mod(expected), spread, dtype)
    return(if (length(problem) && !(all(problem == "value") && isTRUE(all(close)))) problem[[1L]])
  }
  if (!identical(is.na(outcome), is.na(expected))) {
    return("NaN")
  }
  known <- !is.na(expected)
  infinite <- known & is.infinite(expected)
  if (!identical(outcome[infinite], expected[infinite]) || any(is.infinite(outcome[known & !infinite]))) {
    return("infinite")
  }
  finite <- known & !infinite
  if (any(abs(outcome - expected)[finite] > tolerated(abs(expected), spread, dtype)[finite])) {
    return("value")
  }
  zero <- finite & expected == 0 & outcome == 0 & spread == 0
  if (signs && any(1 / outcome[zero] != 1 / expected[zero])) "sign of zero"
}

tolerated <- function(size, spread, dtype) {
  if (dtype == "f32") 2e-4 * size + 20 * spread + 1e-12 else 1e-9 * size + 1e-7 * spread + 1e-300
}

# A refusal of the list, NULL, or what the error is.
condition_problem <- function(condition) {
  message <- gsub("[[:space:]]+", " ", gsub("\033\\[[0-9;]*m", "", conditionMessage(condition)))
  if (!inherits(condition, "xlaffi_error")) {
    return(paste("error of others:", message))
  }
  if (is.na(refusal_kind(message))) {
    paste("refusal:", message)
  }
}

refusal_kind <- function(message) {
  at <- which(vapply(refusals, function(kind) grepl(kind$message, message), NA))
  if (length(at)) names(refusals)[[at[[1L]]]] else NA_character_
}
