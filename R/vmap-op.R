# A batched op is an op again: its derivative rules are those of the op, batched.
primitive("op", vmap = function(node, inputs, mapped, size) {
  arguments <- tree_fill(node$params$arguments, inputs)
  tree_leaves(record_op(batched_op(node, mapped, size), arguments))
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
          jvp <- op$jvp
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
          transpose <- op$transpose
          primals <- tree_fill(given, groups[[1L]])
          cotangents <- tree_fill(like, groups[[2L]])
          tree_slots(given, transpose(primals, cotangents))
        }
        shares <- batch_groups(rule, groups, list(mapped, rep(TRUE, length(groups[[2L]]))), size)
        # What is the same for all elements gets the sum of their shares.
        tree_fill(given, Map(function(share, is_batch, mapped) {
          if (!is.null(share)) {
            share <- in_front(share, is_batch, size)
            if (mapped) share else hlo_sum(share, 1)
          }
        }, shares$values, shares$mapped, mapped))
      }
    }
  )
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
  refuse <- function(text) {
    abort(sprintf("the vmap rule of op `%s` must return a list like the op's results: %s", op$name, text),
      op = op$name, operand = "vmap", call = NULL
    )
  }
  vmap <- op$vmap
  values <- lapply(tree_match(like, vmap(arguments, axes, size), refuse), as_value, "vmap", call = NULL)
  Map(function(value, type, number) {
    want <- batch_type(type, size)
    if (!same_type(value, want)) {
      abort(
        sprintf(
          "the vmap rule of op `%s` must return %s as number %d, not %s", op$name, type_text(want), number,
          type_text(value)
        ),
        op = op$name, operand = "vmap", call = NULL
      )
    }
  }, values, types, seq_along(values))
  tree_fill(like, values)
}
