# Gradients and Hessians of many functions of `q` in one program, and what differences say of them.

# Functions of what `of` names among the data
random_functions <- function(count, data, of = "q", patterns = smooth_grammar, ends = smooth_ends,
                             casts = hole_casts) {
  maker <- program_maker(data, slope_differences, patterns, smooth_weights, casts)
  functions <- list()
  while (length(functions) < count) {
    part <- maker$grow(sample.int(3L, 1L))
    if (is.null(part) || !of %in% all.names(part$code) || !is.double(part$found$value)) next
    end <- ends[[sample.int(length(ends), 1L)]]
    code <- do.call(substitute, list(end, list(. = part$code)))
    if (nchar(paste(deparse(code), collapse = "")) < 300L) functions <- c(functions, list(code))
  }
  functions
}

function_of <- function(code, data) {
  f <- function(q) NULL
  body(f) <- code
  environment(f) <- list2env(c(data[names(data) != "q"], sparse_words), parent = globalenv())
  f
}

# A compiled function that gives for each function its value, gradient and, where `second` says so, Hessian; and a
# derivative along `along` by forward mode, or of the gradient by reverse mode. Failures are noted in `notes`.
slopes_program <- function(functions, second, along, notes) {
  one <- function(at, q) {
    f <- functions[[at]]
    tryCatch(
      {
        first <- xlaffi::xla_grad(f, value = TRUE)(q)
        again <- if (second[[at]]) {
          xlaffi::xla_grad(function(q) sum(xlaffi::xla_grad(f)(q) * along))(q)
        } else {
          xlaffi::xla_jvp(f)(q, along)$tangent
        }
        list(
          value = first$value, gradient = first$gradient, again = again,
          hessian = if (second[[at]]) xlaffi::xla_hessian(f)(q) else first$value
        )
      },
      error = function(e) {
        notes[[as.character(at)]] <- e
        internal <- xlaffi:::trace_state
        internal$undecided <- NULL
        list(value = 0, gradient = 0, again = 0, hessian = 0)
      }
    )
  }
  xlaffi::xla_jit(function(q, along) lapply(seq_along(functions), one, q))
}

# Extrapolated differences of `at(q)`, a vector or list of numbers: `slope`, one column for each element of q, and
# `error`, which is infinite where `q` is at a bend: there what both sides differ by falls as the step and not as its
# square.
differences_at <- function(at, q, step = 2e-3) {
  here <- at(q)
  columns <- lapply(seq_along(q), function(j) {
    sides <- function(h) {
      e <- replace(numeric(length(q)), j, h)
      above <- at(q + e)
      below <- at(q - e)
      list(slope = (above - below) / (2 * h), turn = abs(above - 2 * here + below) / h)
    }
    wide <- sides(step)
    near <- sides(step / 2)
    is_bend <- !is.na(near$turn) & near$turn > 1e-5 * pmax(1, abs(near$slope)) & near$turn > 0.8 * wide$turn
    error <- abs(near$slope - wide$slope)
    list(slope = (4 * near$slope - wide$slope) / 3, error = ifelse(is_bend, Inf, error))
  })
  list(slope = sapply(columns, function(x) x$slope), error = sapply(columns, function(x) x$error))
}

# What is wrong with one function's derivatives, NULL, or NA where differences say nothing: `slopes` at q, R's function,
# and the differences of its exact gradient.
slope_problem <- function(slopes, f, q, second, along, gradient_differences) {
  quiet <- function(q) suppressWarnings(tryCatch(as.vector(f(q)), error = function(e) NaN))
  value <- quiet(q)
  if (!is.finite(value) || abs(value) > 1e6) {
    return(NA_character_)
  }
  if (!isTRUE(abs(slopes$value - value) <= 1e-8 * max(1, abs(value)))) {
    return("value")
  }
  found <- differences_at(quiet, q)
  size <- max(1, abs(found$slope))
  # A jump or a bend is near, or the function is too steep.
  if (anyNA(found$slope) || max(found$error) > 1e-3 * size || size > 1e5) {
    return(NA_character_)
  }
  off <- max(abs(slopes$gradient - found$slope))
  if (!isTRUE(off <= 1e-6 * size + 0.3 * max(found$error))) {
    return("gradient")
  }
  if (!second) {
    return(if (!isTRUE(abs(slopes$again - sum(slopes$gradient * along)) <= 1e-8 * size)) "forward mode")
  }
  size <- max(1, abs(gradient_differences$slope))
  if (anyNA(gradient_differences$slope) || max(gradient_differences$error) > 1e-3 * size || size > 1e5) {
    return(NA_character_)
  }
  if (!isTRUE(max(abs(slopes$hessian - t(slopes$hessian))) <= 1e-8 * size)) {
    return("Hessian is not symmetric")
  }
  off <- max(abs(slopes$hessian - gradient_differences$slope))
  if (!isTRUE(off <= 1e-5 * size + 0.3 * max(gradient_differences$error))) {
    return("Hessian")
  }
  if (!isTRUE(max(abs(slopes$hessian %*% along - slopes$again)) <= 1e-8 * size)) "reverse mode twice"
}

# The problems of many functions at data$q: texts, NULL for none, NA where nothing can be said
slope_problems <- function(codes, data, second) {
  functions <- lapply(codes, function_of, data)
  notes <- new.env()
  along <- c(0.5, -1, 0.25, 2)[seq_along(data$q)]
  program <- slopes_program(functions, second, along, notes)
  at_point <- function(q) tryCatch(program(q, along), error = identity)
  here <- at_point(data$q)
  if (inherits(here, "condition")) {
    if (length(codes) == 1L) {
      return(list(conditionMessage(here)))
    }
    half <- seq_along(codes) <= length(codes) / 2
    return(c(slope_problems(codes[half], data, second[half]), slope_problems(codes[!half], data, second[!half])))
  }
  gradients <- function(q) vapply(at_point(q), function(x) rep_len(x$gradient, length(q)), numeric(length(q)))
  if (any(second)) moved <- differences_at(gradients, data$q)
  lapply(seq_along(codes), function(at) {
    failure <- notes[[as.character(at)]]
    if (!is.null(failure)) {
      return(condition_problem(failure))
    }
    rows <- (at - 1L) * length(data$q) + seq_along(data$q)
    own <- if (second[[at]]) lapply(moved, function(x) x[rows, , drop = FALSE])
    slope_problem(here[[at]], functions[[at]], data$q, second[[at]], along, own)
  })
}

# The smallest function that has the same problem; `problems_of` gives those of many.
shrunk_function <- function(code, data, problem, problems_of) {
  for (round in 1:20) {
    smaller <- utils::head(smaller_programs(code, data), 60L)
    fits <- vapply(smaller, function(code) {
      value <- tryCatch(suppressWarnings(function_of(code, data)(data$q)), error = function(e) NULL)
      is.double(value) && length(value) == 1L && "q" %in% all.names(code)
    }, NA)
    smaller <- smaller[fits]
    if (!length(smaller)) break
    problems <- problems_of(smaller)
    same <- vapply(problems, is_same_problem, NA, problem)
    if (!any(same)) break
    code <- smaller[[which(same)[[1L]]]]
  }
  code
}

is_same_problem <- function(other, problem) {
  length(other) && !is.na(other) && problem_class(other) == problem_class(problem)
}
