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
