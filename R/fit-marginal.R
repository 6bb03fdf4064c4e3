# The objective of what is left when random effects are integrated out: its programs, and its points.

check_laplace <- function(data, dtype, call) {
  if (!on_cpu()) {
    abort(
      sprintf("`random`: it needs sparse matrices, which are for the CPU and not for %s", default_platform()),
      "UNIMPLEMENTED", operand = "random", call = call,
      hint = "`Sys.setenv(PJRT_PLATFORM = \"cpu\")` makes the CPU the default, also beside a GPU's client."
    )
  }
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

# The function of theta and u for given data. It holds nothing of `self`, so that the data can go with their objective.
joint_of <- function(self) {
  layout <- self$layout
  whole <- self$vector
  function(data) {
    function(theta, u) {
      value <- do.call(whole, c(list(whole_parameters(layout, theta, u)), data))
      if (length(value) != 1L) {
        abort(sprintf("xla_objective: with `random` `f` must return one number, not %d", length(value)),
          operand = "f", call = NULL
        )
      }
      reshaped(value, integer())
    }
  }
}

# What the programs of the approximation need: the plan of the Hessian, and the `facts` of the data that it rests on.
traced_marginal <- function(self) {
  traced <- traced_plan(self, length(self$layout$effects), joint_of(self))
  check_plan(self, traced$plan)
  traced
}

# The plan of the Hessian of a function of theta and a vector u of `size` numbers, which `joint` makes of the data
traced_plan <- function(self, size, joint) {
  graph <- data <- NULL
  traced_objective(self, self$size + size, function(all, ...) {
    own <- split_vector(all, self$size)
    data <<- list(...)
    graph <<- derivative_graph(slope_by_effects(joint(data), own$theta), own$u)
    all
  })
  facts <- facts_of_data(self, graph, data)
  list(count = 1L, facts = facts[c("of", "found")], plan = hessian_plan(graph, facts$known))
}

same_plan <- function(a, b) {
  if (is.null(a) || is.null(b)) {
    return(is.null(a) && is.null(b))
  }
  rest <- setdiff(names(a), "pattern")
  same_pattern(a$pattern, b$pattern) && identical(a[rest], b[rest])
}

split_vector <- function(all, size) {
  list(theta = sliced(all, 1L, size), u = sliced(all, size + 1L, length(all)))
}

# Every random effect must matter, by itself and not only beside others.
check_plan <- function(self, plan) {
  pattern <- plan$pattern
  there <- pattern$i[diagonal_entries(pattern)] + 1L
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
# belongs to, or a matrix's zeros: `of` is a function that computes them, as the dependence of the graph asks for them,
# of the data of an objective. What it has `found` here is `known` by value.
facts_of_data <- function(self, graph, data) {
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
  keys <- value_keys(data)
  wanted <- Filter(function(value) rests_on_data(value, keys), wanted)
  of <- if (length(wanted)) facts_program(self$f, unname(wanted), data) else function(self) list()
  found <- of(self)
  numbers <- stats::setNames(found, names(wanted))
  known <- function(value) {
    constants <- known_constants(value)
    if (is.null(constants)) numbers[[value_key(value)]] else constants
  }
  list(of = of, found = found, known = known)
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

facts_program <- function(f, wanted, data) {
  force(data)
  first <- min(vapply(nodes_behind(nodes_of(wanted), program_edges), function(node) node$id, 0))
  compiled <- new_jit(function(...) replay(wanted, data, list(...), first), "objective", uses = list(f))
  function(self) {
    upload_data(self)
    # Without data the results are R's own.
    lapply(do.call(compiled, self$buffers), function(x) fact_of(if (is_on_device(x)) as_array(x) else x))
  }
}

# Each gives a vector: what the program is for, then the random effects at their optimum and whether it was found.
# The first argument is theta with the random effects at which the search begins.
marginal_programs <- function(self) {
  size <- self$size
  plan <- self$plan
  joint <- joint_of(self)
  compiled <- function(numbers) {
    new_jit(function(all, ...) {
      own <- split_vector(all, size)
      at <- function(theta, start, find = inner_optimum) marginal(joint(list(...)), plan, theta, start, find)
      found <- numbers(at, own$theta, own$u)
      joined(c(lapply(found$numbers, as_column), list(found$u, as_column(converted(found$ok, "f64")))))
    }, "objective", uses = list(self$f), varies = 1L)
  }
  with_gradient <- function(at, theta, start, ...) {
    found <- evaluated(function(theta) at(theta, start, ...), list(theta))
    slope <- gradients_of(found, list(filled(1, found$value$value), NULL, NULL))[[1L]]
    c(list(numbers = list(found$value$value, slope)), found$value[c("u", "ok")])
  }
  list(
    value = compiled(function(at, theta, start) {
      found <- at(theta, start)
      c(list(numbers = found["value"]), found[c("u", "ok")])
    }),
    reverse = compiled(with_gradient),
    reverse_hessian = compiled(function(at, theta, start) {
      # The gradient comes first, and with it the optimum.
      linear <- xla_linearize(function(theta) with_gradient(at, theta, start, known_optimum))(theta)
      row <- function(direction) linear$jvp(direction)$numbers[[2L]]
      found <- linear$value
      found$numbers <- list(xla_vmap(row)(unit_rows(size, "f64")))
      found
    })
  )
}

# Runs a program from where the random effects were found last; if it does not find them from there, from where they
# began. `optimum` is NULL where they were not found last.
run_marginal <- function(self, program) {
  q <- length(self$layout$effects)
  starts <- list(self$optimum, unname(self$layout$effects))
  for (start in Filter(Negate(is.null), starts)) {
    numbers <- run_numbers(self, program, c(self$x, start))
    count <- length(numbers)
    values <- numbers[seq_len(count - q - 1L)]
    if (numbers[[count]] == 1) {
      self$optimum <- numbers[count - q:1]
      return(values)
    }
  }
  self$optimum <- NULL
  warn_no_optimum(self, !isTRUE(values[[1L]] == Inf))
  rep(NaN, length(values))
}

# `begun` tells whether `f` was finite where the search began.
warn_no_optimum <- function(self, begun) {
  about <- about_data(self)
  if (is.null(about) && !begun) {
    about <- paste(
      "At the random effects with which the search begins `f` or its gradient is not finite;",
      "an index out of range does this, too."
    )
  }
  warning(sprintf(
    paste(
      "xla_objective: no optimum of the random effects was found, where the matrix of second derivatives is positive",
      "definite, at %s; the value is NaN%s"
    ), shown_point(self), if (is.null(about)) "" else paste0(". ", about)
  ), call. = FALSE)
}

# The random effects at their optimum, as a vector
effects_here <- function(self, x, call) {
  value <- point_value(self, x, call)
  if (is.null(self$optimum) || is.nan(value)) rep(NaN, length(self$layout$effects)) else self$optimum
}

point_effects <- function(self, x, call = rlang::caller_env()) {
  stats::setNames(effects_here(self, check_point(self, x, call), call), names(self$layout$effects))
}
