# What the session gives traced code besides the variables that it names: what it reads by functions of R's, options,
# environment variables, random numbers.

# What traced code asks for, with what it was: a change asks for another program.
with_session_reads <- function(call) {
  outer <- the$session_reads
  on.exit(the$session_reads <- outer)
  the$session_reads <- list()
  call <- force(call)
  reads <- the$session_reads
  call$session <- grouped_reads(reads)
  # What surrounds this one has read it, too.
  outer <- c(outer, reads[setdiff(names(reads), names(outer))])
  call
}

# As captured_variables() has them: variables by environments, without what the code has changed itself.
grouped_reads <- function(reads) {
  is_variable <- vapply(reads, function(read) is.environment(read$env), NA)
  groups <- list()
  for (read in reads[is_variable]) {
    place <- Position(function(group) identical(group$env, read$env), groups)
    if (is.na(place)) {
      groups <- c(groups, list(list(env = read$env, names = names(read$values), values = read$values)))
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
  if (is.null(the$session_reads[[key]])) {
    the$session_reads[[key]] <- list(read = read, value = value)
  }
  value
}

# What stands for these functions in a scope
session_reads <- c(environment_reads, sapply(noted_facts, noting_fact), list(
  getOption = function(x, default = NULL) {
    value <- noted_read("getOption", list(x))
    if (is.null(value)) default else value
  },
  Sys.getenv = function(...) noted_read("Sys.getenv", list(...)),
  options = function(...) {
    given <- list(...)
    asked <- if (length(given)) Filter(is.character, given) else list()
    if (length(given) && !is.null(names(given)) || length(asked) < length(given)) {
      return(base::options(...))
    }
    noted_read("options", asked)
  }
))

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
