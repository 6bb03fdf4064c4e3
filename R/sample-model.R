# What is sampled: the logarithm of a density of one vector q, and the numbers that are kept of each draw.

# `density(q, data)` gives a scalar, `parameters(q)` the parameters in their form, and `unconstrain` of those of R q.
# `start` is q around which chains begin, `names` are those of the variables.
new_sample_model <- function(f, template, start, density, parameters, unconstrain, data, types, dtype) {
  list(
    f = f, template = template, start = unname(start), size = length(start), density = density,
    parameters = parameters, unconstrain = unconstrain, data = data, types = types, dtype = dtype,
    names = variable_names(template)
  )
}

# A function of parameters and data
model_of_function <- function(f, start, data, constraints, call) {
  check_template(start, "start", call)
  check_no_integers(start, call)
  template <- tree_map(start, as_doubles_of_r)
  lost <- which(!is.finite(as.double(unlist(template))))
  if (length(lost)) {
    abort(sprintf("`start` must be finite, which %s is not", toString(variable_names(template)[lost], width = 60)),
      operand = "start", call = call
    )
  }
  data <- tree_map(data, program_data)
  types <- argument_types(data, call)
  check_takes(f, c(list(template), data), "xla_sample", "f", call)
  free <- constrained(constraints, template, "start", call)
  density <- function(q, data) {
    at <- free$constrain(q)
    scalar_density(call_given(f, c(first_argument(f, at$par), data), "xla_sample")) + at$log_jacobian
  }
  new_sample_model(
    f, template, free$unconstrain(template, call), density, function(q) free$constrain(q)$par, free$unconstrain, data,
    types, "f64"
  )
}

# An objective, minus the logarithm of a density up to its sign. Random effects are parameters like others.
model_of_objective <- function(objective, par, constraints, call) {
  self <- environment(objective$fn)$self
  if (!is.null(constraints)) {
    abort("`constraints` go with a function, not with an objective", operand = "constraints", call = call,
      hint = "`xla_objective(constraints = )` makes objectives with constraints."
    )
  }
  if (self$count != 1L) {
    abort(sprintf("xla_sample: the objective must give one number, not %d", self$count), operand = "f", call = call)
  }
  notice_changes(self)
  layout <- self$layout
  size <- length(layout$start)
  effects <- length(layout$effects)
  whole <- function(q) {
    if (!effects) return(whole_parameters(layout, q))
    own <- if (is_value(q)) split_vector(q, size) else list(theta = q[seq_len(size)], u = q[-seq_len(size)])
    whole_parameters(layout, own$theta, own$u)
  }
  vector <- function(data) function(q) do.call(self$vector, c(list(whole(q)), tree_leaves(data)))
  form <- self$form
  if (!is.null(form)) check_unshared(self, call)
  density <- function(q, data) {
    value <- vector(data)(q)
    if (length(value) != 1L) {
      abort(sprintf("xla_sample: the objective must give one number, not %d", length(value)),
        operand = "f", call = NULL
      )
    }
    log_jacobian <- if (!is.null(form)) form$from_parts(free_parts(self$template, whole(q)))$log_jacobian else 0
    log_jacobian - reshaped(value, integer())
  }
  start <- if (is.null(par)) c(layout$start, layout$effects) else par
  unconstrain <- function(x, call, given = NULL) {
    all <- if (is.null(form)) template_vector(x) else form$unconstrain(x, call, given)
    if (is.null(layout$at)) all else all[match(seq_len(size + effects), layout$at)]
  }
  template <- if (is.null(form)) self$template else form$template
  new_sample_model(
    self$f, template, start, density, function(q) formed_parameters(self$template, form, whole(q)), unconstrain,
    self$data, self$types, self$dtype
  )
}

# The Jacobian has each number once.
check_unshared <- function(self, call) {
  at <- self$layout$at
  if (is.null(at)) {
    return(invisible())
  }
  constrained <- rep(!vapply(self$form$constraints, is.null, NA), self$form$sizes)
  own <- at[constrained & at <= self$size]
  if (anyDuplicated(own)) {
    abort("xla_sample: `map` of the objective shares parameters that have constraints", "UNIMPLEMENTED",
      operand = "f", call = call, hint = "`f` can repeat one parameter instead."
    )
  }
}

as_doubles_of_r <- function(leaf) {
  storage.mode(leaf) <- "double"
  leaf
}

# A number of R's that is an integer or a logical says that nothing between is meant.
check_no_integers <- function(start, call) {
  leaves <- tree_leaves(start)
  whole <- !vapply(leaves, is.double, NA)
  if (!any(whole)) {
    return(invisible())
  }
  abort(sprintf("`start` must be doubles, as parameters are continuous, not %s", typeof(leaves[[which(whole)[[1L]]]])),
    operand = "start", call = call,
    hint = "Write `0` and not `0L`; discrete parameters have to be summed out of the density."
  )
}

# What `f` gave as a scalar
scalar_density <- function(result) {
  leaves <- tree_leaves(result)
  value <- if (length(leaves) == 1L) as_value(leaves[[1L]], "f", call = NULL)
  if (is.null(value) || !is_float(value@dtype) || length(value) != 1L) {
    shown <- if (is.null(value)) sprintf("%d values", length(leaves)) else type_text(value)
    abort(sprintf("xla_sample: `f` must return one real number, the logarithm of a density, not %s", shown),
      operand = "f", call = NULL,
      hint = if (!is.null(value) && is_float(value@dtype)) "`sum()` adds up the terms of several observations."
    )
  }
  reshaped(value, integer())
}

# The function of the program that gives the density's value and gradient: by reverse mode, or by forward mode where the
# density has loops without a known number of turns.
density_and_gradient <- function(density) {
  function(q) {
    at <- function(q) reshaped(converted(density(q), q@dtype), 1L)
    found <- tryCatch(reverse_slopes(at, q, 1L), xlaffi_error_unimplemented = function(error) {
      tryCatch(forward_slopes(at, q), xlaffi_error_unimplemented = function(second) stop(error))
    })
    list(value = reshaped(found$value, integer()), gradient = reshaped(found$slope, length(q)))
  }
}

# What is kept of a draw: the parameters, then what `generated` gives, as doubles in a row. `seen` gets the form of
# that.
kept_numbers <- function(model, generated, data, seen) {
  in_row <- function(tree) lapply(tree_leaves(tree), function(x) as_f64(as_column(as_doubles(x))))
  function(q, key) {
    par <- model$parameters(q)
    rows <- in_row(par)
    if (!is.null(generated)) {
      result <- call_given(generated, given_generated(generated, par, data, key), "xla_sample", "generated")
      check_dense_parts(result)
      result <- tree_map(if (is_branch(result)) result else list(generated = result), generated_value)
      seen$form <- tree_map(result, function(x) if (length(x@shape) > 1L) array(0, x@shape) else numeric(length(x)))
      check_new_names(variable_names(seen$form), model$names)
      rows <- c(rows, in_row(result))
    }
    joined(rows)
  }
}

given_generated <- function(generated, par, data, key = NULL) {
  c(first_argument(generated, par), data, if ("key" %in% formal_names(generated)) list(key = key))
}

check_dense_parts <- function(x) {
  if (is_branch(x)) {
    lapply(x, check_dense_parts)
  } else if (is_sparse(x)) {
    abort(sprintf("xla_sample: `generated` must return numbers, not %s", format(x)), operand = "generated", call = NULL,
      hint = "`hlo_nonzeros()` of it has the entries, `as.matrix()` all elements."
    )
  }
}

# Variables of draws are asked for by the names of parts.
check_new_names <- function(names, known) {
  parts <- function(names) unique(sub("\\[.*", "", names))
  both <- intersect(parts(names), parts(known))
  if (length(both)) {
    abort(sprintf("xla_sample: `generated` returns `%s`, which is the name of a parameter", both[[1L]]),
      operand = "generated", call = NULL
    )
  }
}

generated_value <- function(x) {
  x <- as_doubles(as_value(x, "generated", call = NULL))
  if (!is_float(x@dtype)) {
    x <- if (is_integer(x@dtype)) converted(x, "f64") else abort(
      sprintf("xla_sample: `generated` must return real numbers, not %s", type_text(x)), operand = "generated",
      call = NULL
    )
  }
  x
}
