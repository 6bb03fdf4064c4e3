# What R says about the kinds of its vectors, for values: an `f64` is a double, and so is every floating-point
# dtype; all integers are integers.

r_types <- list(
  logical = function(dtype) dtype == "pred", integer = is_integer, double = is_float, complex = is_complex
)

r_type <- function(x) {
  dtype <- x@dtype
  Find(function(type) r_types[[type]](dtype), names(r_types))
}

overload_kind <- function(name, f, differs = "") {
  overload(name, "base", f, topic = "Logic and control", dtypes = "all", derivative = "none", differs = differs)
}

overload_kind("is.recursive", function(x) FALSE)
overload_kind("typeof", function(x) r_type(x))
overload_kind("storage.mode", function(x) r_type(x))
overload_kind("mode", function(x) if (r_type(x) %in% c("integer", "double")) "numeric" else r_type(x))
overload_kind("class", function(x) {
  rank <- length(x@shape)
  if (rank > 1L) {
    c(if (rank == 2L) "matrix", "array")
  } else if (r_type(x) == "double") {
    "numeric"
  } else {
    r_type(x)
  }
})
overload_kind("oldClass", function(x) NULL)
overload_kind("is.object", function(x) FALSE)
overload_kind("isS4", function(object) FALSE)
overload("is", "methods", function(object, class2) {
  if (!is_value(object) || (!missing(class2) && is_string(class2) && class2 %in% c("xlaffi_value", "xlaffi_typed"))) {
    return(methods::is(object, class2))
  }
  if (!missing(class2) && !(isS4(class2) || is_string(class2))) {
    call <- method_call("is")
    abort(sprintf("is(): `class2` must be the name of one class, not %s", describe(class2)),
      op = "is", operand = "class2", call = call
    )
  }
  # R's own answer, for an object of the same kind
  like <- vector(r_type(object), 1L)
  if (length(object@shape) > 1L) dim(like) <- rep(1L, length(object@shape))
  methods::is(like, class2)
}, topic = "Logic and control", dtypes = "all", derivative = "none", differs = "")

# as.vector() and its kin, which change the type and drop the dimensions, and what asks for the type.

# The numbers of R's type, as a value of rank 1: `to` converts a value.
type_overload <- function(name, to, differs = "", by = "method") {
  force(to)
  overload(name, "base", function(x, ...) {
    call <- method_call(name)
    check_dots_empty(..., call = call)
    check_no_token(x, name, "x", call)
    to(as_column(x), call)
  }, by, topic = "Shapes", dtypes = "all", differs = differs)
}

as_floats <- function(x, call) {
  if (is_complex(x@dtype)) {
    abort(sprintf("complex numbers cannot become real, as %s would", deparse1(call)),
      operand = "x", hint = "`Re()` takes the real part.", call = call
    )
  }
  if (is_float(x@dtype)) x else converted(x, "f64")
}

# Numbers that i32 cannot hold become R's NA.
as_integers <- function(x, call) {
  if (is_complex(x@dtype)) {
    as_floats(x, call)
  }
  if (x@dtype %in% c("pred", "i8", "ui8", "i16", "ui16", "i32")) {
    return(converted(x, "i32"))
  }
  x <- if (x@dtype %in% c("f16", "bf16")) converted(x, "f64") else x
  largest <- .Machine$integer.max
  inside <- if (is_float(x@dtype)) {
    compared(abs(x), 2^31, "LT", "as.integer()")
  } else if (startsWith(x@dtype, "u")) {
    compared(x, largest, "LE", "as.integer()")
  } else {
    bind("and", list(compared(x, largest, "LE", ""), compared(x, -largest, "GE", "")), "pred", x@shape)
  }
  whole <- converted(selected(inside, x, filled(0, x)), "i32")
  selected(inside, whole, filled(NA_integer_, whole))
}

as_logicals <- function(x, call) if (x@dtype == "pred") x else compared(x, 0, "NE", "as.logical()")

as_complexes <- function(x, call) {
  if (is_complex(x@dtype)) x else converted(x, if (x@dtype == "f32") "c64" else "c128")
}

type_overload("as.double", as_floats, "Floating-point numbers keep their dtype, f32 too; other numbers become f64.")
type_overload("as.integer", as_integers)
type_overload("as.logical", as_logicals, "NaN becomes TRUE.")
type_overload("as.complex", as_complexes, "f32 becomes c64.")

# Those that make numbers of a list whose elements have one number each
converting <- c("as.double", "as.integer", "as.logical", "as.complex", "as.vector")

# As R's function `value` of that name, of a list with values in it
elements_converted <- function(name, value) {
  force(name)
  force(value)
  function(x, ...) {
    call <- method_call(name)
    mode <- if (name == "as.vector") c(list(...), "any")[[1L]]
    if (identical(mode, "any") || identical(mode, "list")) {
      return(value(x, ...))
    }
    shown <- paste0(name, "()")
    if (any(lengths(x) != 1L)) {
      abort(sprintf("%s: each element of the list `x` must be one number, not %s", shown,
        describe_leaf(Find(function(part) length(part) != 1L, x))
      ), op = name, operand = "x", hint = "`unlist()` puts elements of any length one after another.", call = call)
    }
    overloads[[name]]$f(joined(lapply(common(unname(x), shown, rep("x", length(x)), call), as_column)), ...)
  }
}

# R's `[<-` asks with its own arguments, and again and again as long as it gets no vector of R's.
is_asked_by_assignment <- function(call) {
  as_a_method <- identical(call[[1L]], quote(as.vector.xlaffi_value))
  as_a_method && !identical(as.list(call)[-1L], list(quote(x), quote(mode)))
}

overload_as_vector <- function(x, mode = "any") {
  if (is_asked_by_assignment(sys.call())) {
    abort(sprintf("`[<-`: a vector of R's cannot hold a value of a program, %s", type_text(x)),
      op = "[<-", operand = "value", call = NULL,
      hint = paste(
        "Functions of packages use R's own `[<-`, which gives a vector; where they are yours, or the vector is",
        "`hlo_constant(x)`, it gives a value."
      )
    )
  }
  call <- method_call("as.vector")
  check_no_token(x, "as.vector()", "x", call)
  switch(if (is.character(mode) && length(mode) == 1L) mode else "",
    any = as_column(x),
    numeric = ,
    double = as_floats(as_column(x), call),
    integer = as_integers(as_column(x), call),
    logical = as_logicals(as_column(x), call),
    complex = as_complexes(as_column(x), call),
    list = elements_of(x),
    abort(sprintf("as.vector(): `mode` must be a type of numbers, \"any\" or \"list\", not %s", describe(mode)),
      operand = "mode", call = call
    )
  )
}

shape_overload("as.vector", overload_as_vector, "method")

# What asks: a value of rank 0 or 1 is a vector.
ask_overload <- function(name, f, differs = "") {
  overload(name, "base", f, topic = "Shapes", dtypes = "all", derivative = "none", differs = differs)
}

ask_overload("is.vector", function(x, mode = "any") {
  if (!is_string(mode)) {
    call <- method_call("is.vector")
    abort(sprintf("is.vector(): `mode` must be one name of a type, not %s", describe(mode)),
      op = "is.vector", operand = "mode", call = call
    )
  }
  kinds <- if (is_float(x@dtype)) {
    c("numeric", "double")
  } else if (is_integer(x@dtype)) {
    c("numeric", "integer")
  } else {
    if (x@dtype == "pred") "logical" else "complex"
  }
  length(x@shape) < 2L && mode %in% c("any", kinds)
})
ask_overload("is.atomic", function(x) TRUE)
ask_overload("is.double", function(x) is_float(x@dtype))
ask_overload("is.integer", function(x) is_integer(x@dtype))
ask_overload("is.logical", function(x) x@dtype == "pred")
ask_overload("is.complex", function(x) is_complex(x@dtype))
