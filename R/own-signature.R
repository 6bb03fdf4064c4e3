# The parts of a signature: operands, attributes, results and scratch arrays by name, dimensions,
# dtypes, and `text`, the signature in its usual form.
read_signature <- function(text, call = rlang::caller_env()) {
  check_string(text, "signature", call)
  failure <- .Call(wrap__own_signature, text)
  if (!inherits(failure, "xlaffi_failure")) {
    return(failure)
  }
  # As it is: the place is shown under the text.
  rlang::abort(
    c(failure$message, i = failure$hint),
    class = c("xlaffi_error_invalid_argument", "xlaffi_error"),
    code = failure$code,
    op = NULL,
    operand = failure$operand,
    call = call,
    use_cli_format = FALSE
  )
}
