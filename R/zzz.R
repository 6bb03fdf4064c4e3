.onLoad <- function(libname, pkgname) {
  keep_session(topenv())
  register_refused()
  register_overloads()
  register_refused_sharded()
  register_sparse()
  .Call(wrap__start)
  note_library()
  note_code()
  check(.Call(wrap__callback_open, quote(serve_callback), topenv()))
  type_state$dtypes <- check(.Call(wrap__dtype_table))
  type_state$kinds <- list(
    float = dtypes_of_kind("float"), complex = dtypes_of_kind("complex"),
    integer = dtypes_of_kind(c("signed", "unsigned")), inexact = dtypes_of_kind(c("float", "complex"))
  )
  # pjrt registers its own targets while it loads, so the hooks come late enough.
  join_peers()
  setHook(packageEvent("reticulate", "onLoad"), share_python)
  join_knitr()
  addTaskCallback(print_waiting_at_prompt, name = "xlaffi_print_waiting")
  follow_debug_option()
  addTaskCallback(function(...) follow_debug_option(), name = "xlaffi_debug")
  # At the end of a session what programs printed last is shown too, and none waits for R any more.
  # Other processes are told that this one has not died.
  reg.finalizer(session, function(session) {
    .Call(wrap__distributed_leave)
    .Call(wrap__callback_close)
    print_waiting()
    .Call(wrap__leave_session)
  }, onexit = TRUE)
}

.onUnload <- function(libpath) {
  .Call(wrap__callback_close)
  print_waiting()
  removeTaskCallback("xlaffi_print_waiting")
  removeTaskCallback("xlaffi_debug")
  leave_peers()
  leave_knitr()
  remove_hook("reticulate", share_python)
  # XLA may call our code as long as the process lives: the library stays in memory.
}

# Loaded again, the same version goes on with the session that it had: programs, buffers and functions that were
# made before are none of the old copy's alone, and the numbers of nodes must go on.
keep_session <- function(namespace) {
  version <- getNamespaceVersion(namespace)
  before <- Filter(function(hook) identical(hook()$version, version), getHook("xlaffi_session"))
  if (length(before)) {
    kept <- before[[1L]]()
    assign("session", kept, envir = namespace)
    for (owner in setdiff(names(kept), "version")) assign(owner, kept[[owner]], envir = namespace)
  } else {
    session <- get("session", envir = namespace)
    session$version <- version
    setHook("xlaffi_session", function() session, action = "replace")
  }
}
