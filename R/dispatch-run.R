# What runs a compiled entry of a dispatcher: functions of the list of the call's values.

closure_runner <- function(compiled, call = rlang::caller_env()) {
  if (!is.list(compiled) || !is.function(compiled$r_fun)) {
    abort("the compile callback must return a list with a function `r_fun`", operand = "compile", call = call)
  }
  compiled$r_fun
}

# Everything that the compile callback claims is checked before it is kept, but for the number of
# results, which only a run shows.
pjrt_runner <- function(compiled, self, call = rlang::caller_env()) {
  for (part in names(entry_classes)) {
    if (!is.list(compiled) || !inherits(compiled[[part]], entry_classes[[part]])) {
      abort(
        sprintf("the compile callback must return `%s` (class %s)", part, entry_classes[[part]]),
        operand = "compile", call = call
      )
    }
  }
  exec <- compiled$exec
  device <- compiled$device
  out_tree <- compiled$out_tree
  templates <- result_templates(compiled, self$backend, call)
  constants <- compiled$const_arrays
  if (!is.null(constants) && !is.list(constants)) {
    abort("`const_arrays` must be a list of buffers or NULL", operand = "compile", call = call)
  }
  for (i in seq_along(constants)) {
    if (!inherits(constants[[i]], "xlaffi_buffer")) {
      abort(sprintf("`const_arrays[[%d]]` must be a PJRTBuffer (class xlaffi_buffer)", i),
        operand = "compile", call = call
      )
    }
  }
  phantoms <- lapply(compiled$phantom_specs, function(spec) {
    list(dtype = parsed_dtype(spec$dtype, call), shape = spec$shape)
  })
  function(values) {
    inputs <- lapply(values, on_device, device = device, move = self$move_inputs)
    fresh <- lapply(phantoms, function(spec) pjrt_empty(spec$dtype, spec$shape, device))
    outputs <- do.call(pjrt_execute, c(list(exec), unname(constants), inputs, fresh, simplify = FALSE))
    if (length(outputs) != length(templates)) {
      abort(sprintf(
        "out_tree has %d leaves but the executable returned %d outputs", length(templates), length(outputs)
      ), operand = "compile", call = NULL)
    }
    unflatten(out_tree, Map(function(template, output) {
      template$data <- output
      structure(template, class = "AnvlArray")
    }, templates, outputs))
  }
}

entry_classes <- c(
  exec = "xlaffi_executable", client = "xlaffi_client", device = "xlaffi_device", out_tree = "xlaffi_tree"
)

# An argument as a buffer on the entry's device.
on_device <- function(value, device, move) {
  if (inherits(value, "xlaffi_buffer")) {
    return(if (move) copy_buffer(value, device) else value)
  }
  pjrt_buffer(value, device = device, shape = as.integer(dim(value)))
}

# One array for each result, without its data.
result_templates <- function(compiled, backend, call) {
  avals <- compiled$out_avals
  if (!is.list(avals)) {
    abort("the compile callback must return `out_avals` (a list)", operand = "compile", call = call)
  }
  size <- tree_size(compiled$out_tree)
  if (length(avals) != size) {
    abort(sprintf("out_avals has length %d but out_tree has %d leaves", length(avals), size),
      operand = "compile", call = call
    )
  }
  lapply(unname(avals), function(aval) {
    if (!is.list(aval) || is.null(aval$dtype) || is.null(aval$shape) && !"shape" %in% names(aval)) {
      abort("each of `out_avals` must be a list with `dtype` and `shape`", operand = "compile", call = call)
    }
    list(
      data = NULL, dtype = tengen_dtype(parsed_dtype(aval$dtype, call)), shape = as.integer(aval$shape),
      device = compiled$device, ambiguous = isTRUE(aval$ambiguous), backend = backend
    )
  })
}

parsed_dtype <- function(dtype, call) check(.Call(wrap__dtype_parse, dtype_name(dtype, call)), call)
