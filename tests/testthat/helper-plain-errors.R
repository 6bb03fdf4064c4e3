# The value of `code`, in which errors of this package are conditions of the same classes, fields and words, but are not
# laid out for a console: that takes longer than most of what is refused.
with_plain_errors <- function(code) {
  namespace <- asNamespace("xlaffi")
  replace <- function(value) {
    unlockBinding("abort", namespace)
    assign("abort", value, namespace)
    lockBinding("abort", namespace)
  }
  usual <- get("abort", namespace)
  on.exit(replace(usual))
  replace(function(message, code = "INVALID_ARGUMENT", op = NULL, operand = NULL, hint = NULL, ...) {
    stop(structure(
      list(message = paste(c(message, hint), collapse = "\n"), call = NULL, code = code, op = op, operand = operand),
      class = c(paste0("xlaffi_error_", tolower(code)), "xlaffi_error", "error", "condition")
    ))
  })
  force(code)
}
