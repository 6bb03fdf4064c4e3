# A stand-in for the package stablehlo up to 0.3: what this package calls of it, with the same arguments, and the fields
# that it looks at. It writes functions of custom ops, of `text` and of returned values.
state <- new.env()

repr <- function(x, ...) {
  if (is.null(state$names)) {
    state$names <- list()
    on.exit(state$names <- NULL)
  }
  UseMethod("repr")
}

repr.ValueId <- function(x, ...) {
  at <- Position(function(id) identical(id, x$id), state$names)
  if (is.na(at)) {
    state$names <- c(state$names, list(x$id))
    at <- length(state$names)
  }
  paste0("%", at - 1L)
}

repr.OpInputValue <- function(x, ...) repr(x$id)

repr.OpOutput <- function(x, ...) repr(x$id)

repr.ValueType <- function(x, ...) {
  sprintf("tensor<%s>", paste(c(x$shape, if (x$dtype == "bool") "i1" else x$dtype), collapse = "x"))
}

repr.Op <- function(x, ...) {
  names <- function(values) paste(vapply(values, repr, ""), collapse = ", ")
  types <- function(types) paste(vapply(types, repr, ""), collapse = ", ")
  signature <- sprintf("(%s) -> (%s)", types(x$signature$input_types), types(x$signature$output_types))
  sprintf(
    "%s = \"stablehlo.%s\"(%s) %s : %s", names(x$outputs), x$name$mnemonic, names(x$inputs$values),
    x$inputs$custom_attrs$text, signature
  )
}

repr.OpReturn <- function(x, ...) {
  sprintf(
    "return %s : %s", paste(vapply(x$inputs$values, repr, ""), collapse = ", "),
    paste(vapply(x$signature$input_types, repr, ""), collapse = ", ")
  )
}

repr.Func <- function(x, ...) {
  inputs <- vapply(x$inputs, function(input) paste0(repr(input$id), ": ", repr(input$type)), "")
  outputs <- paste(vapply(x$outputs, repr, ""), collapse = ", ")
  sprintf(
    "func.func @main (%s) -> %s {\n%s\n}\n", paste(inputs, collapse = ", "),
    if (length(x$outputs) > 1L) sprintf("(%s)", outputs) else outputs, paste(func_lines(x), collapse = "\n")
  )
}

.current_func <- function() state$func

Op <- function(name, inputs, outputs, signature) {
  structure(list(name = name, inputs = inputs, outputs = outputs, signature = signature), class = "Op")
}

OpName <- function(mnemonic, dialect = "stablehlo") list(mnemonic = mnemonic, dialect = dialect)

OpInputs <- function(values, funcs = OpInputFuncs(), attrs = OpInputAttrs(), custom_attrs = list()) {
  list(values = values, custom_attrs = custom_attrs)
}

OpInputValues <- function(items = list()) structure(items, class = "OpInputValues")

OpInputValue <- function(id) structure(list(id = id), class = "OpInputValue")

OpOutputs <- function(items = list()) structure(items, class = "OpOutputs")

OpOutput <- function(id = ValueId()) structure(list(id = id), class = "OpOutput")

OpSignature <- function(input_types, output_types) list(input_types = input_types, output_types = output_types)

ValueTypes <- function(items = list()) structure(items, class = "ValueTypes")

ValueType <- function(type, shape = NULL) structure(list(dtype = type, shape = shape), class = "ValueType")

ValueId <- function(id = NULL) structure(list(id = new.env(size = 0L)), class = "ValueId")

FuncBody <- function(items = list()) structure(unclass(items), class = "FuncBody")

FuncValue <- function(value_id, value_type, func) {
  structure(list(value_id = value_id, value_type = value_type, func = func), class = "FuncValue")
}

# What the stand-in for anvl builds with

new_func <- function() {
  func <- structure(new.env(), class = "Func")
  func$inputs <- list()
  func$body <- FuncBody()
  state$func <- func
}

keep_op <- function(func, op) func$body <- FuncBody(c(func$body, list(op)))

func_lines <- function(func) vapply(func$body, repr, "")

func_input <- function(func, type) {
  id <- ValueId()
  func$inputs <- c(func$inputs, list(list(id = id, type = type)))
  FuncValue(id, type, func)
}

add_op <- function(func, mnemonic, values, types, text = "") {
  ids <- lapply(types, function(type) ValueId())
  op <- Op(
    OpName(mnemonic),
    OpInputs(
      OpInputValues(lapply(values, function(value) OpInputValue(value$value_id))), custom_attrs = list(text = text)
    ),
    OpOutputs(lapply(ids, OpOutput)),
    OpSignature(ValueTypes(lapply(values, function(value) value$value_type)), ValueTypes(types))
  )
  if (mnemonic == "return") {
    class(op) <- c("OpReturn", "Op")
    func$outputs <- lapply(values, function(value) value$value_type)
  }
  keep_op(func, op)
  Map(function(id, type) FuncValue(id, type, func), ids, types)
}

.onLoad <- function(...) {
  for (class in c("ValueId", "OpInputValue", "OpOutput", "ValueType", "Op", "OpReturn", "Func")) {
    registerS3method("repr", class, get(paste0("repr.", class)))
  }
}
