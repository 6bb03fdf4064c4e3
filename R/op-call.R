# Ops of the user's own: what ffi_source(), ffi_load(), ffi_routine(), ffi_callback() and ffi_elementwise() return.

# Makes and registers an op, tells what it replaced, and gives it to the plugins that are loaded.
# `dtypes`: by the name of a variable of the signature the dtypes that it ranges over. `instances`: a list with, for
# each body, list(dtypes = one for each variable, pointer = its function, words = NULL or what its arguments are,
# init =, cleanup = the functions for its state or NULL). `options`: `digest` tells its code from that of others,
# `common` does so in all processes that compute together,
# `threads` is "auto" or 1, `status`: the number that a function of words returns is an error unless it is 0,
# `package`. `kernels`: what computes on CUDA, from op_kernels().
own_op_new <- function(name, text, dtypes = list(), instances, options = list(), kernels = NULL) {
  check_own_name(name)
  read_signature(text)
  part <- function(part) lapply(instances, function(instance) instance[[part]])
  done <- check(.Call(
    wrap__own_op_make, name, text, names(dtypes), unname(dtypes), lapply(part("dtypes"), as.character),
    part("pointer"), lapply(part("words"), as.character), part("init"), part("cleanup"), options$digest,
    options$common, isTRUE(options$threads == 1), isTRUE(options$status), isTRUE(options$foreign), options$package,
    kernels
  ))
  own_registered(name, done, options$package)
}

check_own_name <- function(name, call = rlang::caller_env()) {
  check_string(name, "name", call)
  if (startsWith(name, private_prefix)) {
    abort(sprintf("`name` must not begin with \"%s\": such names are this package's own", private_prefix),
      op = name, operand = "name", call = call
    )
  }
}

# `done` is what the glue tells of a registration. A redefinition by the same owner is what one expects.
own_registered <- function(name, done, package = NULL) {
  if (!is.null(done$replaced) && !identical(done$replaced, if (is.null(package)) "" else package)) {
    tell_replaced(name, "host", done$replaced, package)
  }
  for (plugin in ls(host_state$plugins)) {
    pass_on_targets(host_state$plugins[[plugin]], name)
  }
  if (!is.null(package)) {
    unregister_at_unload(package)
  }
  done$op
}

# The op as a function of operands, by position or name, and attributes, by name. `rules` are those of ffi_op(); one
# that has an argument `attributes` is given those of the call, with defaults.
new_own_op <- function(pointer, rules = list(), has_side_effect = FALSE) {
  about <- check(.Call(wrap__own_op_about, pointer))
  check_rules(rules, about$target, NULL)
  own_function(list(
    name = about$target, pointer = pointer, signature = read_signature(about$signature), dtypes = about$dtypes,
    mark = raw_attribute(about$digest, "i64"), has_side_effect = has_side_effect, rules = rules, call = own_call
  ))
}

# `own$call(own, attributes)` gives the function of values that writes the call.
own_function <- function(own) {
  arrange <- function(arguments) own_operands(own, arguments)
  uses <- unlist(own$rules)
  variants <- new.env(parent = emptyenv())
  # Arguments, by their signature, that go to the op without attributes as they are. It has the same identity, so
  # its calls are found here.
  known <- new.env(parent = emptyenv())
  identity <- .Call(wrap__identity_new)
  compiled <- function(...) {
    arguments <- list(...)
    result <- run_known(identity, arguments)
    if (!is.null(result)) {
      return(result)
    }
    key <- if (!is_tracing()) .Call(wrap__signature, identity, arguments)
    call <- if (!is.null(key)) jit_state$calls[[key]]
    if (!is.null(call) && !changed(call$captured)) {
      return(run_again(call, arguments))
    }
    if (!is.null(key) && !is.null(known[[key]])) {
      return(known[[key]](...))
    }
    given <- own_given(own, arguments)
    operands <- own_kept(own, given$operands)
    wanted <- own_wanted(own, operands)
    variant <- own_variant(own, variants, given$attributes, wanted)
    if (!is.null(key) && is.null(wanted) && !length(given$attributes) && identical(operands, given$operands)) {
      environment(variant)$identity <- identity
      assign(key, variant, envir = known)
    }
    do.call(variant, own_constants(own, operands, wanted))
  }
  op <- c(list(name = own$name, call = own$call(own, list()), arrange = arrange, own = own), own$rules)
  structure(compiled, class = c("xlaffi_own_op", "xlaffi_op", "xlaffi_jit", "function"), op = op)
}

#' @export
print.xlaffi_own_op <- function(x, ...) {
  check_print_dots(...)
  op <- attr(x, "op")
  rules <- names(Filter(Negate(is.null), op$own$rules))
  cat("<op ", op$name, ": ", op$own$signature$text, ">\n", sep = "")
  if (length(rules)) {
    cat("  rules: ", toString(rules), "\n", sep = "")
  }
  # Of an expression's op the loops have the pointers.
  pointer <- op$own$pointer
  why <- if (!is.null(pointer)) why_gone(check(.Call(wrap__own_op_about, pointer)))
  if (!is.null(why)) {
    cat("  (its body is ", why, ")\n", sep = "")
  }
  invisible(x)
}

# The op for one set of attributes, in whose program operands are converted to the dtypes in `wanted`.
own_variant <- function(own, variants, attributes, wanted) {
  key <- digest_of(serialize(list(attributes, wanted), NULL))
  variant <- variants[[key]]
  if (is.null(variant)) {
    arrange <- function(arguments) own_converted(own, own_operands(own, arguments), wanted)
    rules <- lapply(own$rules, own_rule, with_defaults(own, attributes))
    variant <- new_op(own$call(own, attributes), rules, own$name, arrange, list())
    variants[[key]] <- variant
  }
  variant
}

with_defaults <- function(own, attributes) {
  defaults <- lapply(own$signature$attributes, `[[`, "default")
  c(attributes, defaults[setdiff(names(defaults), names(attributes))])
}

own_rule <- function(rule, attributes) {
  if (is.list(rule)) {
    lapply(rule, own_rule, attributes)
  } else if (is.function(rule) && "attributes" %in% names(formals(rule))) {
    function(...) rule(..., attributes = attributes)
  } else {
    rule
  }
}

# What puts the call into a program.
own_call <- function(own, attributes) {
  force(own)
  typed <- NULL
  function(...) {
    if (is.null(typed)) {
      typed <<- own_attributes(own, attributes)
    }
    operands <- list(...)
    inputs <- tree_leaves(operands)
    types <- .Call(
      wrap__own_op_types, own$pointer, vapply(inputs, function(input) input@dtype, ""),
      lapply(inputs, function(input) input@shape), typed$numbers
    )
    if (inherits(types, "xlaffi_failure") && grepl("NULL external pointer", types$message, fixed = TRUE)) {
      abort(sprintf("the op `%s` no longer exists: its body does not survive saving and loading", own$name),
        "FAILED_PRECONDITION", op = own$name, call = NULL, hint = "Define it again, as it was."
      )
    }
    types <- check(types, NULL)
    results <- own_results(own, types$results)
    custom_call(own$name, inputs, results$tree,
      attributes = typed$values, own = own$mark,
      operand_layouts = own_layouts(own$signature$operands, operands),
      result_layouts = own_layouts(own$signature$results, results$all),
      aliases = own_aliases(own, operands, results$all), has_side_effect = own$has_side_effect,
      vmap_method = "expand_dims", call = NULL
    )
  }
}

# `all`: by name a list of types; `tree`: as the op returns them.
own_results <- function(own, results) {
  types <- lapply(results, function(result) new_type(result$dtype, as.integer(result$shape)))
  specs <- own$signature$results
  all <- lapply(names(specs), function(name) unname(types[names(types) == name]))
  names(all) <- names(specs)
  tree <- Map(function(spec, types) if (is.null(spec$count)) types[[1L]] else types, specs, all)
  list(all = all, tree = if (length(tree) == 1L && is.null(specs[[1L]]$count)) tree[[1L]] else tree)
}

# For each array how it lies. `given` are trees by name.
own_layouts <- function(specs, given) {
  layouts <- lapply(names(given), function(name) rep(list(specs[[name]]$order), length(tree_leaves(given[[name]]))))
  do.call(c, c(list(list()), layouts))
}

# Results in place take their operand's memory.
own_aliases <- function(own, operands, results) {
  places <- function(all, name) {
    counts <- vapply(all, function(x) length(tree_leaves(x)), 0L)
    at <- match(name, names(all))
    sum(counts[seq_len(at - 1L)]) + seq_len(counts[[at]])
  }
  in_place <- Filter(function(spec) isTRUE(spec$in_place), own$signature$results)
  pairs <- lapply(names(in_place), function(name) {
    Map(c, places(operands, name), places(results, name))
  })
  do.call(c, c(list(list()), pairs))
}
