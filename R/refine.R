#' Programs for any shape
#'
#' JAX can export a program whose arguments have dimensions without sizes, such as `tensor<?x3xf32>`
#' (shape polymorphism, `jax.export.symbolic_shape()`). XLA compiles for given sizes only. This function
#' gives the program for arguments of given shapes: all other shapes in it follow from them.
#'
#' What the program asserts of its shapes (that two arguments have the same number of rows, say) is
#' checked. The work is done by jaxlib, for whatever platform the program is then compiled, so a Python
#' with jaxlib is needed as for the included CPU plugin; see [xlaffi_sitrep()].
#'
#' @section Programs for several platforms:
#' What JAX exports for several platforms (`jax.export.export(platforms = ("cpu", "cuda"))`) takes the
#' platform's index among them as its first argument, an `i64` scalar counted from 0. It has to be given
#' to [pjrt_execute()] as any other, and its shape, `integer()`, here. The included CPU plugin compiles
#' such programs although they name handlers that only another platform has; running one with another
#' platform's index is an error.
#'
#' @param program A program, see [pjrt_program()]; StableHLO, not `"hlo"`.
#' @param shapes A list with the shape of each argument of `main`, as [shape()] gives it; `integer()`
#'   for a scalar.
#' @return A program, class `xlaffi_program`. Shapes that do not fit the program are an error of class
#'   `xlaffi_error_invalid_argument`.
#' @examplesIf plugins_downloaded()
#' program <- pjrt_program("
#' func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
#'   %y = stablehlo.add %x, %x : tensor<?xf32>
#'   return %y : tensor<?xf32>
#' }
#' ")
#' x <- pjrt_buffer(c(1, 2, 3))
#' exec <- pjrt_compile(refine_shapes(program, list(shape(x))))
#' as_array(pjrt_execute(exec, x))
#' @export
refine_shapes <- function(program, shapes) {
  if (!is.list(shapes)) {
    abort(sprintf("`shapes` must be a list, not %s", describe(shapes)), operand = "shapes")
  }
  check(.Call(wrap__program_refine, program, unname(shapes)))
}
