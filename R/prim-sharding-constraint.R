#' Say where a value lies
#'
#' In a program on a mesh XLA decides which device computes what. `hlo_shard()` fixes for one value along which axes
#' of the mesh it is cut. It changes no number.
#'
#' @details
#' It is JAX's `with_sharding_constraint()`. Tangents and cotangents are cut as the value is; in a batch the
#' other axes are, and the batch axis is left to XLA.
#'
#' The mesh is that of the sharded arguments, or of `mesh`, which makes the program one for that mesh.
#'
#' @param x A [value][xlaffi_value].
#' @param spec Along which axes of the mesh each dimension is cut, see [xla_spec()].
#' @param mesh A mesh, see [xla_mesh()]; `NULL`: the one that the program has.
#' @return A value, equal to `x`.
#' @seealso [xla_shard()] for arrays, [xla_jit()] for arguments and results.
#' @section Errors:
#' Without a mesh it is an error of class `xlaffi_error_failed_precondition`; axes that the mesh has not are one, too.
#'
#' @examplesIf plugins_downloaded()
#' mesh <- xla_mesh(c(data = 1))
#' f <- xla_jit(function(x) sum(hlo_shard(x * 2, "data")))
#' f(xla_shard(c(1, 2, 3), mesh, "data"))
#' @export
hlo_shard <- function(x, spec, mesh = NULL) {
  check_given(x, spec)
  call <- rlang::current_env()
  if (is_sharded(x)) {
    abort("hlo_shard: `x` is an array, and no value of a program: `xla_shard()` moves it",
      op = "hlo_shard", operand = "x"
    )
  }
  x <- as_value(x, "x")
  check_no_token(x, "hlo_shard", "x", call)
  if (!is.null(trace_state$manual)) {
    abort("hlo_shard: inside `xla_shard_map()` each device computes with its own part, and there is nothing to place",
      "FAILED_PRECONDITION", op = "hlo_shard"
    )
  }
  if (!is.null(mesh)) {
    use_mesh(check_mesh(mesh), call)
  }
  mesh <- mesh_of_program()
  if (is.null(mesh)) {
    abort("hlo_shard: the program has no mesh: none of its arguments is sharded", "FAILED_PRECONDITION",
      op = "hlo_shard", operand = "mesh", hint = "The argument `mesh` gives it one."
    )
  }
  sharding_constrained(x, checked_spec(spec, mesh, x@shape, "hlo_shard: `x`"))
}

# `open` has the axes that are left to XLA.
sharding_constrained <- function(x, entries, open = integer()) {
  bind("sharding_constraint", list(x), x@dtype, x@shape, list(entries = entries, open = open))
}

primitive("sharding_constraint",
  text = function(node, operands, scope) {
    p <- node$params
    sprintf("sdy.sharding_constraint %s %s : %s", operands, sharding_text(p$entries, p$open), result_types(node))
  },
  jvp = function(node, tangents) list(sharding_constrained(tangents[[1L]], node$params$entries, node$params$open)),
  transpose = function(node, cotangents, linear) {
    list(sharding_constrained(cotangents[[1L]], node$params$entries, node$params$open))
  },
  vmap = function(node, inputs, mapped, size) {
    p <- node$params
    list(sharding_constrained(inputs[[1L]], c(list(character()), p$entries), c(1L, p$open + 1L)))
  },
  sparsity = by_element
)

overload("hlo_shard", "xlaffi", hlo_shard, by = "own", topic = "Several devices", dtypes = "all")
