hlo_ode <- function(y, times, func, parms = NULL, ..., method = c("ode45", "rodas5p"), rtol = 1e-6, atol = 1e-6,
                    max_steps = 4096, events = NULL, rootfunc = NULL) {
  call <- environment()
  method <- check_choice(method, "method", names(ode_methods))
  start <- ode_start(y, call)
  dtype <- start$dtype
  times <- ode_times(times, dtype, call)
  more <- list(...)
  region <- trace_region(function(params) {
    list(ode_slope(func, params[[1L]], start$state(params[[2L]]), parms, more, start, call))
  }, list(new_type(dtype, integer()), new_type(dtype, start$size)))
  regions <- list(f = region)
  captured <- captured_by(unname(regions))
  of_region <- function(region) {
    if (!is.null(region)) function(t, y, theta) replay_region(region, list(t, y), captured, theta)[[1L]]
  }
  count <- length(times)
  items <- list(time = times, stop = broadcast(sliced(times, count, count), count, 1L))
  inputs <- list(
    y = start$value, rtol = ode_tolerance(rtol, "rtol", start, call), atol = ode_tolerance(atol, "atol", start, call),
    items = items, theta = captured
  )
  leaves <- tree_leaves(inputs)
  ode <- list(
    f = of_region(regions$f), jump = of_region(regions$jump), root = of_region(regions$root), dtype = dtype,
    method = ode_methods[[method]], items = length(items$time), max_steps = as.integer(max_steps),
    form = tree_map(inputs, function(leaf) TRUE)
  )
  results <- bind_op(ode_op(ode), leaves)
  list(
    time = times, y = start$rows(results$y), steps = results$steps, rejected = results$rejected,
    converged = results$status == 0L, reason = results$status
  )
}

ode_start <- function(y, call) {
  leaves <- lapply(tree_leaves(y), scalar_value, "y", call, op = "hlo_ode")
  leaves <- lapply(leaves, function(leaf) if (is_inexact(leaf@dtype)) leaf else converted(leaf, "f64"))
  labels <- lapply(tree_leaves(y), data_labels)
  sizes <- vapply(leaves, function(leaf) as.integer(prod(leaf@shape)), 0L)
  ends <- cumsum(sizes)
  state <- function(vector) {
    tree_fill(y, Map(function(leaf, size, end, labels) {
      labelled(reshaped(sliced(vector, end - size + 1L, end), leaf@shape), labels)
    }, leaves, sizes, ends, labels))
  }
  rows <- function(matrix) {
    count <- matrix@shape[[1L]]
    tree_fill(y, Map(function(leaf, size, end) {
      reshaped(sliced(matrix, c(1L, end - size + 1L), c(count, end)), c(count, leaf@shape))
    }, leaves, sizes, ends))
  }
  list(
    tree = y, leaves = leaves, dtype = leaves[[1L]]@dtype, size = sum(sizes), state = state, rows = rows,
    value = joined(lapply(leaves, function(leaf) reshaped(leaf, as.integer(prod(leaf@shape)))))
  )
}

ode_times <- function(times, dtype, call) {
  converted(as_value(times, "times", call = call, op = "hlo_ode"), dtype)
}

ode_tolerance <- function(x, name, start, call) {
  x <- as_value(x, name, new_type(start$dtype, integer()), call, "hlo_ode")
  if (length(x) == 1L) reshaped(x, integer()) else x
}

ode_slope <- function(func, t, y, parms, more, start, call) {
  out <- call_written(func, c(list(t, y, parms), more), "func")
  if (is_branch(out) && !is_branch(start$tree)) out <- out[[1L]]
  leaves <- lapply(tree_leaves(out), as_value, "func", call = call, op = "hlo_ode")
  joined(lapply(leaves, function(leaf) reshaped(leaf, as.integer(prod(leaf@shape)))))
}

