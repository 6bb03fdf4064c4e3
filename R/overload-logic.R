# R's functions of logicals and of what numbers are like.

# As R's ifelse(): of the shape of `test`. In R the branches are vectors that are repeated or cut; to cut is refused.
overload_ifelse <- function(test, yes, no) {
  call <- method_call("ifelse")
  known <- if (!is_value(test) && is_data(test)) test != 0
  test <- as_value(test, "test", call = call, op = "ifelse()")
  check_no_token(test, "ifelse()", "test", call)
  missed <- c(yes = missing(yes), no = missing(no))
  if (any(missed) && length(test)) {
    # R does without the branch that it takes nothing from.
    if (all(missed) || is.null(known) || anyNA(known) || !all(known == missed[["no"]])) {
      abort(sprintf("ifelse(): `%s` is missing: which branch is taken is known only when the program runs",
        names(which(missed))[[1L]]
      ), op = "ifelse", operand = names(which(missed))[[1L]], call = call)
    }
    if (missed[["no"]]) no <- yes else yes <- no
  }
  if (!length(test)) {
    return(filled(FALSE, new_type("pred", test@shape)))
  }
  here <- if (test@dtype == "pred") test else test != 0L
  parts <- common(list(yes, no), "ifelse()", c("yes", "no"), call)
  if (is_inexact(test@dtype)) {
    parts <- lapply(parts, as_doubles)
  }
  parts <- Map(function(part, name) fitted_to(part, test@shape, name, call), parts, c("yes", "no"))
  chosen <- as_choice(selected(here, parts[[1L]], parts[[2L]]))
  unknown <- if (is_inexact(test@dtype)) nan_at(test) else undecided(test)
  if (is.null(unknown) || chosen@dtype == "pred") chosen else selected(unknown, missing_like(chosen), chosen)
}

# R's NA: NaN, and of integers the smallest one; as a complex number it has an imaginary part of 0 since R 4.4.
missing_like <- function(x) {
  if (is_complex(x@dtype)) {
    imaginary <- Im(as.complex(NA))
    return(filled(complex(real = NaN, imaginary = if (is.na(imaginary)) NaN else imaginary), x))
  }
  filled(if (is_inexact(x@dtype)) NaN else NA_integer_, x)
}

# Where a logical is NA in R, since it was found by comparing NaN; NULL for nowhere.
undecided <- function(test) {
  node <- test@node
  inputs <- node$inputs
  again <- function() {
    inner <- undecided(inputs[[1L]])
    if (!is.null(inner)) bind(node$op, c(list(inner), inputs[-1L]), "pred", test@shape, node$params)
  }
  joined <- function() {
    inner <- lapply(inputs, undecided)
    if (!all(vapply(inner, is.null, NA))) {
      inner <- Map(function(inner, input) if (is.null(inner)) filled(FALSE, input) else inner, inner, inputs)
      bind(if (node$op == "xor") "or" else node$op, inner, "pred", test@shape, node$params)
    }
  }
  switch(node$op,
    compare = if (is_inexact(inputs[[1L]]@dtype)) hlo_or(nan_at(inputs[[1L]]), nan_at(inputs[[2L]])),
    not = undecided(inputs[[1L]]),
    and = undecided_joined(inputs, hlo_not),
    or = undecided_joined(inputs, identity),
    broadcast_in_dim = ,
    reshape = ,
    transpose = ,
    reverse = ,
    slice = ,
    dynamic_slice = ,
    gather = again(),
    xor = ,
    concatenate = joined()
  )
}

# Of `&` and `|`: unless one side decides, which is TRUE by `deciding`.
undecided_joined <- function(inputs, deciding) {
  unknown <- lapply(inputs, undecided)
  any <- Reduce(function(x, y) if (is.null(x)) y else if (is.null(y)) x else hlo_or(x, y), unknown)
  if (is.null(any)) {
    return(NULL)
  }
  decided <- Map(function(x, unknown) {
    if (is.null(unknown)) deciding(x) else hlo_and(deciding(x), hlo_not(unknown))
  }, inputs, unknown)
  hlo_and(any, hlo_not(hlo_or(decided[[1L]], decided[[2L]])))
}

overload("ifelse", "base", overload_ifelse,
  topic = "Logic and control", dtypes = "all",
  differs = paste(
    "A branch longer than `test` is refused; the result has the larger type of both branches. NA in `test` is known",
    "where it was compared with NaN in the same function."
  )
)

fitted_to <- function(part, shape, name, call) {
  size <- prod(shape)
  count <- length(part)
  if (count == 0 && size > 0 || (count > 1 && size %% count != 0) || count > max(size, 1)) {
    abort(
      sprintf(
        "ifelse(): `%s` must have %s elements as `test` has, or be repeated a whole number of times, not %s", name,
        format(size), type_text(part)
      ),
      op = "ifelse", operand = name, call = call,
      hint = if (size == 1) "`hlo_cond()` chooses between whole arrays."
    )
  }
  if (identical(part@shape, shape)) part else repeated(as_column(part), shape)
}

overload("xor", "base", function(x, y) {
  call <- method_call("xor")
  both <- operands(x, y, "xor()", c("x", "y"), call)
  check_kinds(both, list(x, y), bits_kind, "xor()", c("x", "y"), call)
  both <- lapply(both, function(x) if (x@dtype == "pred") x else x != 0L)
  bind("xor", both, "pred", both[[1L]]@shape)
}, topic = "Logic and control", dtypes = "logicals, integers", derivative = "none")

# Values of one logical answer with themselves, everything else is neither TRUE nor FALSE.
overload("isTRUE", "base", function(x) {
  if (x@dtype == "pred" && length(x) == 1L) reshaped(x, integer()) else FALSE
}, topic = "Logic and control", dtypes = "all", derivative = "none")

overload("isFALSE", "base", function(x) {
  if (x@dtype == "pred" && length(x) == 1L) hlo_not(reshaped(x, integer())) else FALSE
}, topic = "Logic and control", dtypes = "all", derivative = "none")

# What holds for all elements
known_answer <- function(x, truth) constant(truth, "pred", x@shape, "x")

# R's NA of integers, which XLA takes for the smallest one
missing_integer <- function(x) {
  missing <- switch(x@dtype,
    i32 = NA_integer_,
    i64 = bit64::NA_integer64_
  )
  if (is.null(missing)) known_answer(x, FALSE) else compared(x, filled(missing, x), "EQ", "is.na()")
}

of_parts <- function(x, f, join) if (is_complex(x@dtype)) join(f(hlo_real(x)), f(hlo_imag(x))) else f(x)

nan_at <- function(x) of_parts(x, function(x) if (is_float(x@dtype)) x != x else known_answer(x, FALSE), hlo_or)

na_at <- function(x) if (is_inexact(x@dtype)) nan_at(x) else missing_integer(x)

# An overload about elements, as a method; `f` is a function of a value that is no token.
test_overload <- function(name, f, differs = "") {
  force(f)
  shown <- paste0(name, "()")
  overload(name, "base", function(x, ...) {
    call <- method_call(name)
    check_no_token(x, shown, "x", call)
    # Under a name of its own: it is never NA, see undecided().
    alias_of(f(x))
  }, by = "method", topic = "Logic and control", dtypes = "all", derivative = "none", differs = differs)
}

test_overload("is.na", na_at, "NaN and NA are the same; of logicals none is NA.")
test_overload("is.nan", nan_at, "TRUE for NA too, which is NaN.")
test_overload("is.finite", function(x) {
  of_parts(x, function(x) if (is_float(x@dtype)) abs(x) < Inf else !missing_integer(x), hlo_and)
})
test_overload("is.infinite", function(x) {
  of_parts(x, function(x) if (is_float(x@dtype)) abs(x) == Inf else known_answer(x, FALSE), hlo_or)
})

overload("anyNA", "base", function(x, recursive = FALSE) {
  call <- method_call("anyNA")
  check_no_token(x, "anyNA()", "x", call)
  hlo_sum(converted(na_at(x), "i32")) > 0L
}, by = "method", topic = "Logic and control", dtypes = "all", derivative = "none", differs = "As is.na().")

# How many elements there are must not depend on values.
overload_seq <- function(from = 1, to = 1, by, length.out = NULL, along.with = NULL, ...) {
  call <- method_call("seq")
  check_dots_empty(..., call = call)
  refuse <- function() {
    abort("seq(): how many elements there are must be known while the program is written",
      op = "seq", operand = "length.out", call = call, unknown = TRUE,
      hint = "`seq(from, to, length.out = n)` is for bounds that are values; `hlo_iota()` counts to a length."
    )
  }
  if (!missing(along.with)) {
    length.out <- length(along.with)
    if (missing(from) && missing(to) && missing(by)) {
      return(seq_len(length.out))
    }
  }
  if (missing(to) && missing(by) && is.null(length.out)) {
    if (length(from) == 1L) refuse()
    return(seq_along(from))
  }
  fine <- is.numeric(length.out) && !is_value(length.out) && length(length.out) == 1L && !is.na(length.out) &&
    length.out >= 0
  if (!fine) {
    refuse()
  }
  count <- as.integer(ceiling(length.out))
  scalar <- function(x, name) {
    x <- as_doubles(as_value(x, name, new_type("f64", integer()), call, "seq()"))
    check_kind(x, "a floating-point number", "seq()", name, call)
    if (length(x) != 1L) {
      abort(sprintf("seq(): `%s` must be one number, not %s", name, type_text(x)),
        op = "seq", operand = name, call = call
      )
    }
    reshaped(x, integer())
  }
  given <- c(from = !missing(from), to = !missing(to), by = !missing(by))
  if (all(given)) {
    abort("seq(): too many arguments", op = "seq", operand = "by", call = call)
  }
  if (count == 0L) {
    return(integer())
  }
  ends <- list(from = if (given[["from"]]) scalar(from, "from"), to = if (given[["to"]]) scalar(to, "to"))
  step <- if (given[["by"]]) scalar(by, "by")
  dtype <- Find(Negate(is.null), c(ends, list(step)))@dtype
  steps <- hlo_iota(dtype, count)
  if (is.null(step)) {
    if (!all(given[c("from", "to")])) {
      # The other end is so many whole steps away.
      return(if (given[["from"]]) ends$from + steps else ends$to - (count - 1) + steps)
    }
    return(evenly(ends$from, ends$to, count))
  }
  if (!any(given[c("from", "to")])) {
    ends$from <- scalar(1, "from")
  }
  if (!is.null(ends$from)) ends$from + steps * step else ends$to - (count - 1 - steps) * step
}

overload("seq", "base", overload_seq,
  topic = "Shapes", dtypes = "real numbers", differs = "Doubles, also of whole numbers; `length.out` is no value."
)
