# Whether variables have other values than captured_variables() found.

# In most cases they have not: then each value is the object that is kept, and nothing is compared. `watched` is as
# watched() has it. Each call of a compiled function asks.
changed <- function(watched) {
  variables <- watched$variables
  same <- watched$search == search_version() &&
    (identical(.Call(wrap__same_variables, variables), TRUE) || !others(variables))
  if (!same) {
    return(TRUE)
  }
  for (group in watched$reads) if (!is_same(group$read(), group$value)) return(TRUE)
  FALSE
}

# Where not all objects are the same: whether values are others
others <- function(variables) {
  for (group in variables) {
    values <- values_now(group)
    # In a forked child there is an error in place of an answer.
    if (!isTRUE(.Call(wrap__same_objects, values, group$values)) && !is_same(values, group$values)) {
      return(TRUE)
    }
  }
  FALSE
}

# `version` counts how often the user's environments on the search path were found to be others. `links` are these, each
# with the one before it; what comes first behind the global environment, `top`, is looked at, too, as attach() puts
# things there.
search_state <- session_state("search_state", version = 0, links = list(), top = NULL, users = NULL)

search_version <- function() {
  same <- identical(parent.env(globalenv()), search_state$top)
  for (link in search_state$links) same <- same && identical(parent.env(link[[1L]]), link[[2L]])
  if (!same) {
    users <- users_environments(globalenv())
    if (!identical(users, search_state$users)) search_state$version <- search_state$version + 1
    search_state$users <- users
    search_state$top <- parent.env(globalenv())
    search_state$links <- links_to(users[-1L])
  }
  search_state$version
}

# Each of the environments `to` with the one that is around it from within
links_to <- function(to) {
  links <- list()
  env <- globalenv()
  while (length(links) < length(to)) {
    behind <- parent.env(env)
    if (any(vapply(to, identical, NA, behind))) links <- c(links, list(list(env, behind)))
    env <- behind
  }
  links
}
