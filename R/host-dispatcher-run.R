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
    list(dtype = parsed_dtype(spec$dtype, "phantom_specs", call), shape = spec$shape)
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
      data = NULL, dtype = tengen_dtype(parsed_dtype(aval$dtype, "out_avals", call)), shape = as.integer(aval$shape),
      device = compiled$device, ambiguous = isTRUE(aval$ambiguous), backend = backend
    )
  })
}

# The name of a dtype that the compile callback gave in `part`.
parsed_dtype <- function(dtype, part, call) {
  parsed <- .Call(wrap__dtype_parse, dtype_name(dtype, call))
  if (inherits(parsed, "xlaffi_failure")) {
    parsed$message <- sprintf("Unsupported type in `%s` of the compile callback: %s", part, parsed$message)
    parsed$operand <- "compile"
  }
  check(parsed, call)
}

# What dispatch() makes of the leaves of its arguments: for each leaf whether it is static and
# (`avals`) its dtype and shape; the values that a run needs, in order; and the number of the device
# among those that the dispatcher has seen, NULL where it does not matter.
read_inputs <- function(self, tree, leaves, call = rlang::caller_env()) {
  is_static <- if (length(self$static)) tree_leaf_mask(tree, self$static) else logical(length(leaves))
  avals <- vector("list", length(leaves))
  values <- list()
  device <- NULL
  default_device <- NULL
  refuse <- function(i, problem) {
    kind <- if (is_static[[i]]) "static input" else "input"
    abort(sprintf("invalid %s `%s`: %s", kind, tree_path(tree, i), problem), operand = "args", call = call)
  }
  for (i in seq_along(leaves)) {
    leaf <- leaves[[i]]
    if (is_static[[i]]) {
      if (inherits(leaf, "AnvlArray")) {
        refuse(i, "a static argument must not be an AnvlArray")
      }
      next
    }
    if (is.list(leaf) && inherits(leaf, "AnvlArray")) {
      array <- read_array_leaf(self, leaf, function(problem) refuse(i, problem), call)
      if (!self$move_inputs) {
        at <- device_number(self, array$device)
        if (!is.null(device) && at != device) {
          refuse(i, "it lives on a different device than an earlier input, and `move_inputs` is FALSE")
        }
        device <- at
      }
      avals[[i]] <- array$aval
      values[[length(values) + 1L]] <- array$data
    } else {
      aval <- plain_aval(leaf)
      if (is.null(aval)) {
        refuse(i, sprintf(
          "expected an AnvlArray, a logical or a number other than NA, or an array of such; got <%s> of length %d",
          if (is.object(leaf)) class(leaf)[[1L]] else mode(leaf), length(leaf)
        ))
      }
      avals[[i]] <- aval
      values[[length(values) + 1L]] <- leaf
    }
  }
  if (is.null(device) && !self$move_inputs) {
    default_device <- self$default_device()
    if (self$backend == "pjrt" && !inherits(default_device, "xlaffi_device")) {
      abort(
        sprintf(
          "the `default_device` resolver must return a PJRTDevice (class xlaffi_device), not %s",
          describe(default_device)
        ),
        operand = "default_device", call = call
      )
    }
    device <- device_number(self, default_device)
  }
  list(is_static = is_static, avals = avals, values = values, device = device, default_device = default_device)
}

# An array of the dispatcher's backend; `refuse` raises what is wrong with it.
read_array_leaf <- function(self, leaf, refuse, call) {
  # Its elements themselves, whatever methods its class has.
  fields <- unclass(leaf)
  facts <- if (self$backend == "pjrt") fields["backend"] else self$extractor(leaf)
  backend <- if (is.character(facts$backend) && length(facts$backend)) facts$backend[[1L]] else "<none>"
  if (backend == "plain") {
    refuse("an AnvlArray of the \"plain\" backend is a constant of a trace, not an argument")
  }
  if (backend != self$backend) {
    refuse(sprintf("expected an AnvlArray of backend \"%s\"; got \"%s\"", self$backend, backend))
  }
  data <- fields[["data"]]
  if (self$backend == "pjrt") {
    if (!inherits(data, "xlaffi_buffer")) {
      refuse(sprintf("the `data` of an AnvlArray must be a buffer of xlaffi, not %s", describe(data)))
    }
    info <- buffer_info(data, call)
    facts$aval <- list(dtype = info$dtype, shape = info$shape, ambiguous = fields[["ambiguous"]])
    facts$device <- device(data)
  }
  aval <- facts$aval
  if (is.null(facts$device)) {
    refuse("an AnvlArray must carry $device")
  }
  dtype <- tryCatch(as.character(aval$dtype), error = function(error) NULL)
  if (length(dtype) != 1L || !is.numeric(aval$shape)) {
    refuse("`extractor` must return an `aval` with a dtype and a shape")
  }
  list(data = data, device = facts$device, aval = list(
    dtype = if (dtype == "pred") "bool" else dtype, shape = as.integer(aval$shape),
    ambiguous = isTRUE(aval$ambiguous)
  ))
}

# What a plain R number or array counts as; NULL for what is none.
plain_aval <- function(x) {
  dtype <- switch(typeof(x), double = "f32", integer = "i32", logical = "bool")
  if (is.null(dtype) || is.object(x)) {
    return(NULL)
  }
  is_missing <- is.null(dim(x)) && (length(x) != 1L || is.na(x) && !is.nan(x))
  if (!is_missing) {
    list(dtype = dtype, shape = as.integer(dim(x)), ambiguous = TRUE)
  }
}

# Equal devices have one number, also where a backend makes a new object each time.
device_number <- function(self, device) {
  for (i in seq_along(self$devices)) {
    if (identical(self$devices[[i]], device)) {
      return(i)
    }
  }
  self$devices <- c(self$devices, list(device))
  length(self$devices)
}
