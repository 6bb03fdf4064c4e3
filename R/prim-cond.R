#' One of several branches
#'
#' `hlo_cond()` computes `then()` where a value is TRUE and `otherwise()` where it is FALSE; `hlo_case()` the branch of
#' a number. They decide while the program runs; R's `if` decides while it is written.
#'
#' @details
#' All branches are written into the program, and one of them runs: its errors and side effects are the only ones. They
#' give lists of the same structure with the same dtypes and shapes; numbers of R take those of the other branches, and
#' of logicals, integers and doubles the larger type counts, as in [c()]. Branches may use values from outside;
#' what they compute leaves them as their result only.
#'
#' Derivatives: forward and reverse mode go through the branch that ran; what the other ones would give, and be it not
#' finite, has no part in it. In reverse mode a branch keeps what its derivative needs.
#'
#' Batches ([xla_vmap()]): where the condition differs from element to element, all branches run on the whole
#' batch and each element takes its own, unless a branch has loops or custom calls: then the elements go through the
#' branches one after another.
#'
#' @param pred A scalar of dtype pred.
#' @param then,otherwise Functions of what is in `...`.
#' @param index A scalar integer: 1 for the first branch. A number below 1, beyond the last branch or NA
#'   means the last.
#' @param branches A list of functions.
#' @param ... Arguments of the branches.
#' @return What the branches give.
#' @seealso [hlo_select()] chooses element by element, and computes both sides.
#' @examplesIf plugins_downloaded()
#' f <- xla_jit(function(x) hlo_cond(sum(x) > 0, function() log(sum(x)), function() 0))
#' f(c(1, 2))
#' f(c(1, -2))
#' g <- xla_jit(function(i, x) hlo_case(i, list(sin, cos, function(x) x^2), x))
#' g(3L, 2)
#' @export
hlo_cond <- function(pred, then, otherwise, ...) {
  check_whole_names("hlo_cond")
  call <- environment()
  branches <- list(then = then, otherwise = otherwise)
  check_branches(branches, "hlo_cond", call)
  pred <- as_value(pred, "pred", call = call, op = "hlo_cond")
  if (pred@dtype != "pred" || length(pred) != 1L) {
    abort(sprintf("hlo_cond: `pred` must be one logical, pred(), not %s", type_text(pred)),
      op = "hlo_cond", operand = "pred", call = call,
      hint = if (pred@dtype == "pred") "`ifelse()` and `hlo_select()` choose element by element."
    )
  }
  # The branch of FALSE is the first one.
  chosen_branch(converted(reshaped(pred, integer()), "i32"), rev(branches), list(...), "hlo_cond", call)
}

#' @rdname hlo_cond
#' @export
hlo_case <- function(index, branches, ...) {
  check_given(index, branches)
  check_whole_names("hlo_case")
  call <- environment()
  if (!is_branch(branches) || !length(branches)) {
    abort(sprintf("hlo_case: `branches` must be a list of functions, not %s", describe(branches)),
      op = "hlo_case", operand = "branches", call = call
    )
  }
  names(branches) <- sprintf("branches[[%d]]", seq_along(branches))
  check_branches(branches, "hlo_case", call)
  if (!is_value(index) && is_data(index) && anyNA(index)) {
    abort("hlo_case: `index` must be the number of a branch, not NA",
      op = "hlo_case", operand = "index", call = call
    )
  }
  index <- as_value(index, "index", new_type("i32", integer()), call, "hlo_case")
  if (index@dtype != "i32" || length(index) != 1L) {
    abort(sprintf("hlo_case: `index` must be one integer, i32(), not %s", type_text(index)),
      op = "hlo_case", operand = "index", call = call, hint = "`as.integer()` makes integers."
    )
  }
  chosen_branch(reshaped(index, integer()) - 1L, branches, list(...), "hlo_case", call)
}

overload("hlo_cond", "xlaffi", hlo_cond, by = "own", topic = "Logic and control", dtypes = "all")
overload("hlo_case", "xlaffi", hlo_case, by = "own", topic = "Logic and control", dtypes = "all")

check_branches <- function(branches, op, call) {
  for (name in names(branches)) {
    if (!is.function(branches[[name]])) {
      abort(sprintf("%s: `%s` must be a function, not %s", op, name, describe(branches[[name]])),
        op = op, operand = name, call = call,
        hint = if (op == "hlo_cond") "`function() x` is a branch that gives x; `hlo_select()` chooses between values."
      )
    }
  }
}

# `index` counts from 0.
chosen_branch <- function(index, branches, arguments, op, call) {
  for (name in names(branches)) {
    check_takes(branches[[name]], arguments, op, name, call)
  }
  trees <- list()
  outer <- trace_state$branch
  branches_inside <- list()
  on.exit(trace_state$branch <- outer)
  calls <- lapply(names(branches), function(name) {
    function() {
      trace_state$branch <- inside <- new.env(parent = emptyenv())
      leaves <- looped({
        tree <- call_written(branches[[name]], arguments, gsub("[^a-z]", "", name))
        trees[name] <<- list(tree)
        tree_leaves(tree)
      })
      for (leaf in Filter(is_value, leaves)) {
        check_living(leaf)
      }
      inside$closed <- TRUE
      branches_inside <<- c(branches_inside, inside)
      trace_state$branch <- outer
      leaves
    }
  })
  finish <- function(leaves) {
    for (inside in branches_inside) {
      inside$closed <- FALSE
    }
    agreed_leaves(leaves, trees, names(branches), op, call)
  }
  values <- case_node(calls, index, finish = finish)
  for (inside in branches_inside) {
    inside$closed <- TRUE
  }
  tree_fill(trees[[1L]], values)
}

# The leaves of all branches, of equal types.
agreed_leaves <- function(leaves, trees, names, op, call) {
  first <- new_tree(tree_map(trees[[1L]], function(leaf) TRUE))
  refuse <- function(text, hint = NULL) abort(text, op = op, operand = names[[1L]], hint = hint, call = call)
  for (i in seq_along(trees)[-1L]) {
    difference <- tree_diff(first, new_tree(tree_map(trees[[i]], function(leaf) TRUE)))
    if (!is.null(difference)) {
      place <- if (nzchar(difference$prefix)) sprintf(" at `%s`", difference$prefix) else ""
      refuse(sprintf(
        "%s: all branches must give the same structure, but%s `%s` gives %s and `%s` %s",
        op, place, names[[1L]], difference$a, names[[i]], difference$b
      ))
    }
  }
  for (k in seq_along(leaves[[1L]])) {
    given <- lapply(leaves, `[[`, k)
    like <- Find(is_value, given)
    if (is.null(like)) {
      like <- new_type(promoted_dtype(vapply(given, r_dtype_of, "", names, op, call)), integer())
    }
    given <- Map(function(leaf, name) as_value(leaf, name, like, call, op), given, names)
    type <- Reduce(agreed_type, lapply(given, type_of))
    if (is.null(type)) {
      path <- tree_path(first, k)
      refuse(sprintf(
        "%s: all branches must give the same types, but%s %s", op, if (nzchar(path)) sprintf(" at `%s`", path) else "",
        paste(sprintf("`%s` gives %s", names, vapply(given, type_text, "")), collapse = ", ")
      ), "`hlo_convert()` changes the dtype, `hlo_broadcast()` the shape.")
    }
    for (i in seq_along(leaves)) {
      leaves[[i]][[k]] <- reshaped(converted(given[[i]], type@dtype), type@shape)
    }
  }
  leaves
}

r_dtype_of <- function(leaf, names, op, call) as_value(leaf, names[[1L]], call = call, op = op)@dtype

# The type that both become without loss, or NULL: of R's own dtypes the larger one. One element is a scalar or a
# vector.
agreed_type <- function(x, y) {
  if (is.null(x) || is.null(y)) {
    return(NULL)
  }
  dtype <- if (x@dtype == y@dtype) x@dtype else promoted_dtype(c(x@dtype, y@dtype))
  one <- prod(x@shape) == 1 && prod(y@shape) == 1 && max(length(x@shape), length(y@shape)) <= 1L
  if (!is.null(dtype) && (one || identical(x@shape, y@shape))) new_type(dtype, x@shape)
}
