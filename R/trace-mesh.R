# The mesh of a program for several devices, while it is traced.

# The mesh of the program that is being traced, NULL if it has none (yet).
mesh_of_program <- function() trace_state$mesh

# The program that is being traced is one for this mesh.
use_mesh <- function(mesh, call = rlang::caller_env()) {
  if (is.null(trace_state$mesh)) {
    check_mesh_is_here(mesh, "mesh", call)
    if (!identical(platform(mesh$devices[[1L]]), trace_state$platform)) {
      abort(
        sprintf(
          "the program is written for platform \"%s\", the mesh is on %s", trace_state$platform, mesh_label(mesh)
        ),
        operand = "mesh", call = call
      )
    }
    trace_state$mesh <- mesh
  } else if (!same_mesh(trace_state$mesh, mesh)) {
    refuse_meshes(trace_state$mesh, mesh, call)
  }
  invisible(mesh)
}

refuse_meshes <- function(mesh, other, call) {
  abort(
    sprintf("a program runs on one mesh: here are %s and %s", format(mesh), format(other)),
    operand = "mesh", hint = c(
      if (identical(format(mesh), format(other))) "Their devices differ, or stand in another order.",
      "`xla_shard(x, mesh, spec)` moves an array to another mesh."
    ),
    call = call
  )
}
