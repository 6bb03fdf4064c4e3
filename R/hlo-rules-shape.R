# Derivatives of functions of shape: all are linear.

# The same node applied to tangents. Those of the operands `which` may be missing and are then zero;
# the other operands stay.
same_on_tangents <- function(which = 1L) {
  function(node, tangents) {
    inputs <- node$inputs
    at <- if (identical(which, "all")) seq_along(inputs) else which
    inputs[at] <- Map(or_zero, tangents[at], inputs[at])
    type <- node$types[[1L]]
    list(record(node$op, inputs, type@dtype, type@shape, node$params))
  }
}

primitive("broadcast_in_dim",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    shape <- node$inputs[[1L]]@shape
    axes <- node$params$axes
    given <- cotangents[[1L]]
    # Axes that were repeated from length 1 are added up too, and come back below.
    stretched <- axes[shape != given@shape[axes]]
    added <- reduced("reduce_add", given, c(setdiff(seq_along(given@shape), axes), stretched), "hlo_sum")
    left <- setdiff(axes, stretched)
    list(reshaped(transposed(added, match(left, sort(left))), shape))
  }
)

primitive("reshape",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) list(reshaped(cotangents[[1L]], node$inputs[[1L]]@shape))
)

primitive("transpose",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) list(transposed(cotangents[[1L]], order(node$params$permutation)))
)

primitive("reverse",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) list(hlo_reverse(cotangents[[1L]], node$params$axes))
)

zero_scalar <- function(like) constant(0, like@dtype, integer(), "number")

primitive("slice",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    p <- node$params
    given <- cotangents[[1L]]
    if (length(given) == 0L) {
      return(list(filled(0, node$inputs[[1L]])))
    }
    last <- p$start + (given@shape - 1L) * p$step
    high <- node$inputs[[1L]]@shape - last
    list(padded(given, zero_scalar(given), p$start - 1L, high, p$step - 1L))
  }
)

# Every element of the result comes from the operand or is the number that fills.
primitive("pad",
  jvp = same_on_tangents(1:2),
  transpose = function(node, cotangents, linear) {
    p <- node$params
    given <- cotangents[[1L]]
    shape <- node$inputs[[1L]]@shape
    framed <- padded(given, zero_scalar(given), -p$low, -p$high, 0L * p$low)
    own <- sliced(framed, rep(1L, length(shape)), framed@shape, p$interior + 1L)
    list(if (linear[[1L]]) own, if (linear[[2L]]) sum(given) - sum(own))
  }
)

primitive("concatenate",
  jvp = same_on_tangents("all"),
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    axis <- node$params$axis
    before <- 0L
    parts <- vector("list", length(linear))
    for (i in seq_along(linear)) {
      size <- node$inputs[[i]]@shape[[axis]]
      start <- rep(1L, length(given@shape))
      end <- given@shape
      start[[axis]] <- before + 1L
      end[[axis]] <- before + size
      if (linear[[i]]) {
        parts[[i]] <- sliced(given, start, end)
      }
      before <- before + size
    }
    parts
  }
)

primitive("dynamic_slice",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    starts <- node$inputs[-1L]
    whole <- dynamic_updated(filled(0, node$inputs[[1L]]), cotangents[[1L]], starts)
    c(list(whole), vector("list", length(starts)))
  }
)

primitive("dynamic_update_slice",
  jvp = same_on_tangents(1:2),
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    update <- node$inputs[[2L]]
    starts <- node$inputs[-(1:2)]
    c(
      list(
        if (linear[[1L]]) dynamic_updated(given, filled(0, update), starts),
        if (linear[[2L]]) dynamic_sliced(given, starts, update@shape)
      ),
      vector("list", length(starts))
    )
  }
)
