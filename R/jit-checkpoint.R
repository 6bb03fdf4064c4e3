#' Compute again instead of keeping
#'
#' `xla_checkpoint(f)` is `f`, of which reverse mode ([xla_vjp()], [xla_grad()]) keeps the arguments only, and computes
#' again what its derivative needs besides. A derivative takes less memory, and more time: a second time that of `f`.
#'
#' @details
#' A gradient needs numbers that are computed on the way to the value: of a row of layers, the results of all of them,
#' until the way back has come to each. With `xla_checkpoint()` round each layer only what goes from layer to layer is
#' kept. Without derivatives, and in forward mode, nothing changes. Values that `f` uses from outside are kept as its
#' arguments are, and have derivatives.
#'
#' Derivatives of derivatives compute again as well, and so do batches ([xla_vmap()]). A barrier
#' (`stablehlo.optimization_barrier`) keeps XLA from finding that it has computed the same before, and from computing
#' it before its turn. [hlo_scan()] has `checkpoint` for its turns; in the function of a loop, `xla_checkpoint()` says
#' what of a turn is computed again.
#'
#' @inheritParams xla_vmap
#' @return A function as [xla_jit()] returns it, of f's arguments and with f's results: any dtypes and shapes.
#' @section Errors:
#' Tokens ([hlo_token()]) among the arguments or results are an error of class `xlaffi_error_invalid_argument`. A
#' derivative that would make a call with side effects again, as it needs its results, is one of class
#' `xlaffi_error_unimplemented`: such a call belongs outside of `f`.
#' @seealso [hlo_scan()], [xla_vjp()]
#' @examplesIf plugins_downloaded()
#' layer <- xla_checkpoint(function(x, w) tanh(x %*% w))
#' loss <- function(w, x) {
#'   for (i in 1:3) x <- layer(x, w)
#'   sum(x^2)
#' }
#' xla_grad(loss)(diag(2) / 2, matrix(1:4 / 4, 2))
#' @export
xla_checkpoint <- function(f) {
  check_function(f)
  new_jit(function(...) {
    call <- quote(xla_checkpoint())
    arguments <- arranged(f, list(...))
    inputs <- tree_leaves(arguments)
    tree <- NULL
    region <- trace_region(function(params) {
      looped({
        tree <<- call_written(f, tree_fill(arguments, Map(function(x, like) {
          labelled(x, attr(like, "labels"))
        }, params, inputs)))
        lapply(tree_leaves(tree), as_value, "f", call = call)
      })
    }, lapply(inputs, type_of))
    captured <- captured_by(list(region))
    for (value in c(inputs, captured, region$results)) {
      check_no_token(value, "xla_checkpoint", "f", call)
    }
    region$params <- c(region$params, captured)
    tree_fill(tree, checkpointed(region, c(inputs, captured)))
  }, "checkpoint")
}

# The results of a region, which captures nothing, as those of an op that is computed again for its derivatives.
# `apart`: whether it is a second time, which must not be taken for the first one.
checkpointed <- function(region, inputs, apart = FALSE) bind_op(checkpoint_op(region, apart), inputs)

checkpoint_op <- function(region, apart) {
  run <- function(leaves) replay(region$results, region$params, leaves, region$first, region$effects)
  list(
    name = "xla_checkpoint",
    call = function(...) if (apart) run_apart(run, list(...), region$results) else run(list(...)),
    jvp = function(primals, results, tangents) checkpoint_tangents(run, primals, results, tangents),
    vjp = function(primals, results, cotangents) checkpoint_shares(region, primals, cotangents),
    transpose = function(primals, cotangents) {
      linear <- vapply(primals, is.null, NA)
      primals[linear] <- lapply(region$params[linear], function(value) new_parameter(type_of(value)))
      shares <- vector("list", length(primals))
      shares[linear] <- backward_pass(run(primals), cotangents, primals[linear])
      shares
    },
    batch = function(inputs, mapped, size) {
      checkpointed(trace_region(function(params) {
        batch <- batch_leaves(run, params, mapped, size)
        all_in_front(batch$values, batch$mapped, size)
      }, lapply(inputs, type_of)), inputs, apart)
    }
  )
}

# `run` of `leaves`, which begins when all of these are there and shares no work with what has been computed before.
# For that XLA has barriers. Its CPU compiler takes them away before it decides on an order, and begins early with all
# that it can: there it is a branch, of whose condition a barrier hides what it is.
run_apart <- function(run, leaves, types) {
  if (!length(leaves) || !length(types)) {
    return(run(leaves))
  }
  if (!identical(trace_state$platform, "cpu")) {
    return(run(node_values(new_node("optimization_barrier", leaves, lapply(leaves, type_of)))))
  }
  first <- kept_apart(constant(0L, "i32", integer(), "index"))
  case_node(list(function() run(leaves), function() lapply(types, zero_of)), first, silent = TRUE)
}

checkpoint_tangents <- function(run, primals, results, tangents) {
  moving <- !vapply(tangents, is.null, NA)
  changes <- NULL
  trace <- trace_region(function(params) {
    roots <- lapply(params[seq_along(primals)], alias_of)
    values <- for_derivatives(function() run(roots), roots)
    given <- vector("list", length(primals))
    given[moving] <- beyond(params, length(primals))
    changes <<- jvp_graph(values, roots, given)
    list()
  }, lapply(c(primals, tangents[moving]), type_of))
  there <- !vapply(changes, is.null, NA)
  found <- vector("list", length(results))
  found[there] <- computed_again(changes[there], trace$params, c(primals, tangents[moving]), trace$first)
  found
}

checkpoint_shares <- function(region, primals, cotangents) {
  linear <- linearized(region, list(), inexact_types(primals))
  sharing <- !vapply(linear$shares, is.null, NA)
  there <- !vapply(linear$cotangents, is.null, NA)
  shares <- vector("list", length(primals))
  shares[sharing] <- computed_again(
    linear$shares[sharing], c(linear$params, linear$cotangents[there]), c(primals, cotangents[there]), linear$first,
    apart = TRUE
  )
  shares
}

# `values` of a trace that begins with the number `first`, with `to` in place of `from`, as a checkpointed op of what
# they need of these
computed_again <- function(values, from, to, first, apart = FALSE) {
  region <- trace_region(function(params) replay(values, from, params, first), lapply(to, type_of), silent = TRUE)
  behind <- nodes_behind(nodes_of(region$results), replay_edges, region$first)
  for (node in Filter(acts, behind)) {
    no_rule(node, "jvp", "has side effects, and would be called again for the derivative of xla_checkpoint()",
      "What `f` is given is kept: make the call outside of it."
    )
  }
  used <- node_ids(nodes_of(region$params)) %in% node_ids(behind)
  region$params <- region$params[used]
  checkpointed(region, to[used], apart)
}
