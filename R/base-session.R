# What lives as long as the session. Each owner has a small environment for it, of its own file.
session <- new.env(parent = emptyenv())

# Makes the environment of one owner, with what it has at the start; see keep_session() for what becomes of it when the
# package is loaded again.
session_state <- function(.name, ...) {
  session[[.name]] <- list2env(list(...), parent = emptyenv())
}
