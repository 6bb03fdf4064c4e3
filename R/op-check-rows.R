# What ffi_check() compares, one row of its table each.

check_row <- function(dtype, check, error = NA_real_, tolerance = NA_real_, ok = NA, note = "") {
  data.frame(dtype = dtype, check = check, error = error, tolerance = tolerance, ok = ok, note = note)
}

# A row from what `f` finds, `list(error, note)`. What there is no rule for is not wrong.
compare <- function(point, check, tolerance, f) {
  tryCatch(
    {
      out <- f()
      check_row(point$dtype, check, out$error, tolerance, out$error <= tolerance, out$note)
    },
    xlaffi_error_unimplemented = function(error) check_row(point$dtype, check, note = first_line(error)),
    error = function(error) check_row(point$dtype, check, ok = FALSE, note = first_line(error))
  )
}

first_line <- function(error) gsub("\\s*\n\\s*", " ", rlang::cnd_header(error))

check_at <- function(f, arguments, types, options) {
  point <- new_point(arguments, types)
  point$tolerance <- if (is.null(options$tolerance)) difference_tolerance(point$eps) else options$tolerance
  run <- runner(f, point)
  at <- tryCatch(at_point(point, run), error = identity)
  if (inherits(at, "error")) {
    return(check_row(point$dtype, "value", ok = FALSE, note = first_line(at)))
  }
  gradient <- if (any(point$inexact) && any(inexact_types(at$results))) gradient_of(f, at)
  rows <- c(
    list(value_row(run, at)),
    if (!is.null(gradient)) derivative_rows(f, run, at),
    if (inherits(f, "xlaffi_op")) transpose_rows(attr(f, "op"), run, at),
    if (!is.null(gradient) && options$second_order) second_rows(gradient, point),
    batch_rows(f, run, at, options$batch),
    if (!is.null(gradient)) batch_of_vjp(gradient, point, options$batch)
  )
  do.call(rbind, rows)
}

difference_tolerance <- function(eps) if (eps < 1e-12) 1e-6 else if (eps < 1e-5) 0.01 else 0.1

# Runs a function of the point's arguments on R data: the results' leaves as vectors, their types and their tree.
runner <- function(f, point) {
  compiled <- xla_jit(f)
  function(leaves) {
    tree <- do.call(compiled, as_buffers(leaves, point$types, point$arguments))
    list(
      leaves = lapply(tree_leaves(tree), vector_of), types = lapply(tree_leaves(tree), argument_type, "result"),
      tree = tree_map(tree, function(leaf) 0)
    )
  }
}

vector_of <- function(buffer) as.vector(as_array(buffer))

at_point <- function(point, run) {
  first <- run(point$leaves)
  c(point, list(value = first$leaves, results = first$types, tree = first$tree))
}

value_row <- function(run, point) {
  compare(point, "value", 0, function() {
    same <- identical(run(point$leaves)$leaves, point$value)
    numbers <- unlist(point$value[inexact_types(point$results)])
    note <- if (!same) {
      "two runs give different results"
    } else if (!all(is.finite(numbers))) {
      sprintf("NaN or infinite: %d of %d numbers", sum(!is.finite(numbers)), length(numbers))
    } else {
      ""
    }
    list(error = as.numeric(!same), note = note)
  })
}

# Forward mode against differences, reverse mode against forward mode.
derivative_rows <- function(f, run, point, prefix = "") {
  moving <- which(point$inexact)
  counting <- which(inexact_types(point$results))
  directions <- random_directions(point$leaves, point$types)
  weights <- random_directions(point$value, point$results)
  primals <- as_buffers(point$leaves, point$types, point$arguments)
  forward <- xla_jvp(f)
  tangents <- function(which) {
    out <- forward(primals, as_buffers(only(directions, which), point$types, point$arguments))
    lapply(tree_slots(point$tree, out$tangent), function(x) if (!is.null(x)) vector_of(x))
  }
  reverse <- xla_vjp(f)
  gradients <- function(which) {
    out <- reverse(primals, as_buffers(only(weights, which), point$results, point$tree))
    lapply(tree_slots(point$arguments, out$gradients), function(x) if (!is.null(x)) vector_of(x))
  }
  each <- c(as.list(moving), if (length(moving) > 1L) list(moving))
  names(each) <- c(point$names[moving], if (length(moving) > 1L) "all")
  by_jvp <- Map(function(which, name) {
    compare(point, sprintf("%sjvp by %s", prefix, name), point$tolerance, function() {
      compare_differences(tangents(which), run, point, only(directions, which))
    })
  }, each, names(each))
  # Where forward mode is not to be had, differences take its place.
  there <- !any(vapply(by_jvp, function(row) is.na(row$error), NA))
  tolerance <- if (there) sqrt(point$eps) else point$tolerance
  by_vjp <- function(name, which, results) {
    compare(point, sprintf("%svjp %s", prefix, name), tolerance, function() {
      changes <- if (there) tangents(which) else differences(run, point, only(directions, which), 1)[[1L]]$slopes
      compare_products(gradients(results), directions, which, changes, weights, results, point)
    })
  }
  by_argument <- Map(function(which, name) by_vjp(paste("by", name), which, counting), each, names(each))
  by_result <- if (length(counting) > 1L) lapply(counting, function(i) by_vjp(sprintf("of result %d", i), moving, i))
  c(shortened(by_jvp, paste0(prefix, "jvp")), shortened(c(by_argument, by_result), paste0(prefix, "vjp")))
}

# One row where none of them was possible for the same reason
shortened <- function(rows, check) {
  table <- do.call(rbind, rows)
  if (all(is.na(table$ok)) && length(unique(table$note)) == 1L) {
    rows <- rows[1L]
    rows[[1L]]$check <- check
  }
  rows
}

# NULL but at these places
only <- function(leaves, which) {
  leaves[setdiff(seq_along(leaves), which)] <- list(NULL)
  leaves
}

# The gradients of all results, weighted at random, as a function of the arguments
gradient_of <- function(f, point) {
  force(f)
  weights <- tree_fill(point$tree, random_directions(point$value, point$results))
  function(...) xla_vjp(f)(list(...), weights)$gradients
}

second_rows <- function(gradient, point) {
  prefix <- "second order: "
  run <- runner(gradient, point)
  at <- tryCatch(at_point(point, run), error = identity)
  if (inherits(at, "error")) {
    return(list(compare(point, paste0(prefix, "gradient"), 0, function() stop(at))))
  }
  derivative_rows(gradient, run, at, prefix)
}

# The rule of an op that is linear in some of its arguments: it is told that they are, so that is tried first.
transpose_rows <- function(op, run, point) {
  moving <- which(point$inexact)
  counting <- which(inexact_types(point$results))
  if (is.null(op$transpose) || !length(moving) || !length(counting)) {
    return(list())
  }
  sets <- c(as.list(moving), if (length(moving) > 1L) list(moving))
  names(sets) <- c(point$names[moving], if (length(moving) > 1L) "all")
  sets <- Filter(function(which) is_linear(run, point, which, counting), sets)
  if (!length(sets)) {
    return(list(check_row(point$dtype, "transpose", note = "the op is linear in no argument")))
  }
  weights <- random_directions(point$value, point$results)
  directions <- random_directions(point$leaves, point$types)
  Map(function(which, name) {
    compare(point, sprintf("transpose by %s", name), sqrt(point$eps), function() {
      leaves <- point$leaves
      leaves[which] <- directions[which]
      changes <- run(leaves)$leaves
      gradients <- transposed_by_rule(op, point, which, weights)
      compare_products(gradients, directions, which, changes, weights, counting, point)
    })
  }, sets, names(sets))
}

# f(2 a + b) = 2 f(a) + f(b)
is_linear <- function(run, point, which, counting) {
  with <- function(leaves) {
    at <- point$leaves
    at[which] <- leaves[which]
    run(at)$leaves[counting]
  }
  a <- random_directions(point$leaves, point$types)
  b <- random_directions(point$leaves, point$types)
  tryCatch(
    {
      both <- with(Map(function(a, b) if (!is.null(a)) 2 * a + b, a, b))
      sum <- Map(function(a, b) 2 * a + b, with(a), with(b))
      all(unlist(Map(relative_error, both, sum)) <= sqrt(point$eps))
    },
    error = function(error) FALSE
  )
}

transposed_by_rule <- function(op, point, which, weights) {
  kept <- setdiff(seq_along(point$leaves), which)
  run <- xla_jit(function(kept_leaves, cotangents) {
    primals <- vector("list", length(point$leaves))
    primals[kept] <- kept_leaves
    given <- vector("list", length(point$results))
    given[inexact_types(point$results)] <- cotangents
    transpose <- op$transpose
    shares <- transpose(tree_fill(point$arguments, primals), tree_fill(point$tree, Map(or_zero, given, point$results)))
    rule_results(shares, point$arguments, point$types, op$name, "transpose")[which]
  })
  there <- inexact_types(point$results)
  out <- run(
    as_buffers(point$leaves[kept], point$types[kept], as.list(kept)),
    as_buffers(weights[there], point$results[there], as.list(which(there)))
  )
  shares <- vector("list", length(point$leaves))
  shares[which] <- lapply(out, function(x) if (!is.null(x)) vector_of(x))
  shares
}

# Batches against a loop, with each argument mapped alone and with all.
batch_rows <- function(f, run, point, size) {
  every <- seq_along(point$leaves)
  sets <- c(if (length(every) > 1L) as.list(every), list(every))
  names(sets) <- c(if (length(every) > 1L) point$names, "all")
  elements <- batch_elements(point, size)
  Map(function(mapped, name) batch_row(f, run, point, elements, mapped, sprintf("vmap by %s", name)), sets, names(sets))
}

batch_of_vjp <- function(gradient, point, size) {
  every <- seq_along(point$leaves)
  elements <- batch_elements(point, size)
  list(batch_row(gradient, runner(gradient, point), point, elements, every, "vmap of vjp"))
}

batch_row <- function(f, run, point, elements, mapped, check) {
  compare(point, check, sqrt(point$eps), function() {
    places <- seq_along(point$leaves) %in% mapped
    one_by_one <- lapply(elements, function(leaves) run(replace(point$leaves, places, leaves[places])))
    leaves <- point$leaves
    types <- point$types
    leaves[places] <- lapply(which(places), function(i) stacked(lapply(elements, `[[`, i), types[[i]]))
    types[places] <- lapply(types[places], batch_type, length(elements))
    axes <- tree_fill(point$arguments, lapply(places, function(mapped) if (mapped) 1))
    out <- tree_leaves(do.call(xla_vmap(f, unname(axes)), as_buffers(leaves, types, point$arguments)))
    compare_batch(lapply(out, as_array), one_by_one)
  })
}
