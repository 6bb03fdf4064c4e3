.onLoad <- function(libname, pkgname) {
  .Call(wrap__start)
  the$dtypes <- check(.Call(wrap__dtype_table))
  # pjrt registers its own targets while it loads, so the hooks come late enough.
  join_peers()
  setHook(packageEvent("reticulate", "onLoad"), share_python)
  addTaskCallback(print_waiting_at_prompt, name = "xlaffi_print_waiting")
  # At the end of a session what programs printed last is shown too.
  reg.finalizer(the, function(the) print_waiting(), onexit = TRUE)
}

.onUnload <- function(libpath) {
  print_waiting()
  removeTaskCallback("xlaffi_print_waiting")
  leave_peers()
  remove_hook("reticulate", share_python)
  # XLA may call our code as long as the process lives: the library stays in memory.
}

# reticulate and the CPU plugin use one Python, whichever comes first.
share_python <- function(...) {
  if (isNamespaceLoaded("reticulate")) {
    check(.Call(wrap__python_keep_lock))
  }
}
