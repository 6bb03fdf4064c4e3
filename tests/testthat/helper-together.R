# Many functions compiled as one program: a compilation costs what some of their computations do together.

# What each of `functions` gives for values of `arguments`, as a list: its result, or the error that is in its place.
# Each is compiled as by xla_jit(), within the program of all.
results_together <- function(functions, arguments) {
  errors <- list()
  whole <- function(...) {
    lapply(stats::setNames(nm = seq_along(functions)), function(i) {
      tryCatch(xla_jit(functions[[i]])(...), error = function(e) {
        errors[[as.character(i)]] <<- e
        # Otherwise the trace would end with what could not be decided.
        notes <- xlaffi:::trace_state
        notes$undecided <- NULL
        NULL
      })
    })
  }
  results <- do.call(xla_jit(whole), arguments)
  results[names(errors)] <- errors
  stats::setNames(results, names(functions))
}
