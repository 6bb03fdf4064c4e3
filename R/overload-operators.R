# R's operators on values, and the parts of complex numbers: the methods of the groups Ops and Complex. Math is in
# overload-math.R, Summary in overload-sums.R.

arithmetic <- c("+" = "add", "-" = "subtract", "*" = "multiply", "/" = "divide", "^" = "power")

#' @export
Ops.xlaffi_value <- function(e1, e2) {
  if (is_sparse(e1) || (!missing(e2) && is_sparse(e2))) {
    return(sparse_operator(.Generic, e1, if (!missing(e2)) e2, method_call(.Generic)))
  }
  plain <- if (!missing(e2)) plain_operation(.Generic, e1, e2)
  if (!is.null(plain)) {
    return(plain)
  }
  shown <- paste0("`", .Generic, "`")
  call <- method_call(.Generic)
  if (is_sharded(e1) || (!missing(e2) && is_sharded(e2))) {
    refuse_sharded(.Generic, call)
  }
  if (!is_value(e1) && (missing(e2) || !is_value(e2))) {
    refuse_buffer(.Generic, call)
  }
  if (missing(e2)) {
    return(switch(.Generic,
      "+" = as_numbers(e1),
      "-" = unary("negate", as_numbers(e1), "a number", shown, call = call),
      "!" = {
        check_kind(e1, "a logical or an integer", shown, "x", call)
        if (e1@dtype == "pred") unary("not", e1, "a logical or an integer", shown, call = call) else e1 == 0L
      },
      check_needed(shown, c(e2 = TRUE), call)
    ))
  }
  refuse_na(e1, e2, .Generic, shown, call)
  if (.Generic %in% names(comparisons)) {
    kind <- if (.Generic %in% c("==", "!=")) NULL else "a real number"
    return(compared_as_r(e1, e2, .Generic, shown, kind, call))
  }
  switch(.Generic,
    "+" = ,
    "-" = ,
    "*" = {
      both <- lapply(operands(e1, e2, shown, call = call), as_numbers)
      y <- binary(arithmetic[[.Generic]], both[[1L]], both[[2L]], "a number", shown, c("e1", "e2"), call = call)
      with_na_of(y, both)
    },
    "/" = {
      both <- lapply(operands(e1, e2, shown, call = call), as_doubles)
      y <- binary("divide", both[[1L]], both[[2L]], "a floating-point or complex number", shown, c("e1", "e2"),
        call = call
      )
      if (is_complex(y@dtype)) by_known_zeros(y, both[[1L]], both[[2L]]) else y
    },
    "^" = power(e1, e2, shown, call),
    "%%" = modulo(e1, e2, shown, call),
    "%/%" = whole_quotient(e1, e2, shown, call),
    "&" = ,
    "|" = logical_operation(.Generic, e1, e2, shown, call)
  )
}

# The quotient x / y of complex numbers. XLA multiplies by the inverse of numbers that it knows, which zero has not:
# there each part is divided, as in C.
by_known_zeros <- function(quotient, x, y) {
  divisors <- if (y@node$op == "constant") y@node$params$data
  zero <- rep_len(as.vector(divisors == 0) %in% TRUE, length(y))
  if (is.null(divisors) || !any(zero)) {
    return(quotient)
  }
  number <- function(x, like) constant(if (length(x) == 1L) x else rep_len(x, length(y)), like@dtype, y@shape, "e2")
  parts <- list(hlo_real(x), hlo_imag(x))
  divisor <- number(ifelse(zero, Re(divisors), 1), parts[[1L]])
  parts <- lapply(parts, function(part) bind("divide", list(part, divisor), part@dtype, part@shape))
  selected(constant(zero, "pred", y@shape, "e2"), hlo_complex(parts[[1L]], parts[[2L]]), quotient)
}

# What most programs consist of: arithmetic and comparisons of doubles of one shape, or of a value and one R number.
# NULL for all else.
plain_operation <- function(generic, e1, e2) {
  direction <- comparisons[generic]
  if (is.na(direction) && !generic %in% c("+", "-", "*", "/")) {
    return(NULL)
  }
  like <- if (is_value(e1)) e1 else e2
  if (!is_value(like) || like@dtype != "f64") {
    return(NULL)
  }
  goes_along <- function(x) {
    if (is_value(x)) {
      if (x@dtype == "f64" && identical(x@shape, like@shape)) x
    } else if (is.numeric(x) && !is.object(x) && length(x) == 1L && is.null(dim(x)) && is.finite(x)) {
      filled(x, like)
    }
  }
  e1 <- goes_along(e1)
  e2 <- if (!is.null(e1)) goes_along(e2)
  if (is.null(e2)) {
    return(NULL)
  }
  if (is.na(direction)) {
    return(bind(arithmetic[[generic]], list(e1, e2), "f64", like@shape))
  }
  comparison(e1, e2, direction[[1L]])
}

# R's NA beside a value would be NA where logicals, which comparisons give, and integers have none.
refuse_na <- function(e1, e2, generic, shown, call) {
  data <- if (is_value(e1)) e2 else e1
  value <- if (is_value(e1)) e1 else e2
  if (is_value(data) || !is_data(data) || !anyNA(data)) {
    return()
  }
  floating <- any(vapply(c(r_dtype(data), value@dtype), function(dtype) is_float(dtype) || is_complex(dtype), NA))
  if (!floating || generic %in% c(names(comparisons), "&", "|")) {
    abort(sprintf("%s of NA is NA, which logicals and integers of a program cannot be", shown),
      op = generic, operand = if (is_value(e1)) "e2" else "e1",
      hint = "`is.na(x)` asks of a value whether it is NaN, which stands for NA.", call = call
    )
  }
}

# As R has it, integers are TRUE where they are not 0.
logical_operation <- function(generic, e1, e2, shown, call) {
  both <- operands(e1, e2, shown, call = call)
  check_kinds(both, list(e1, e2), "a logical or an integer", shown, c("e1", "e2"), call)
  both <- lapply(both, function(x) if (x@dtype == "pred") x else x != 0L)
  bind(if (generic == "&") "and" else "or", both, "pred", both[[1L]]@shape)
}

# Like NaN, what stands for NA of integers equals nothing and lies on no side of anything.
compared_as_r <- function(e1, e2, generic, shown, kind, call) {
  y <- compared(e1, e2, comparisons[[generic]], shown, kind, call)
  for (operand in Filter(function(x) generic != "!=" && is_value(x) && may_have_na(x), list(e1, e2))) {
    y <- y & !repeated(is_na_integer(operand), y@shape)
  }
  y
}

# Small whole powers are products: exact, and defined for negative numbers.
power <- function(e1, e2, shown, call) {
  whole <- is_value(e1) && !is_value(e2) && is.numeric(e2) && length(e2) == 1L && is.null(dim(e2)) && e2 %in% c(1, 2, 3)
  if (!whole) {
    both <- lapply(operands(e1, e2, shown, call = call), as_doubles)
    if (is_complex(both[[1L]]@dtype)) {
      return(complex_power(both[[1L]], both[[2L]], e2))
    }
    y <- binary("power", both[[1L]], both[[2L]], "a floating-point or complex number", shown, c("e1", "e2"),
    call = call)
    return(as_r_powers(y, both[[1L]], both[[2L]]))
  }
  check_no_token(e1, shown, "e1", call)
  e1 <- as_doubles(e1)
  switch(e2,
    e1,
    e1 * e1,
    e1 * e1 * e1
  )
}

# Where R's powers are not those of C: negative numbers, -Inf too, have none with infinite exponents, nor -Inf with a
# fraction, -0 counts as 0, and NA^0 and 1^NA are 1 (R's NA is a signaling NaN, for which C's pow() gives NaN). So the
# result is also no plain power, for whose logarithm XLA takes y * log(abs(x)).
as_r_powers <- function(power, x, y) {
  exponents <- if (y@node$op == "constant") y@node$params$data
  whole <- if (is.null(exponents)) {
    (floor(y) == y) & (abs(y) < Inf)
  } else if (!all(is.finite(exponents) & exponents == trunc(exponents))) {
    constant(rep_len(is.finite(exponents) & exponents == trunc(exponents), length(y)), "pred", y@shape, "y")
  }
  if (is.null(exponents) || any(exponents %% 2 %in% 1)) {
    power <- selected(x == 0, positive_zeros(power), power)
  }
  for (one in list(nan_with(x, y, 0), nan_with(y, x, 1))) {
    if (!is.null(one)) power <- selected(one, filled(1, power), power)
  }
  if (is.null(whole)) power else selected((x < 0) & !whole, filled(NaN, power), power)
}

# 0 for -0 and Inf for -Inf, with the derivatives of `x` where it is 0: abs() has none there.
positive_zeros <- function(x) {
  selected(abs(x) < Inf, x + xla_stop_gradient(abs(x) - x), abs(x))
}

# Where `x` is NaN and `other` is the number; NULL for nowhere.
nan_with <- function(x, other, number) {
  known <- function(x) if (x@node$op == "constant") x@node$params$data
  nowhere <- !is.null(known(x)) && !anyNA(known(x)) || !is.null(known(other)) && !number %in% known(other)
  if (!nowhere) where_nan(x) & other == number
}

# R's sign rule: the result has the sign of the divisor.
modulo <- function(e1, e2, shown, call) {
  both <- lapply(operands(e1, e2, shown, call = call), as_numbers)
  check_kinds(both, list(e1, e2), "a real number", shown, c("e1", "e2"), call)
  y <- both[[2L]]
  rest <- bind("remainder", both, y@dtype, y@shape)
  if (startsWith(y@dtype, "u")) {
    return(rest)
  }
  rest <- hlo_select((rest != 0L) & ((rest < 0L) != (y < 0L)), rest + y, rest)
  if (y@dtype == "i32") with_na_of(or_na(rest, y), both) else rest
}

# R's NA where integers are divided by zero
or_na <- function(x, divisor) {
  known <- divisor@node$op == "constant" && !anyNA(divisor@node$params$data) && all(divisor@node$params$data != 0)
  if (known) x else hlo_select(divisor == 0L, filled(NA_integer_, x), x)
}

whole_quotient <- function(e1, e2, shown, call) {
  both <- lapply(operands(e1, e2, shown, call = call), as_numbers)
  check_kinds(both, list(e1, e2), "a real number", shown, c("e1", "e2"), call)
  if (is_float(both[[1L]]@dtype)) {
    float_quotient(both[[1L]], both[[2L]], shown, call)
  } else {
    integer_quotient(both[[1L]], both[[2L]])
  }
}

# Rounded down; XLA rounds towards zero.
integer_quotient <- function(x, y) {
  towards_zero <- bind("divide", list(x, y), x@dtype, x@shape)
  if (startsWith(x@dtype, "u")) {
    return(towards_zero)
  }
  rest <- bind("remainder", list(x, y), x@dtype, x@shape)
  quotient <- hlo_select((rest != 0L) & ((rest < 0L) != (y < 0L)), towards_zero - 1L, towards_zero)
  if (x@dtype == "i32") with_na_of(or_na(quotient, y), list(x, y)) else quotient
}

# The quotient less what %% leaves of it, which is exact, and so is right where the quotient itself is rounded up to
# a whole number (1 %/% 0.1 is 9). From 1/eps on every quotient is whole.
float_quotient <- function(x, y, shown, call) {
  quotient <- x / y
  whole <- round((x - modulo(x, y, shown, call)) / y)
  below_one <- hlo_select(((x < 0) != (y < 0)) & (x != 0), filled(-1, x), filled(0, x))
  small <- abs(quotient) < float_precision[[x@dtype]]
  hlo_select(small, hlo_select(abs(x) < abs(y), below_one, whole), quotient)
}

#' @export
Complex.xlaffi_value <- function(z) {
  call <- method_call(.Generic)
  z <- as_doubles(z)
  check_kind(z, "a number", paste0(.Generic, "()"), "z", call)
  switch(.Generic,
    Re = if (is_complex(z@dtype)) hlo_real(z) else z,
    Im = if (is_complex(z@dtype)) hlo_imag(z) else filled(0, z),
    Conj = hlo_conj(z),
    Mod = abs(z),
    Arg = {
      check_kind(z, "a floating-point or complex number", "Arg()", "z", call)
      # Of real numbers R looks at no sign of zeros.
      angle <- if (!is_complex(z@dtype)) selected(compared(z, 0, "LT", "Arg()"), filled(pi, z), filled(0, z))
      if (is.null(angle)) hlo_atan2(Im(z), Re(z)) else selected(where_nan(z), z, angle)
    }
  )
}
