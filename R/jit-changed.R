# Whether variables have other values than captured_variables() found.

# In most cases they have not: then each value is the object that is kept, and nothing is compared. `watched` is as
# watched() has it. Calls of compiled functions ask; see wrap__call_again, too.
changed <- function(watched) {
  variables <- watched$variables
  same <- .Call(wrap__unchanged, variables, watched$search, search_state$places)
  # In a forked child there is an error in place of an answer.
  if (!isTRUE(same) && (watched$search != search_version() || others(variables))) {
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

# `version` counts how often the user's environments on the search path, `users`, were found to be others. `places` are
# the version and then, by twos, environments: each of these and the one in front of it. What comes first behind the
# global environment is looked at, too, as attach() puts things there.
search_state <- session_state("search_state", version = 0, users = NULL, places = NULL)

search_version <- function() {
  if (!isTRUE(.Call(wrap__unchanged, NULL, NULL, search_state$places))) {
    users <- users_environments(globalenv())
    if (!identical(users, search_state$users)) search_state$version <- search_state$version + 1
    search_state$users <- users
    first <- list(globalenv(), parent.env(globalenv()))
    search_state$places <- c(list(search_state$version), first, unlist(links_to(users[-1L]), recursive = FALSE))
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
