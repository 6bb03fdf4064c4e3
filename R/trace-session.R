# What the session gives traced code besides the variables that it names, and what a program keeps of it.

# What of a group's variables there is (captured_variables() has groups): in one of functions these, and arguments that
# were left out, which cannot be looked at.
only_functions <- function(values, functions = TRUE) {
  if (functions) values[!vapply(values, is.function, NA) & !vapply(values, is_missing_arg, NA)] <- list(NULL)
  values
}

# What the variables of a group are now
values_now <- function(group) only_functions(mget(group$names, group$env, "any", list(NULL)), group$functions)

# Without what the function itself has changed: those are its own notes.
settled <- function(captured) {
  lapply(captured, function(group) {
    now <- values_now(group)
    kept <- vapply(seq_along(now), function(i) is_same(now[i], group$values[i]), NA)
    group$names <- group$names[kept]
    group$values <- group$values[kept]
    group
  })
}

# What traced code asks for, with what it was: a change asks for another program.
with_session_reads <- function(call) {
  outer <- trace_state$session_reads
  on.exit(trace_state$session_reads <- outer)
  trace_state$session_reads <- list()
  call <- force(call)
  reads <- trace_state$session_reads
  call$session <- grouped_reads(reads)
  # What surrounds this one has read it, too.
  outer <- joined_reads(outer, reads)
  call
}

joined_reads <- function(reads, more) c(reads, more[setdiff(names(more), names(reads))])

# As captured_variables() has them: variables by environments, without what the code has changed itself.
grouped_reads <- function(reads) {
  is_variable <- vapply(reads, function(read) is.environment(read$env), NA)
  groups <- list()
  for (read in reads[is_variable]) {
    place <- Position(function(group) {
      identical(group$env, read$env) && group$functions == read$functions
    }, groups)
    if (is.na(place)) {
      group <- list(env = read$env, names = names(read$values), values = read$values, functions = read$functions)
      groups <- c(groups, list(group))
    } else {
      groups[[place]]$names <- c(groups[[place]]$names, names(read$values))
      groups[[place]]$values <- c(groups[[place]]$values, read$values)
    }
  }
  c(reads[!is_variable], settled(groups))
}

# What a function of base gives, noted once: a loop that asks again is one question at the next call. What traced code
# has changed itself in between is its own affair.
noted_read <- function(name, arguments) {
  read <- function() do.call(getExportedValue("base", name), arguments)
  value <- read()
  key <- rlang::hash(list(name, arguments))
  if (is.null(trace_state$session_reads[[key]])) {
    trace_state$session_reads[[key]] <- list(read = read, value = value)
  }
  value
}

random_state <- function() get0(".Random.seed", envir = globalenv(), inherits = FALSE)

# In code that the scope does not reach, R's random numbers are drawn all the same.
check_no_draws <- function(before) {
  if (!identical(before, random_state())) {
    abort("random numbers of R's were drawn while the program was written: they would be the same in every run",
      "UNIMPLEMENTED",
      op = "function", call = NULL,
      hint = "The functions `hlo_r*()` draw each time, with a key; or pass the numbers as an argument."
    )
  }
}
