.onLoad <- function(libname, pkgname) {
  .Call(wrap__start)
  the$dtypes <- check(.Call(wrap__dtype_table))
  register_tengen_methods()
  setHook(packageEvent("tengen", "onLoad"), register_tengen_methods)
  # pjrt registers its own targets while it loads, so the hook comes late enough.
  if (isNamespaceLoaded("pjrt")) {
    offer_to_pjrt()
  }
  setHook(packageEvent("pjrt", "onLoad"), offer_to_pjrt)
  setHook(packageEvent("reticulate", "onLoad"), share_python)
  addTaskCallback(print_waiting_at_prompt, name = "xlaffi_print_waiting")
  # At the end of a session what programs printed last is shown too.
  reg.finalizer(the, function(the) print_waiting(), onexit = TRUE)
}

.onUnload <- function(libpath) {
  print_waiting()
  removeTaskCallback("xlaffi_print_waiting")
  remove_hook("tengen", register_tengen_methods)
  remove_hook("pjrt", offer_to_pjrt)
  remove_hook("reticulate", share_python)
  # XLA may call our code as long as the process lives: the library stays in memory.
}

# reticulate and the CPU plugin use one Python, whichever comes first.
share_python <- function(...) {
  if (isNamespaceLoaded("reticulate")) {
    check(.Call(wrap__python_keep_lock))
  }
}

remove_hook <- function(package, hook) {
  event <- packageEvent(package, "onLoad")
  left <- Filter(function(f) !identical(f, hook), getHook(event))
  setHook(event, left, action = "replace")
}

# tengen's generics of the same names answer for our buffers too.
register_tengen_methods <- function(...) {
  if (!isNamespaceLoaded("tengen")) {
    return(invisible())
  }
  tengen <- asNamespace("tengen")
  methods <- list(
    as_array = as_array.xlaffi_buffer, as_raw = as_raw.xlaffi_buffer,
    device = device.xlaffi_buffer, shape = shape.xlaffi_buffer,
    dtype = function(x, ...) get("as_dtype", tengen)(buffer_info(x)$dtype)
  )
  for (generic in intersect(names(methods), ls(tengen))) {
    registerS3method(generic, "xlaffi_buffer", methods[[generic]], envir = tengen)
  }
}
