# Parameters of which some have constraints: a nested list of constraints has the names of a part of the parameters.

# `constrain` takes a value of rank 1, `size` free numbers called `names`, to list(par =, log_jacobian =): parameters in
# their form, and a scalar. `from_parts` does so for a list of values, the free numbers of each leaf. `unconstrain`
# takes numbers in the parameters' form, those of an argument called `given`, to R's vector. `constraints` has a
# constraint or NULL for each leaf.
constrained <- function(constraints, template, name = "start", call = rlang::caller_env()) {
  leaves <- tree_leaves(template)
  labels <- constrained_labels(template, name)
  own <- constraint_of_each(constraints, template, name, call)
  shapes <- lapply(leaves, r_shape)
  for (k in seq_along(leaves)) check_constrained_shape(own[[k]], shapes[[k]], leaves[[k]], labels[[k]], call)
  sizes <- as.integer(mapply(function(constraint, shape) {
    if (is.null(constraint)) prod(shape) else constraint$free(shape)
  }, own, shapes))
  ends <- cumsum(sizes)
  from_parts <- function(parts) {
    made <- Map(constrained_leaf, own, shapes, leaves, parts)
    jacobians <- Filter(Negate(is.null), lapply(made, function(leaf) leaf$log_jacobian))
    log_jacobian <- if (length(jacobians)) Reduce(`+`, jacobians) else number_like(0, parts[[1L]])
    list(par = tree_fill(template, lapply(unname(made), function(leaf) leaf$value)), log_jacobian = log_jacobian)
  }
  list(
    constrain = function(value) {
      from_parts(Map(function(end, size) sliced(value, end - size + 1L, end), ends, sizes))
    },
    unconstrain = function(par, call = rlang::caller_env(), given = NULL) {
      if (!is.null(given)) labels <- constrained_labels(template, given)
      parts <- Map(free_numbers, tree_leaves(par), own, labels, list(call))
      unlist(parts, use.names = FALSE)
    },
    from_parts = from_parts, size = sum(sizes), sizes = sizes, names = free_names(template, leaves, sizes),
    constraints = own, template = template
  )
}

constrained_leaf <- function(constraint, shape, leaf, y) {
  made <- if (is.null(constraint)) list(value = from_column(y, shape)) else constraint$constrain(y, shape)
  made$value <- labelled(made$value, data_labels(leaf))
  made
}

# R code that reaches each leaf, for errors
constrained_labels <- function(template, name) {
  if (!is_branch(template)) {
    return(name)
  }
  tree <- new_tree(tree_map(template, function(leaf) TRUE))
  vapply(seq_along(tree_leaves(template)), function(i) {
    path <- tree_path(tree, i)
    if (startsWith(path, "[")) paste0(name, path) else paste0(name, "$", path)
  }, "")
}

free_numbers <- function(x, constraint, label, call) {
  if (is.null(constraint)) {
    return(as.double(x))
  }
  storage.mode(x) <- "double"
  refuse <- function(expected) {
    abort(sprintf("`%s` must %s, not %s", label, expected, start_text(x)), operand = label, call = call,
      hint = sprintf("Its constraint is: %s.", constraint$text)
    )
  }
  if (!all(is.finite(x))) refuse("be finite")
  constraint$unconstrain(x, refuse)
}

start_text <- function(x) {
  shown <- format_each(signif(utils::head(as.vector(x), 4L), 4L))
  text <- paste(c(shown, if (length(x) > 4L) "..."), collapse = ", ")
  if (length(x) == 1L) text else sprintf("(%s)", text)
}

# A constraint or NULL for each leaf of the template
constraint_of_each <- function(constraints, template, name, call, path = "constraints") {
  if (is.null(constraints)) {
    return(rep(list(NULL), length(tree_leaves(template))))
  }
  if (inherits(constraints, "xlaffi_constraint")) {
    if (is_branch(template)) {
      abort(sprintf("`%s` is one constraint for a list: each part has its own", path), operand = "constraints",
        call = call, hint = sprintf("For example `list(%s = xla_positive())`.", first_name(template))
      )
    }
    return(list(constraints))
  }
  if (!is_branch(constraints)) {
    abort(sprintf("`%s` must be a constraint, such as xla_positive(), or a list of them, not %s", path,
      describe(constraints)
    ), operand = "constraints", call = call, hint = constraint_hint(constraints))
  }
  if (!is_branch(template)) {
    abort(sprintf("`%s` must be a constraint, as `%s` has no parts there, not a list", path, name),
      operand = "constraints", call = call
    )
  }
  if (length(constraints)) check_constraint_names(constraints, template, name, path, call)
  do.call(c, c(list(list()), lapply(seq_along(template), function(k) {
    part <- names2(template)[[k]]
    own <- if (nzchar(part)) constraints[[part]]
    constraint_of_each(own, template[[k]], name, call, paste0(path, "$", part))
  })))
}

first_name <- function(template) {
  names <- setdiff(names2(template), "")
  if (length(names)) names[[1L]] else "tau"
}

constraint_hint <- function(x) {
  if (is.function(x)) "Constraints are what functions return: `xla_positive()`, with parentheses."
}

check_constraint_names <- function(constraints, template, name, path, call) {
  given <- names2(constraints)
  known <- setdiff(names2(template), "")
  if (!all(nzchar(given)) || anyDuplicated(given)) {
    abort(sprintf("elements of `%s` must have names of parts of `%s`, each once", path, name),
      operand = "constraints", call = call
    )
  }
  unknown <- setdiff(given, known)
  if (length(unknown)) {
    otherwise <- if (length(known)) sprintf("The parts are: %s.", toString(known)) else "The parts have no names."
    abort(sprintf("`%s` has `%s`, which is no part of `%s`", path, unknown[[1L]], name), operand = "constraints",
      call = call, hint = name_hint(unknown[[1L]], known, "`%s`", otherwise)
    )
  }
}

check_constrained_shape <- function(constraint, shape, leaf, label, call) {
  expected <- if (!is.null(constraint)) constraint$check(shape)
  if (!is.null(expected)) {
    abort(sprintf("the constraint of `%s` is for %s, not for the shape %s", label, expected, shape_text(shape)),
      operand = label, call = call, hint = sprintf("Its constraint is: %s.", constraint$text)
    )
  }
}

# Names of the free numbers: those of the elements where there are as many
free_names <- function(template, leaves, sizes) {
  elements <- split_names(variable_names(template), lengths(leaves))
  unlist(Map(function(names, size) {
    if (length(names) == size) {
      return(names)
    }
    part <- sub("\\[.*", "", c(names, "")[[1L]])
    sprintf("%s[%d]", rep(part, size), seq_len(size))
  }, elements, sizes), use.names = FALSE)
}

split_names <- function(names, sizes) {
  unname(split(names, factor(rep(seq_along(sizes), sizes), seq_along(sizes))))
}

# What an objective needs of its constraints, or NULL where it has none. `free` is the template with the free numbers in
# place of the parts that have a constraint.
constrained_form <- function(constraints, template, random, call) {
  if (!length(constraints)) {
    return(NULL)
  }
  form <- constrained(constraints, template, "par", call)
  if (is_branch(template)) {
    parts <- rep(names2(template), vapply(template, function(part) length(tree_leaves(part)), 0L))
    both <- intersect(random, parts[!vapply(form$constraints, is.null, NA)])
    if (length(both)) {
      abort(sprintf("random effects have no constraints: %s", toString(both)), operand = "constraints", call = call)
    }
  }
  leaves <- tree_leaves(template)
  ends <- cumsum(form$sizes)
  numbers <- form$unconstrain(template, call)
  free <- Map(function(leaf, constraint, end, size) {
    if (is.null(constraint)) {
      return(leaf)
    }
    own <- numbers[end - size + seq_len(size)]
    if (size == length(leaf)) replace(leaf, seq_along(leaf), own) else own
  }, leaves, form$constraints, ends, form$sizes)
  c(form, list(free = tree_fill(template, unname(free))))
}

# Parameters in their form, of one value or of what whole_parameters() gives
formed_parameters <- function(template, form, all) {
  if (is.null(form)) parameters(template, all) else form$from_parts(free_parts(template, all))$par
}

# ... each leaf's free numbers
free_parts <- function(template, all) lapply(tree_leaves(parameters(template, all)), as_column)
