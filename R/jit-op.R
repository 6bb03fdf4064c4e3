#' An op: a function with rules
#'
#' Makes a function of [values][xlaffi_value], most often one round a custom call, into an object
#' that knows its derivatives and how to work on batches.
#'
#' @details
#' The result is called as those of [xla_jit()] are. Rules are functions of values too, so they can be
#' differentiated again.
#'
#' `jvp(primals, results, tangents)` is given the arguments, what the op returned for them, and
#' how the arguments change: a list like the arguments with NULL for what does not change. It
#' returns how the results change, as the op returns them, with NULL for what does not. It must
#' be linear in `tangents`; [hlo_add()] helps with NULL. Where there is no rule, what `call` itself is made of is
#' differentiated; that fails at a custom call.
#'
#' `vjp` is for reverse mode, as `jax.custom_vjp` has it: it turns `cotangents`, a list like the results, into those of
#' the arguments, a list like `primals` with NULL for what does not count. Results that nobody uses have cotangents of
#' zeros, integers and logicals have NULL. It must be linear in `cotangents`. There are two forms:
#' * `vjp(primals, results, cotangents)`, where arguments and results are all that it needs. It can be differentiated
#'   again, any number of times.
#' * `list(forward = , reverse = )`, where it needs more. `forward(primals)` computes the results in place of `call`
#'   and returns `list(results, residuals)`; `reverse(residuals, cotangents)` is given the residuals: values in nested
#'   lists, and other R objects. Second derivatives go through what `forward` computed them with.
#'
#' Forward mode takes `jvp` where there is one, and transposes `vjp` where there is not. That
#' needs the `transpose` rules (or the `vjp` rules) of custom calls that the rule applies to cotangents.
#'
#' `transpose(primals, cotangents)` is needed only where the op is applied to tangents, as a solver of
#' linear equations may be: for an op that is linear in those arguments that are NULL in `primals`,
#' it returns their cotangents in a list like `primals`.
#'
#' @param call A function of values that returns a value or a (named) list of values.
#' @param jvp The rule for derivatives, or `NULL`.
#' @param vmap The rule for batches, see [xla_vmap()], or `NULL`.
#' @param transpose The rule for linear ops, or `NULL`.
#' @param vjp The rule for reverse mode: a function, a list of two, or `NULL`.
#' @param name The op's name in messages.
#' @return An op: a function, class `xlaffi_op`.
#' @seealso [ffi_call()] makes the function for a custom call; [xla_jvp()], [xla_vjp()].
#' @examplesIf plugins_downloaded()
#' # Kepler's equation: sin E and cos E of M and e, by the handler `kepler`
#' anomaly <- ffi_op(
#'   function(M, e) hlo_custom_call("kepler", list(M, e), list(sin = M, cos = M)),
#'   jvp = function(primals, results, tangents) {
#'     by_e <- if (!is.null(tangents$e)) results$sin * tangents$e
#'     change <- hlo_add(tangents$M, by_e) / (1 - primals$e * results$cos)
#'     list(sin = results$cos * change, cos = -results$sin * change)
#'   },
#'   name = "anomaly"
#' )
#' anomaly(c(0.1, 1), c(0.5, 0.3))
#' xla_jvp(anomaly)(list(M = 1, e = 0.3), list(M = NULL, e = 1))$tangent
#'
#' # A rule for reverse mode that keeps a residual
#' norm <- ffi_op(function(x) sqrt(sum(x^2)),
#'   vjp = list(
#'     forward = function(primals) {
#'       size <- sqrt(sum(primals$x^2))
#'       list(results = size, residuals = primals$x / size)
#'     },
#'     reverse = function(residuals, cotangents) list(x = residuals * cotangents)
#'   ),
#'   name = "norm"
#' )
#' xla_grad(norm)(c(3, 4))
#' @export
ffi_op <- function(call, jvp = NULL, vmap = NULL, transpose = NULL, name = "op", vjp = NULL) {
  if (!is.function(call)) {
    abort(sprintf("`call` must be a function, not %s", describe(call)), operand = "call")
  }
  check_string(name, "name")
  rules <- list(jvp = jvp, vmap = vmap, transpose = transpose, vjp = vjp)
  check_rules(rules, name)
  new_op(call, rules, name, function(arguments) named_arguments(call, arguments, name), list(call))
}

# An op of this package, made when it is first needed
op_once <- function(name, call, jvp) {
  made_once(paste("op", name), function() ffi_op(call, jvp = jvp, name = name))
}

check_rule <- function(rule, name, op, call = rlang::caller_env()) {
  if (!is.null(rule) && !is.function(rule)) {
    abort(sprintf("`%s` must be a function or NULL, not %s", name, describe(rule)),
      op = op, operand = name, call = call
    )
  }
  if (!is.null(rule)) {
    check_rule_arguments(rule, name, op, call)
  }
}

# What rules are called with. Those of an op with attributes may have these as a last argument `attributes`.
rule_arguments <- list(
  jvp = c("primals", "results", "tangents"), vjp = c("primals", "results", "cotangents"),
  transpose = c("primals", "cotangents"), vmap = c("arguments", "axes", "size"),
  forward = "primals", reverse = c("residuals", "cotangents")
)

# `part`: of a rule of two functions, which one.
check_rule_arguments <- function(rule, name, op, call, part = name) {
  formals <- formals(args(rule))
  given <- setdiff(names(formals), "attributes")
  # R tells of no arguments of some of its own functions.
  if (is.null(args(rule)) || "..." %in% given) {
    return()
  }
  wanted <- rule_arguments[[part]]
  is_required <- vapply(formals[given], function(default) is.name(default) && !nzchar(default), NA)
  if (length(given) < length(wanted) || any(is_required[-seq_along(wanted)])) {
    text <- function(arguments) sprintf("function(%s)", toString(arguments))
    abort(
      sprintf(
        "op `%s`: %s rule must be a %s, not a %s", op,
        if (part == name) sprintf("the %s", name) else sprintf("`%s` of the %s", part, name),
        text(wanted), text(names(formals))
      ),
      op = op, operand = name, call = call,
      hint = if ("attributes" %in% names(formals)) "An argument `attributes` comes besides these."
    )
  }
}

# All rules of an op
check_rules <- function(rules, op, call = rlang::caller_env()) {
  for (rule in setdiff(names(rules), "vjp")) {
    check_rule(rules[[rule]], rule, op, call)
  }
  check_vjp(rules$vjp, op, call)
}

# `arrange` gives arguments the order and the names that the rules see; `uses` are the functions of the user besides
# the rules.
new_op <- function(call, rules, name, arrange, uses) {
  op <- c(list(name = name, call = call, arrange = arrange), rules)
  compiled <- new_jit(function(...) bind_op(op, arrange(list(...))), name, c(uses, unlist(rules)))
  structure(compiled, class = c("xlaffi_op", class(compiled)), op = op)
}

# The arguments as `f` itself will see them
arranged <- function(f, arguments) {
  f <- inner_function(f)
  if (inherits(f, "xlaffi_op")) attr(f, "op")$arrange(arguments) else named_arguments(f, arguments)
}

# The function whose arguments somebody sees
written_function <- function(f) {
  f <- inner_function(f)
  if (inherits(f, "xlaffi_op")) attr(f, "op")$call else f
}

# The user's function, or the op, whose arguments a compiled one takes, also by what makes functions of functions
inner_function <- function(f) {
  while (inherits(f, "xlaffi_jit") && !inherits(f, "xlaffi_op")) {
    self <- environment(f)
    f <- if (self$name %in% transformations) environment(self$f)$f else self$f
  }
  f
}

transformations <- c("vmap", "checkpoint", "gradient", "jacobian", "hessian", "shard_map")

# The arguments under the names and in the order that `f` gives them, with those for `...` as they came.
named_arguments <- function(f, arguments, op = NULL) {
  formals <- formal_names(f)
  if (is.null(formals) || identical(formals, "...")) {
    return(arguments)
  }
  call <- as.call(c(list(as.name("f")), stats::setNames(as.list(seq_along(arguments)), names(arguments))))
  places <- tryCatch(as.list(match.call(args(f), call))[-1L], error = function(e) {
    check_given_once(names2(arguments), formals, op)
    unknown <- setdiff(names(arguments), c("", formals))
    text <- if (length(unknown)) {
      sprintf("there is no argument `%s`", unknown[[1L]])
    } else if (length(formals) == 1L) {
      sprintf("there is 1 argument, not %d", length(arguments))
    } else {
      sprintf("there are %d arguments, not %d", length(formals), length(arguments))
    }
    abort(paste0(start_of(op), text),
      op = op, operand = c(unknown, "...")[[1L]], hint = sprintf("The arguments are: %s.", toString(formals)),
      call = NULL
    )
  })
  lapply(places, function(place) arguments[[place]])
}

# call_written() for `f` of `op()`, whose user may have left out data that `f` needs: R's error would show a function of
# this package.
call_given <- function(f, arguments, op, name = "f") {
  withCallingHandlers(call_written(f, arguments, name), error = function(error) {
    form <- formals(args(f))
    needed <- names(form)[vapply(form, is_missing_arg, NA)]
    for (absent in setdiff(needed, c("...", names(named_arguments(f, arguments))))) {
      text <- gettextf("argument \"%s\" is missing, with no default", absent, domain = "R")
      if (identical(conditionMessage(error), text)) {
        abort(sprintf("%s: `%s` needs `%s`, which is not given", op, name, absent),
          op = op, operand = name, call = NULL,
          hint = sprintf("Data are further arguments of `%s()`, by the names that `%s` gives them.", op, name)
        )
      }
    }
  })
}

check_given_once <- function(names, formals, op) {
  twice <- intersect(names[duplicated(names)], formals)
  if (length(twice)) {
    abort(sprintf("%sargument `%s` is given more than once", start_of(op), twice[[1L]]),
      op = op, operand = twice[[1L]], call = NULL
    )
  }
}

# A function of arguments of these names. By hand: to load rlang takes ten times as long as a new session's first call.
taking <- function(names) {
  formals <- stats::setNames(rep(as.list(formals(function(x) NULL)), length(names)), names)
  as.function(c(formals, list(NULL)))
}

#' @export
print.xlaffi_op <- function(x, ...) {
  check_print_dots(...)
  op <- attr(x, "op")
  rules <- names(Filter(Negate(is.null), op[c("jvp", "vjp", "vmap", "transpose")]))
  cat("<op ", op$name, if (length(rules)) paste0(", rules: ", toString(rules)), ">\n", sep = "")
  invisible(x)
}

# A rule without residuals is a function(primals, results, cotangents), one with them a list of `forward` and `reverse`.
check_vjp <- function(rule, op, call = rlang::caller_env()) {
  both <- is_branch(rule) && length(rule) == 2L && setequal(names(rule), c("forward", "reverse"))
  if (!is.null(rule) && !is.function(rule) && !(both && all(vapply(rule, is.function, NA)))) {
    abort("`vjp` must be a function, a list of the functions `forward` and `reverse`, or NULL",
      op = op, operand = "vjp", call = call
    )
  }
  if (is.function(rule)) {
    check_rule_arguments(rule, "vjp", op, call)
  }
  for (part in names(rule)[both]) {
    check_rule_arguments(rule[[part]], "vjp", op, call, part)
  }
}
