#' Tokens: calls one after another
#'
#' XLA orders calls by what they take from one another. Where there is nothing to take, a token says which
#' comes first: a value without data that one call gives and the next one takes.
#'
#' @details
#' Handlers get tokens as buffers of dtype `token`, among their operands and results, so only those that expect
#' tokens take them; our `print_tensor` does, behind its operand and as results. For handlers that know of none there
#' is `has_side_effect = "ordered"`, see [hlo_custom_call()].
#'
#' Tokens are operands and results of [hlo_custom_call()] and [ffi_call()] (`ffi_type("token")`), and
#' [hlo_while()] carries them. They are no numbers, a program can neither be given one nor
#' return it, and calls that take or give tokens have no batches ([xla_vmap()]). What only gives a token that
#' nobody needs is left out, unless it has `has_side_effect = TRUE`.
#'
#' @param ... Tokens. Without any the token is a new one, which comes after nothing.
#' @return A token, which comes after all of `...`: a [value][xlaffi_value] of dtype `token`.
#' @section Errors:
#' Anything but tokens is an error, and so are tokens in any other function.
#'
#' @examplesIf plugins_downloaded()
#' say <- function(x, header, after) {
#'   hlo_custom_call("print_tensor", list(x, after), ffi_type("token"),
#'     list(print_header = header), has_side_effect = TRUE
#'   )
#' }
#' f <- xla_jit(function(x) {
#'   first <- say(x, "first", hlo_token())
#'   say(x * 2, "second", first)
#'   x
#' })
#' f(1)
#' @export
hlo_token <- function(...) {
  tokens <- list(...)
  for (i in seq_along(tokens)) {
    given <- tokens[[i]]
    if (!is_value(given) || !is_token(given)) {
      shown <- if (is_value(given)) type_text(given) else describe(given)
      abort(sprintf("hlo_token: argument %d must be a token, not %s", i, shown),
        op = "hlo_token", operand = "..."
      )
    }
  }
  bind("after_all", unname(tokens), "token", integer())
}

primitive("after_all",
  text = function(node, operands, scope) {
    op <- if (length(operands)) paste("after_all", toString(operands)) else "create_token"
    sprintf("stablehlo.%s : %s", op, result_types(node))
  },
  export = exported_params()
)
