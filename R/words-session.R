# What the session gives traced code besides variables: options, environment variables, random numbers.

# Options and environment variables that traced code asks for, with what they were: a change asks for another program.
with_session_reads <- function(call) {
  outer <- the$session_reads
  on.exit(the$session_reads <- outer)
  the$session_reads <- list()
  call <- force(call)
  call$session <- the$session_reads
  # What surrounds this one has read it, too.
  outer <- c(outer, call$session[setdiff(names(call$session), names(outer))])
  call
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
session_reads <- list(
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
)

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
