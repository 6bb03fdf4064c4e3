# What xla_objective() computes: programs of one vector of parameters and the data, and the last point.

# `identity` tells whether the session is the one in which the data were uploaded: R saves external pointers as NULL.
# `optimum` is where the random effects were found last, from which the next search begins.
new_points <- function(f, template, layout, data, negate, dtype, form, call) {
  types <- argument_types(data, call)
  # Compiled functions are found by their arguments fastest where these are no lists.
  shape <- tree_map(data, function(leaf) TRUE)
  labels <- lapply(tree_leaves(data), data_labels)
  traced <- function(parameters, ...) {
    values <- Map(labelled, list(...), labels)
    objective_vector(f, formed_parameters(template, form, parameters), tree_fill(shape, unname(values)), negate)
  }
  self <- list2env(list(
    f = f, template = template, layout = layout, data = data, types = types, negate = negate, dtype = dtype,
    form = form, names = names(layout$start), size = length(layout$start), traced = traced,
    values = 0L, slopes = 0L, hessians = 0L, identity = NULL, mode = NULL, calls = list()
  ), parent = emptyenv())
  self$vector <- with_kept_graph(self)
  recount(self)
  self
}

# The points of an objective with other data, which has the same programs where these are of the same kind.
updated_points <- function(self, data, call) {
  labels <- function(data) lapply(tree_leaves(data), data_labels)
  if (!identical(argument_types(data, call), self$types) || !identical(labels(data), labels(self$data))) {
    return(new_points(self$f, self$template, self$layout, data, self$negate, self$dtype, self$form, call))
  }
  new <- list2env(as.list(self), parent = emptyenv())
  none <- list(data = data, values = 0L, slopes = 0L, hessians = 0L, calls = list())
  list2env(none, new)
  session <- c("identity", "buffers", "x", "value", "slope", "hessian", "optimum", "again", "begun")
  for (name in session) new[[name]] <- NULL
  # Where random effects act may depend on the data.
  if (!is.null(new$plan) && !identical(new$facts$of(new), new$facts$found)) recount(new)
  new
}

# `f` of the parameters in their form. Its result as a vector in R's order
objective_vector <- function(f, par, data, negate) {
  result <- call_given(f, c(first_argument(f, par), data), "xla_objective")
  leaves <- tree_leaves(result)
  if (is_branch(result) && length(leaves) != 1L) {
    abort(sprintf("xla_objective: `f` must return one value, not a list of %d", length(leaves)),
      operand = "f", call = NULL
    )
  }
  if (!length(leaves)) {
    abort("xla_objective: `f` must return a number or numbers, not NULL", operand = "f", call = NULL)
  }
  value <- as_doubles(as_value(leaves[[1L]], "f", call = NULL))
  if (!is_float(value@dtype) || !length(value)) {
    abort(sprintf("xla_objective: `f` must return a real number or real numbers, not %s", type_text(value)),
      operand = "f", call = NULL
    )
  }
  value <- as_column(converted(value, tree_leaves(par)[[1L]]@dtype))
  if (negate) -value else value
}

# Parameters in their form, of one value or of what whole_parameters() gives
parameters <- function(template, all) {
  if (is_value(all)) all <- parameter_columns(template, all)
  number <- 0L
  tree_map(template, function(leaf) {
    number <<- number + 1L
    labelled(from_column(all[[number]], r_shape(leaf)), data_labels(leaf))
  })
}

# One for each leaf, of a vector of all parameters
parameter_columns <- function(template, all) {
  sizes <- lengths(tree_leaves(template))
  Map(function(end, size) sliced(all, end - size + 1L, end), cumsum(sizes), sizes)
}

# The trace of a function of vectors of the given sizes and the data
traced_objective <- function(self, sizes, f) {
  data <- lapply(tree_leaves(self$types), function(type) new_type(data_dtype(type@dtype, self$dtype), type@shape))
  trace_program(f, c(lapply(sizes, new_type, dtype = self$dtype), data), mesh = mesh_of_data(self$data))
}

data_dtype <- function(dtype, chosen) {
  if (chosen == "f64") dtype else switch(dtype, f64 = "f32", c128 = "c64", dtype)
}

# Each gives one vector: values, then derivatives by columns. One read-back for both.
objective_programs <- function(self) {
  layout <- self$layout
  whole <- self$vector
  vector <- function(theta, ...) whole(whole_parameters(layout, theta), ...)
  compiled <- function(program) new_jit(program, "objective", uses = list(self$f), varies = 1L)
  both <- function(slopes) {
    count <- self$count
    compiled(function(theta, ...) {
      at <- slopes(function(theta) vector(theta, ...), theta, count)
      concatenated(list(at$value, as_column(at$slope)), 1L, NULL)
    })
  }
  second <- function(slopes) {
    compiled(function(theta, ...) {
      slope <- function(theta) as_column(slopes(function(theta) vector(theta, ...), theta, 1L)$slope)
      as_column(forward_slopes(slope, theta)$slope)
    })
  }
  list(
    value = compiled(vector), reverse = both(reverse_slopes), forward = both(forward_slopes),
    reverse_hessian = second(reverse_slopes), forward_hessian = second(forward_slopes)
  )
}

# Runs a program at the point and gives its vector.
run_point <- function(self, program) {
  if (length(self$layout$effects)) run_marginal(self, program) else run_numbers(self, program, self$x)
}

# ... for a vector of numbers and the data: at once where it is known from another point
run_numbers <- function(self, program, numbers) {
  # Data are uploaded again in another session.
  if (!isTRUE(.Call(wrap__identity_is_here, self$identity))) upload_data(self)
  # What `f` reads has been compared when the point was gone to.
  call <- self$calls[[program]]
  if (!is.null(call) && is.null(call$program$forgotten)) {
    result <- run_again(call, c(list(numbers), self$buffers), read = TRUE)
    return(if (is.null(attributes(result))) result else as.vector(result))
  }
  compiled <- self$programs[[program]]
  arguments <- c(list(pjrt_buffer(numbers, self$dtype, self$device)), self$buffers)
  result <- as.vector(as_array(do.call(compiled, arguments)))
  self$calls[[program]] <- known_call(compiled, arguments)
  result
}

upload_data <- function(self) {
  leaves <- tree_leaves(self$data)
  buffers <- Filter(function(leaf) inherits(leaf, "xlaffi_buffer"), leaves)
  mesh <- mesh_of_data(leaves)
  self$device <- if (!is.null(mesh)) {
    mesh$devices[[mesh$local[[1L]]]]
  } else if (length(buffers)) {
    device(buffers[[1L]])
  } else {
    synchronous_device()
  }
  self$buffers <- Map(function(leaf, label) {
    if (is_on_device(leaf)) {
      return(if (is.null(mesh) || is_sharded(leaf)) leaf else xla_shard(leaf, mesh))
    }
    dtype <- data_dtype(r_dtype(leaf), self$dtype)
    # Of doubles NA is NaN; nothing else has a place for it.
    check <- is.object(leaf) || !is.double(leaf)
    problem <- if (check) na_problem(leaf, dtype)
    if (!is.null(problem)) {
      abort(sprintf("xla_objective: %s among the data %s", label, problem), operand = "...", call = NULL,
        hint = na_hint(leaf)
      )
    }
    if (is.null(mesh)) {
      pjrt_buffer(leaf, dtype, self$device, check = check)
    } else {
      xla_shard(leaf, mesh, dtype = dtype, check = check)
    }
  }, leaves, labels_of_data(self))
  self$identity <- .Call(wrap__identity_new)
  self$calls <- list()
  self$again <- NULL
}

# What messages call the data that each leaf belongs to
labels_of_data <- function(self) leaf_labels(stats::setNames(self$data, data_names(self)))

# A sentence about doubles among the data, R's or of sparse matrices, that are no finite numbers; NULL for none
about_data <- function(self) {
  odd <- vapply(tree_leaves(self$data), function(leaf) {
    is.double(leaf) && !is.object(leaf) && !all(is.finite(leaf))
  }, NA)
  labels <- unique(labels_of_data(self)[odd])
  if (length(labels)) sprintf("NaN or infinite numbers are among the data: %s.", toString(labels))
}

# Where what `f` reads has changed, there are other programs, and nothing is known of the point.
notice_changes <- function(self) {
  if (changed(self$captured)) {
    recount(self)
    self$mode <- self$x <- self$again <- NULL
    self$calls <- list()
  }
}

# Goes to the point `x`, which forgets what is known of another one, and of another program.
go_to <- function(self, x, call) {
  if (!is.double(x) || !is.null(attributes(x)) || length(x) != self$size) x <- check_point(self, x, call)
  notice_changes(self)
  if (!identical(self$x, x, num.eq = FALSE, single.NA = FALSE)) {
    # A copy: samplers and optimisers in C, as that of mcmc, write the next point into the same vector.
    self$x <- c(x)
    self$value <- self$slope <- self$hessian <- self$begun <- NULL
  }
}

point_value <- function(self, x, call = rlang::caller_env()) {
  go_to(self, x, call)
  if (is.null(self$value) && self$count == 1L) {
    compute_slope(self)
  }
  if (is.null(self$value)) {
    self$value <- run_point(self, "value")
    self$values <- self$values + 1L
  }
  self$value
}

# The Jacobian. Where the value is finite, so it must be: optimisers do not look.
point_slope <- function(self, x, call = rlang::caller_env()) {
  go_to(self, x, call)
  slope <- slope_here(self, call)
  matrix(slope, ncol = self$size, dimnames = if (!is.null(self$names)) list(NULL, self$names))
}

# ... as a vector of its columns
slope_here <- function(self, call) {
  if (is.null(self$slope)) compute_slope(self)
  if (is.null(self$slope)) stop(self$failure)
  if (!all(is.finite(self$slope))) check_finite_slope(self, self$slope, "gradient", call)
  self$slope
}

point_gradient <- function(self, x, call = rlang::caller_env()) {
  go_to(self, x, call)
  if (self$count != 1L) check_one_number(self, "gr", call)
  slope <- slope_here(self, call)
  if (!is.null(self$names)) names(slope) <- self$names
  slope
}

point_hessian <- function(self, x, call = rlang::caller_env()) {
  go_to(self, x, call)
  check_one_number(self, "he", call)
  slope_here(self, call)
  if (is.null(self$hessian)) {
    known <- !is.na(self$value)
    second <- if (known) run_point(self, paste0(self$mode, "_hessian")) else NaN
    self$hessian <- matrix(second, self$size, self$size, dimnames = if (!is.null(self$names)) rep(list(self$names), 2L))
    self$hessians <- self$hessians + known
    if (known) warn_rounded(self)
  }
  check_finite_slope(self, self$hessian, "Hessian", call)
  self$hessian
}

# The value and its Jacobian, as a vector of its columns, by the first mode that goes through `f`. Where none does they
# stay unknown.
compute_slope <- function(self) {
  mode <- self$mode
  if (is.null(mode)) {
    both <- find_mode(self)
    mode <- self$mode
  } else if (mode != "none") {
    both <- if (is.null(self$begun)) run_point(self, mode) else end_point(self)
  }
  if (mode != "none") {
    self$again <- known_point(self)
    values <- seq_len(self$count)
    self$value <- value <- both[values]
    self$slope <- both[-values]
    # Optimisers take a slope of 0 for the end of the search.
    if (anyNA(value)) self$slope[rep_len(is.na(value), length(self$slope))] <- NaN
    self$slopes <- self$slopes + 1L
  }
}

# What wrap__point_again needs for the next point; NULL where there is more to be done.
known_point <- function(self) {
  call <- self$calls[[self$mode]]
  more <- c(self$layout$effects, call$layout, call$present, self$captured$reads)
  if (is.null(call) || call$form != "one" || self$count != 1L || length(more)) {
    return(NULL)
  }
  fixed <- c(self$buffers, terms_of(call$terms, c(list(NULL), self$buffers)), call$hidden)
  list(
    self$size, self$names, self$captured$variables, self$captured$search, call$program$executable, call$dtypes,
    call$device, fixed, call
  )
}

# The end of a run that wrap__point_again has begun
end_point <- function(self) {
  begun <- self$begun
  self$begun <- NULL
  as.vector(ended(begun, c(list(self$x), self$buffers), read = TRUE))
}

find_mode <- function(self) {
  tall <- self$count > 1L && self$size <= self$count
  # Random effects have a program for reverse mode alone.
  for (mode in intersect(if (tall) c("forward", "reverse") else c("reverse", "forward"), names(self$programs))) {
    both <- tryCatch(run_point(self, mode), xlaffi_error_unimplemented = function(error) error)
    if (is.numeric(both)) {
      self$mode <- mode
      return(both)
    }
    self$failure <- both
  }
  self$mode <- "none"
}

# How many there have been; a gradient comes with its value.
evaluations <- function(self) {
  c(value = self$values + self$slopes, gradient = self$slopes, hessian = self$hessians)
}

# All parameters in their form, with the random effects at their optimum
point_parameters <- function(self, x, call = rlang::caller_env()) {
  x <- check_point(self, x, call, "x")
  effects <- if (length(self$layout$effects)) effects_here(self, x, call)
  free <- from_vector(self$template, whole_parameters(self$layout, x, effects))
  if (is.null(self$form)) free else natural_parameters(self, x, free)
}
