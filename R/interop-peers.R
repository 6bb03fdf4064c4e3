# What packages that may be loaded beside us get from us: methods for their generics, and targets.
# Each function is called when its package is loaded, or at once if it is.
peer_hooks <- function() {
  list(
    tengen = register_tengen_methods, waldo = register_waldo_methods,
    safetensors = register_safetensors, pjrt = offer_to_pjrt, stablehlo = register_stablehlo_methods,
    posterior = register_posterior_methods, coda = register_coda_methods
  )
}

join_peers <- function() {
  hooks <- peer_hooks()
  for (package in names(hooks)) {
    if (isNamespaceLoaded(package)) {
      hooks[[package]]()
    }
    setHook(packageEvent(package, "onLoad"), hooks[[package]])
  }
}

leave_peers <- function() {
  hooks <- peer_hooks()
  for (package in names(hooks)) {
    remove_hook(package, hooks[[package]])
  }
}

# `methods`: functions by generic and class, `list(shape = list(xlaffi_buffer = f))`. Generics that
# this version of the package lacks are passed over.
register_methods <- function(package, methods) {
  namespace <- asNamespace(package)
  for (generic in intersect(names(methods), ls(namespace))) {
    for (class in names(methods[[generic]])) {
      registerS3method(generic, class, methods[[generic]][[class]], envir = namespace)
    }
  }
}

# tengen's generics of the same names answer for our objects too.
register_tengen_methods <- function(...) {
  register_methods("tengen", list(
    as_array = list(
      xlaffi_buffer = as_array.xlaffi_buffer, xlaffi_array_promise = as_array.xlaffi_array_promise
    ),
    as_raw = list(xlaffi_buffer = as_raw.xlaffi_buffer),
    as_dtype = list(xlaffi_dtype = function(x) tengen_dtype(as.character(x))),
    device = list(
      xlaffi_buffer = device.xlaffi_buffer, xlaffi_executable = device.xlaffi_executable
    ),
    dtype = list(xlaffi_buffer = dtype.xlaffi_buffer),
    shape = list(xlaffi_buffer = shape.xlaffi_buffer)
  ))
}

# What as_anvl() puts into programs is written by us.
register_stablehlo_methods <- function(...) {
  register_methods("stablehlo", list(repr = list(xlaffi_embedded = embedded_text)))
}

# posterior's other conversions and its summaries begin with as_draws().
register_posterior_methods <- function(...) {
  as_draws_array <- function(x, ...) getExportedValue("posterior", "as_draws_array")(as.array(x), ...)
  register_methods("posterior", list(
    as_draws = list(xlaffi_draws = as_draws_array), as_draws_array = list(xlaffi_draws = as_draws_array)
  ))
}

register_coda_methods <- function(...) {
  register_methods("coda", list(as.mcmc.list = list(xlaffi_draws = function(x, ...) {
    check_dots_empty(...)
    thin <- if (is.null(x$info$thin)) 1 else x$info$thin
    chains <- lapply(seq_len(dim(x$draws)[[2L]]), function(k) {
      own <- x$draws[, k, , drop = FALSE]
      numbers <- matrix(own, dim(own)[[1L]], dimnames = list(NULL, dimnames(own)[[3L]]))
      getExportedValue("coda", "mcmc")(numbers, thin = thin)
    })
    getExportedValue("coda", "mcmc.list")(chains)
  })))
}

# Buffers are compared by what they hold, not by their address, in testthat's expect_equal().
register_waldo_methods <- function(...) {
  register_methods("waldo", list(compare_proxy = list(
    xlaffi_buffer = function(x, path) {
      info <- buffer_info(x)
      data <- as_array(x)
      # waldo cannot show differences between arrays of one dimension.
      dim(data) <- NULL
      list(object = list(dtype = info$dtype, shape = info$shape, device = format(device(x)), data = data), path = path)
    },
    xlaffi_sharded = function(x, path) {
      data <- as_array(x)
      dim(data) <- NULL
      object <- list(dtype = x@dtype, shape = x@shape, mesh = x@mesh$key, spec = format_spec(x@spec), data = data)
      list(object = object, path = path)
    },
    xlaffi_array_promise = function(x, path) {
      array <- value(x)
      list(object = list(dim = dim(array), data = `dim<-`(array, NULL)), path = path)
    }
  )))
}
