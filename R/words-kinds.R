# What R tells about the kinds of its vectors, told of values: an `f64` is a double, and so is every floating-point
# dtype; all integers are integers.

r_types <- list(
  logical = function(dtype) dtype == "pred", integer = is_integer, double = is_float, complex = is_complex
)

r_type <- function(x) {
  dtype <- x@dtype
  Find(function(type) r_types[[type]](dtype), names(r_types))
}

word_kind <- function(name, f, differs = "") {
  word(name, "base", f, topic = "Logic and control", dtypes = "all", derivative = "none", differs = differs)
}

word_kind("is.logical", function(x) r_type(x) == "logical")
word_kind("is.integer", function(x) r_type(x) == "integer")
word_kind("is.double", function(x) r_type(x) == "double")
word_kind("is.complex", function(x) r_type(x) == "complex")
word_kind("is.atomic", function(x) TRUE)
word_kind("is.recursive", function(x) FALSE)
word_kind("typeof", function(x) r_type(x))
word_kind("storage.mode", function(x) r_type(x))
word_kind("mode", function(x) if (r_type(x) %in% c("integer", "double")) "numeric" else r_type(x))
word_kind("class", function(x) {
  rank <- length(x@shape)
  if (rank > 1L) {
    c(if (rank == 2L) "matrix", "array")
  } else if (r_type(x) == "double") {
    "numeric"
  } else {
    r_type(x)
  }
})
word_kind("oldClass", function(x) NULL)
word_kind("is.object", function(x) FALSE)
word_kind("isS4", function(object) FALSE)
word("is", "methods", function(object, class2) {
  if (!is_value(object) || (!missing(class2) && class2 %in% c("xlaffi_value", "xlaffi_typed"))) {
    return(methods::is(object, class2))
  }
  # R's own answer, for an object of the same kind
  like <- vector(r_type(object), 1L)
  if (length(object@shape) > 1L) dim(like) <- rep(1L, length(object@shape))
  methods::is(like, class2)
}, topic = "Logic and control", dtypes = "all", derivative = "none", differs = "")
word_kind("is.vector", function(x, mode = "any") {
  length(x@shape) < 2L && mode %in% c("any", r_type(x), if (r_type(x) %in% c("integer", "double")) "numeric")
})
