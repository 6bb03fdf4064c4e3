# A batched op is an op again: its derivative rules are those of the op, batched. Ops of this package's own may have
# `batch` for it, function(inputs, mapped, size), which gives the values as a kind's rule does.
primitive("op", vmap = function(node, inputs, mapped, size) {
  params <- node$params
  if (!is.null(params$op$batch)) {
    return(params$op$batch(inputs, mapped, size))
  }
  if (!is_batched_by_body(params$op)) {
    return(tree_leaves(bind_op(batched_op(node, mapped, size), tree_fill(params$arguments, inputs))))
  }
  own <- seq_along(node$inputs)
  body <- Map(in_front, inputs[-own], mapped[-own], size)
  params$op <- batched_op(node, mapped[own], size)
  params$body <- body
  params$results <- tree_fill(params$results, body)
  node_values(new_node("op", inputs[own], lapply(body, type_of), params))
})

batched_op <- function(node, mapped, size) {
  op <- node$params$op
  given <- node$params$arguments
  like <- node$params$results
  axes <- tree_fill(given, lapply(mapped, function(mapped) if (mapped) 1L))
  list(
    name = op$name,
    call = function(...) {
      leaves <- tree_leaves(list(...))
      if (!is.null(op$vmap)) {
        return(own_batch(op, tree_fill(given, leaves), axes, size, like, node$types))
      }
      run <- function(leaves) tree_leaves(call_written(op$call, tree_fill(given, leaves), op$name))
      batch <- batch_leaves(run, leaves, mapped, size)
      tree_fill(like, Map(in_front, batch$values, batch$mapped, size))
    },
    jvp = if (!is.null(op$jvp)) {
      function(primals, results, tangents) {
        groups <- list(tree_leaves(primals), tree_leaves(results), tree_slots(given, tangents))
        rule <- function(groups) {
          jvp <- hooks$convert_function(op$jvp)
          primals <- tree_fill(given, groups[[1L]])
          results <- tree_fill(like, groups[[2L]])
          tangents <- tree_fill(given, groups[[3L]])
          rule_results(jvp(primals, results, tangents), like, node$types, op$name, "jvp")
        }
        flags <- list(mapped, rep(TRUE, length(groups[[2L]])), mapped)
        changes <- batch_groups(rule, groups, flags, size)
        tree_fill(like, Map(function(value, mapped) {
          if (!is.null(value)) in_front(value, mapped, size)
        }, changes$values, changes$mapped))
      }
    },
    transpose = if (!is.null(op$transpose)) {
      function(primals, cotangents) {
        groups <- list(tree_slots(given, primals), tree_slots(like, cotangents))
        rule <- function(groups) {
          transpose <- hooks$convert_function(op$transpose)
          primals <- tree_fill(given, groups[[1L]])
          cotangents <- tree_fill(like, groups[[2L]])
          tree_slots(given, transpose(primals, cotangents))
        }
        batch_shares(rule, groups, list(mapped, rep(TRUE, length(groups[[2L]]))), given, mapped, size)
      }
    },
    vjp = batched_vjp(node, mapped, size),
    vmap = if (!is.null(op$vmap)) batch_of_batch(node, mapped, size)
  )
}

# A batch of batches is one batch of so many more elements.
batch_of_batch <- function(node, mapped, size) {
  given <- node$params$arguments
  every <- tree_map(given, function(leaf) 1L)
  function(arguments, axes, outer) {
    moved <- !vapply(tree_slots(given, axes), is.null, NA)
    inner <- batch_leaves(function(leaves) all_in_front(leaves, mapped, size), tree_leaves(arguments), moved, outer)
    flat <- Map(function(value, moved) {
      value <- in_front(value, moved, outer)
      reshaped(value, c(outer * size, value@shape[-(1:2)]))
    }, inner$values, inner$mapped)
    results <- own_batch(
      node$params$op, tree_fill(given, flat), every, outer * size, node$params$results, node$types
    )
    tree_map(results, function(value) reshaped(value, c(outer, size, value@shape[-1L])))
  }
}

batched_vjp <- function(node, mapped, size) {
  op <- node$params$op
  given <- node$params$arguments
  like <- node$params$results
  every <- rep(TRUE, length(node$types))
  types <- lapply(node$inputs, type_of)
  shares_of <- function(primals, results, cotangents, residuals, wanted) {
    shares <- call_vjp(op, given, like, wanted, primals, results, cotangents, residuals)
    rule_results(shares, given, types, op$name, "vjp")
  }
  if (is.function(op$vjp)) {
    function(primals, results, cotangents, wanted) {
      groups <- list(tree_leaves(primals), tree_leaves(results), tree_slots(like, cotangents))
      wanted <- unlist(tree_leaves(wanted))
      rule <- function(groups) shares_of(groups[[1L]], groups[[2L]], groups[[3L]], NULL, wanted)
      batch_shares(rule, groups, list(mapped, every, every), given, mapped, size)
    }
  } else if (has_residuals(op)) {
    list(
      # The residuals, and which of their values have the batch axis.
      forward = function(primals) {
        residuals <- NULL
        batch <- batch_leaves(function(leaves) {
          out <- run_forward(op, tree_fill(given, leaves), like, node$types)
          residuals <<- out$residuals
          c(out$values, values_in(residuals))
        }, tree_leaves(primals), mapped, size)
        own <- seq_along(every)
        list(
          results = tree_fill(like, Map(in_front, batch$values[own], batch$mapped[own], size)),
          residuals = list(fill_values(residuals, batch$values[-own]), mapped = batch$mapped[-own])
        )
      },
      reverse = function(residuals, cotangents) {
        groups <- list(values_in(residuals[[1L]]), tree_slots(like, cotangents))
        rule <- function(groups) shares_of(NULL, NULL, groups[[2L]], fill_values(residuals[[1L]], groups[[1L]]))
        batch_shares(rule, groups, list(residuals$mapped, every), given, mapped, size)
      }
    )
  }
}

# A rule for cotangents on batches. What is the same for all elements gets the sum of their shares.
batch_shares <- function(rule, groups, flags, given, mapped, size) {
  shares <- batch_groups(rule, groups, flags, size)
  tree_fill(given, Map(function(share, is_batch, mapped) {
    if (!is.null(share)) {
      share <- in_front(share, is_batch, size)
      if (mapped) share else hlo_sum(share, 1)
    }
  }, shares$values, shares$mapped, mapped))
}

# The leaves of `x` at the places of those of `like`, NULL where there is none.
tree_slots <- function(like, x) {
  tree_match(like, x, function(text) abort(text, "INTERNAL", call = NULL))
}

# As batch_leaves(), for a function of several lists, in which NULL stands for nothing.
batch_groups <- function(f, groups, mapped, size) {
  all <- unlist(groups, recursive = FALSE)
  there <- !vapply(all, is.null, NA)
  number <- rep(seq_along(groups), lengths(groups))
  batch_leaves(function(leaves) {
    all[there] <- leaves
    f(lapply(seq_along(groups), function(group) all[number == group]))
  }, all[there], unlist(mapped)[there], size)
}

# What an op's own rule gives, checked.
own_batch <- function(op, arguments, axes, size, like, types) {
  vmap <- hooks$convert_function(op$vmap)
  types <- lapply(types, batch_type, size)
  tree_fill(like, all_rule_values(vmap(arguments, axes, size), like, types, op$name, "vmap"))
}
