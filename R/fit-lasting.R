# What recount() finds out about an objective, here or in another session: its programs, and where the Hessian by the
# random effects has entries.

# Traces `f`, and so reads what it reads of the session, or finds what another session has. Programs stay if they are
# the same.
recount <- function(self) {
  before <- self$lasting
  traced <- lasting_count(self)
  self$captured <- watched(captured_variables(list(self$f)), traced$session)
  self$facts <- traced$facts
  same <- identical(self$count, traced$count) && same_plan(self$plan, traced$plan) && identical(self$lasting, before)
  if (!same) {
    self$count <- traced$count
    self$plan <- traced$plan
    programs <- if (is.null(self$plan)) objective_programs(self) else marginal_programs(self)
    self$programs <- Map(lasting_program, programs, names(programs), list(self$lasting))
  }
}

# How many numbers `f` gives, or the plan of the Hessian and its `facts`. `self$lasting` becomes the digest of all that
# the programs depend on, NULL where that is not certain: of the data there are types and names in it, and the numbers
# only where the plan rests on some of them.
lasting_count <- function(self) {
  trace <- function() {
    with_session_reads({
      traced <- traced_count(self)
      if (length(self$layout$effects)) traced_marginal(self) else traced
    })
  }
  rests <- function(made) length(made$facts$found) > 0L
  back <- function(saved) if (isTRUE(saved$rests)) saved else saved_count(saved, trace)
  wanted <- list(name = "objective", what = "count")
  about <- as.list(self)[c("template", "layout", "types", "negate", "dtype", "form")]
  labels <- lapply(tree_leaves(self$data), data_labels)
  self$lasting <- lasting_digest(list(self$f), c(about, list(labels = labels)))
  made <- saved_or_made(self$lasting, wanted, trace, back = back, keep = function(made) {
    if (rests(made)) list(rests = TRUE) else plain_count(made)
  })
  if (isTRUE(made$rests) || rests(made)) {
    self$lasting <- with_data(self$lasting, self$data)
    make <- if (isTRUE(made$rests)) trace else function() made
    made <- saved_or_made(self$lasting, wanted, make, back = back, keep = plain_count)
  }
  made
}

# To look at more than 64 MiB of data takes longer than to trace.
with_data <- function(digest, data) {
  if (!is.null(digest) && utils::object.size(data) <= 2^26) digest_with(digest, data)
}

plain_count <- function(made) {
  plan <- made$plan
  if (!is.null(plan)) plan$pattern <- columns_of_pattern(plan$pattern)
  list(count = made$count, plan = plan, found = made$facts$found)
}

# Facts that rest on the data are found by a program, which is traced when other data come.
saved_count <- function(saved, trace) {
  plan <- saved$plan
  if (is.null(plan)) {
    return(list(count = saved$count))
  }
  plan$pattern <- do.call(pattern_of_columns, plan$pattern)
  facts <- NULL
  of <- function(other) {
    if (is.null(facts)) facts <<- if (length(saved$found)) trace()$facts else list(of = function(other) list())
    facts$of(other)
  }
  list(count = saved$count, plan = plan, facts = list(of = of, found = saved$found))
}

# The programs of an objective go by its digest, as it is when they are made, and their names; by none if settings of
# the session have changed until they are traced. Other data under the same programs have the same traces.
lasting_program <- function(program, name, lasting) {
  force(name)
  before <- if (!is.null(lasting)) settings()
  environment(program)$lasting <- function() {
    if (!is.null(lasting) && identical(settings(), before)) text_digest(c(lasting, name))
  }
  program
}
