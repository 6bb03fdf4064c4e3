# Runs `f` on values of the given types and gives the program that it wrote: its `region`. `arguments` is a list
# of trees of types, `results` a tree of types; `present` is what `f` has set, a function that makes of the results of a
# run what its caller gets. `platform` is where it is going to run, `mesh` on which devices if these are several; what
# `f` does may make it a program for a mesh, see use_mesh(). `ordered` keeps sums in the order in which `f` has them.
trace_program <- function(f, arguments, platform = default_platform(), mesh = NULL, labels = list(NULL),
                          ordered = FALSE) {
  own <- c(
    "platform", "undecided", "mesh", "manual", "names_read", "branch", "present", "opaque", "templates",
    "solved", "solved_ops", "later", "loops", "ordered"
  )
  outer <- mget(own, trace_state)
  trace_state$branch <- whole <- new.env(parent = emptyenv())
  on.exit({
    list2env(outer, trace_state)
    whole$ended <- TRUE
  })
  trace_state$platform <- platform
  trace_state$mesh <- mesh
  trace_state$ordered <- ordered
  trace_state$undecided <- trace_state$manual <- trace_state$names_read <- NULL
  trace_state$present <- trace_state$opaque <- NULL
  trace_state$templates <- trace_state$solved <- trace_state$solved_ops <- trace_state$loops <- list()
  trace_state$later <- 0
  check_no_tokens(tree_leaves(arguments), "a program cannot be given a token")
  tree <- NULL
  seed <- random_state()
  region <- trace_region(function(params) {
    first <- trace_state$node_count + 1
    params <- if (length(params)) Map(labelled, params, labels) else params
    tree <<- tree_map(hooks$with_written_calls(call_written(f, tree_fill(arguments, params))), program_data)
    if (!is.null(trace_state$undecided)) stop(trace_state$undecided)
    check_no_draws(seed)
    results <- lapply(tree_leaves(tree), result_value)
    check_no_tokens(results, "the function returns a token, which a program cannot give back")
    hooks$with_loops(results, first)
  }, tree_leaves(arguments))
  region$ordered <- ordered
  list(
    region = region, results = tree_fill(tree, lapply(region$results, type_of)), mesh = trace_state$mesh,
    names_read = isTRUE(trace_state$names_read), present = trace_state$present, opaque = trace_state$opaque
  )
}

# Unless a handler within the trace is for errors of this package
hooks$not_decided <- function(condition) {
  if (!is_tracing() || !is.null(trace_state$undecided)) {
    return()
  }
  within <- FALSE
  for (i in rev(seq_len(sys.nframe()))) {
    if (identical(sys.function(i), trace_program)) break
    within <- within || any(startsWith(names2(sys.call(i)), "xlaffi_error"))
  }
  if (!within) trace_state$undecided <- condition
}

result_value <- function(x) {
  x <- r_data(x)
  if (!is_value(x) && !is_data(x)) {
    abort(sprintf("the function's result must be values of the program, numbers or logicals, not %s", describe(x)),
      operand = "f", hint = if (!inherits(x, "xlaffi_buffer")) data_hint(x), call = NULL
    )
  }
  problem <- if (!is_value(x)) na_problem(x, r_dtype(x))
  if (!is.null(problem)) {
    abort(paste("the function's result", problem), operand = "f", hint = na_hint(x), call = NULL)
  }
  as_value(x, "f", call = NULL)
}

# Names of the arguments for messages: the given one or the number.
argument_names <- function(arguments) {
  names <- names2(arguments)
  ifelse(nzchar(names), sprintf("`%s`", names), as.character(seq_along(arguments)))
}

argument_types <- function(arguments, call = rlang::caller_env()) {
  Map(
    function(argument, name) tree_map(argument, argument_type, name, call),
    arguments, argument_names(arguments)
  )
}
