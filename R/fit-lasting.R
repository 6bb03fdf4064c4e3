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
# data are found by a program that is traced when other data come.
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
    plan <- saved$plan
    if (is.null(plan)) {
      return(list(count = saved$count))
    }
    plan$pattern <- do.call(pattern_of_columns, unname(plan$pattern))
    of <- if (length(saved$found)) function(other) trace()$facts$of(other) else function(other) list()
    list(count = saved$count, plan = plan, facts = list(of = of, found = saved$found))
  }
  saved_or_made(self$lasting, list(name = "objective", what = "count"), trace, keep, back)
}

# The programs of an objective go by its digest and their names. Settings of the session may have changed since then.
lasting_program <- function(program, name, self) {
  environment(program)$lasting <- function() {
    lasting <- self$lasting
    if (!is.null(lasting)) digest_of(serialize(list(lasting, name, settings()), NULL, version = 2L))
  }
  program
}
