# The objective of what is left when random effects are integrated out: its programs, and its points.

check_laplace <- function(data, dtype, call) {
  if (dtype != "f64") {
    abort("`random` needs `dtype = \"f64\"`: the search for the random effects needs its digits",
      operand = "dtype", call = call
    )
  }
  if (!is.null(mesh_of_data(tree_leaves(data)))) {
    abort("`random`: the data must not be sharded: the factor of the random effects is one device's", "UNIMPLEMENTED",
      operand = "random", call = call
    )
  }
}

# The function of theta and u for given data
joint_of <- function(self, data) {
  layout <- self$layout
  whole <- self$vector
  function(theta, u) reshaped(do.call(whole, c(list(whole_parameters(layout, theta, u)), data)), integer())
}

# What the programs of the approximation need: the plan of the Hessian, and the `facts` of the data that it rests on.
traced_marginal <- function(self) {
  q <- length(self$layout$effects)
  graph <- data <- NULL
  traced_objective(self, self$size + q, function(all, ...) {
    own <- split_vector(all, self$size)
    joint <- joint_of(self, list(...))
    value <- self$vector(whole_parameters(self$layout, own$theta, own$u), ...)
    if (length(value) != 1L) {
      abort(sprintf("xla_objective: with `random` `f` must return one number, not %d", length(value)),
        operand = "f", call = NULL
      )
    }
    graph <<- derivative_graph(slope_by_effects(joint, own$theta), own$u)
    data <<- list(...)
    value
  })
  facts <- known_of_data(self, graph, data)
  plan <- hessian_plan(graph, facts$known)
  check_plan(self, plan)
  list(count = 1L, facts = facts$facts, plan = plan)
}

split_vector <- function(all, size) {
  list(theta = sliced(all, 1L, size), u = sliced(all, size + 1L, length(all)))
}

# Every random effect must matter, by itself and not only beside others.
check_plan <- function(self, plan) {
  pattern <- plan$pattern
  there <- pattern$i[pattern$i == pattern_columns(pattern)] + 1L
  missing <- setdiff(seq_along(self$layout$effects), there)
  if (length(missing)) {
    names <- names(self$layout$effects)
    shown <- if (is.null(names)) missing else names[missing]
    shown <- if (length(shown) > 5L) c(utils::head(shown, 5L), "...") else shown
    abort(
      sprintf(
        "xla_objective: `f` has no second derivative by %d of %d random effects: %s", length(missing), length(there) +
          length(missing), toString(shown)
      ),
      operand = "random", call = NULL,
      hint = "Each random effect needs a density, such as `dnorm(u, 0, sd, log = TRUE)`, and must be used."
    )
  }
}

# Where the second derivative has entries may rest on numbers among the data, such as those that tell which group a row
# belongs to, or a matrix's zeros: those are computed here, as the dependence of the graph asks for them.
known_of_data <- function(self, graph, data) {
  wanted <- list()
  ask <- function(value) {
    found <- known_constants(value)
    if (is.null(found)) wanted[[value_key(value)]] <<- value
    found
  }
  if (!is.null(graph$change)) {
    all <- list(rep(1L, length(graph$direction)))
    dependence_graph(list(graph$change), list(graph$direction), all, new_sets(1L), ask)
  }
  keys <- vapply(data, value_key, "")
  wanted <- Filter(function(value) rests_on_data(value, keys), wanted)
  facts <- if (length(wanted)) lapply(computed_of_data(self, wanted, data), fact_of)
  names(facts) <- names(wanted)
  known <- function(value) {
    found <- known_constants(value)
    if (is.null(found)) facts[[value_key(value)]] else found
  }
  list(known = known, facts = unname(facts))
}

# Of positions the numbers count, of others whether they are zero.
fact_of <- function(x) {
  dims <- if (is.null(dim(x))) length(x) else dim(x)
  array(if (is.double(x)) is.na(x) | x != 0 else x, dims)
}

# Whether a value is computed from constants and the data alone
rests_on_data <- function(value, keys) {
  nodes <- nodes_behind(list(value@node), program_edges)
  parameters <- Filter(function(node) node$op == "parameter", nodes)
  all(vapply(parameters, function(node) value_key(new_value(node, 1L)) %in% keys, NA))
}

computed_of_data <- function(self, wanted, data) {
  upload_data(self)
  first <- min(vapply(nodes_behind(nodes_of(wanted), program_edges), function(node) node$id, 0))
  compiled <- new_jit(function(...) replay(unname(wanted), data, list(...), first), "objective", uses = list(self$f))
  lapply(do.call(compiled, self$buffers), as_array)
}

# Each gives a vector: what the program is for, then the random effects at their optimum and whether it was found.
# The first argument is theta with the random effects at which the search begins.
marginal_programs <- function(self, plan) {
  size <- self$size
  with_found <- function(values, found) list(values = values, u = found$u, ok = found$ok)
  gradient <- function(joint, theta, start) {
    at <- evaluated(function(theta) marginal(joint, plan, theta, start)[c("value", "u", "ok")], list(theta))
    slope <- gradients_of(at, list(filled(1, at$outputs[[1L]]), NULL, NULL))[[1L]]
    c(at$value, list(slope = slope))
  }
  compiled <- function(numbers) {
    new_jit(function(all, ...) {
      own <- split_vector(all, size)
      at <- numbers(joint_of(self, list(...)), own$theta, own$u)
      joined(c(lapply(at$values, as_column), list(at$u, as_column(converted(at$ok, "f64")))))
    }, "objective", uses = list(self$f))
  }
  list(
    value = compiled(function(joint, theta, start) {
      at <- marginal(joint, plan, theta, start)
      with_found(list(at$value), at)
    }),
    reverse = compiled(function(joint, theta, start) {
      at <- gradient(joint, theta, start)
      with_found(list(at$value, at$slope), at)
    }),
    reverse_hessian = compiled(function(joint, theta, start) {
      at <- marginal(joint, plan, theta, start)
      slope <- function(theta) gradient(joint, theta, at$u)$slope
      with_found(list(forward_slopes(slope, theta)$slope), at)
    })
  )
}

# Runs a program from where the random effects were found last; if it does not find them from there, from where they
# began.
run_marginal <- function(self, program) {
  start <- if (is.null(self$optimum)) unname(self$layout$effects) else self$optimum
  repeat {
    numbers <- run_numbers(self, program, c(self$x, start))
    count <- length(numbers)
    q <- length(start)
    if (numbers[[count]] == 1) {
      self$optimum <- self$effects <- numbers[count - q:1]
      return(numbers[seq_len(count - q - 1L)])
    }
    if (is.null(self$optimum)) {
      self$effects <- NULL
      warn_no_optimum(self)
      return(rep(NaN, count - q - 1L))
    }
    self$optimum <- NULL
    start <- unname(self$layout$effects)
  }
}

warn_no_optimum <- function(self) {
  shown <- if (is.null(self$names)) format(self$x) else sprintf("%s = %s", self$names, format(self$x))
  if (length(shown) > 5L) shown <- c(shown[1:5], "...")
  warning(sprintf(
    paste(
      "xla_objective: no optimum of the random effects was found, where the matrix of second derivatives is positive",
      "definite, at %s; the value is NaN"
    ), toString(shown)
  ), call. = FALSE)
}

# The random effects at their optimum, as a vector
effects_here <- function(self, x, call) {
  value <- point_value(self, x, call)
  if (is.null(self$effects) || is.nan(value)) rep(NaN, length(self$layout$effects)) else self$effects
}

point_effects <- function(self, x, call = rlang::caller_env()) {
  stats::setNames(effects_here(self, check_point(self, x, call), call), names(self$layout$effects))
}
