# What other sessions have found out about an objective: its programs, and where the Hessian by the random effects has
# entries.

# All that the traces of an objective depend on; NULL where that is not certain. The data are in there by value: where
# the Hessian has entries may rest on them. To look at more than 64 MiB of them takes longer than to trace.
objective_digest <- function(self) {
  if (utils::object.size(self$data) > 2^26) {
    return(NULL)
  }
  about <- as.list(self)[c("template", "layout", "data", "negate", "dtype", "form")]
  lasting_digest(list(self$f), about)
}

# What recount() traces: how many numbers `f` gives, or the plan of the Hessian and its `facts`. Facts that rest on the
# data are found by a program, which is traced when other data come.
lasting_count <- function(self) {
  trace <- function() {
    with_session_reads(if (length(self$layout$effects)) traced_marginal(self) else traced_count(self))
  }
  keep <- function(made) {
    plan <- made$plan
    if (!is.null(plan)) plan$pattern <- as.list(plan$pattern)[c("nrow", "ncol", "p", "i", "symmetric")]
    list(count = made$count, plan = plan, found = made$facts$found)
  }
  back <- function(saved) {
    if (is.null(saved$plan)) {
      return(list(count = saved$count))
    }
    plan <- saved$plan
    plan$pattern <- do.call(pattern_of_columns, unname(plan$pattern))
    facts <- NULL
    of <- function(other) {
      if (is.null(facts)) facts <<- if (length(saved$found)) trace()$facts else list(of = function(other) list())
      facts$of(other)
    }
    list(count = saved$count, plan = plan, facts = list(of = of, found = saved$found))
  }
  saved_or_made(self$lasting, list(name = "objective", what = "count"), trace, keep, back)
}

# The programs of an objective go by its digest, as it is when they are made, and their names. Settings of the session
# may change until they are traced. Other data under the same programs have the same traces.
lasting_program <- function(program, name, lasting) {
  force(name)
  force(lasting)
  environment(program)$lasting <- function() {
    if (!is.null(lasting)) digest_of(serialize(list(lasting, name, settings()), NULL, version = 2L))
  }
  program
}
