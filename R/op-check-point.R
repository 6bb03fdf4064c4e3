# The points at which ops are checked: arguments and directions as R data, which go into programs as buffers.

# The types of arguments, where R's doubles and complex numbers take the precision of `dtype`.
types_in <- function(arguments, types, dtype) {
  tree_fill(types, Map(function(x, type) {
    if (inherits(x, c("xlaffi_type", "xlaffi_buffer", "xlaffi_sharded")) || !is_inexact(type@dtype)) {
      return(type)
    }
    new_type(if (is_complex(type@dtype)) complex_dtype(dtype) else dtype, type@shape)
  }, tree_leaves(arguments), tree_leaves(types)))
}

# Examples as they are, and random data for types. The precision is that of the coarsest argument.
new_point <- function(arguments, types) {
  types <- tree_leaves(types)
  parts <- vapply(types, function(type) real_dtype(type@dtype), "")
  inexact <- parts %in% dtypes_of_kind("float")
  dtype <- if (any(inexact)) parts[inexact][[which.max(dtype_eps(parts[inexact]))]]
  leaves <- Map(function(x, type) {
    if (inherits(x, "xlaffi_type")) random_data(type) else if (is_on_device(x)) as_array(x) else x
  }, tree_leaves(arguments), types)
  tree <- build_tree(arguments)
  list(
    arguments = tree_map(arguments, function(leaf) 0), types = types, leaves = unname(leaves),
    inexact = inexact, dtype = if (is.null(dtype)) parts[[1L]] else dtype, eps = dtype_eps(dtype),
    names = vapply(seq_along(types), function(i) sub("^\\[\\[(.*)\\]\\]$", "\\1", tree_path(tree, i)), "")
  )
}

# The distance of 1 to the next number; the shortest types are taken for bf16.
dtype_eps <- function(dtype) {
  if (is.null(dtype)) 0 else ifelse(dtype %in% names(float_precision), 1 / float_precision[dtype], 2^-7)
}

random_data <- function(type) {
  count <- prod(type@shape)
  data <- if (is_complex(type@dtype)) {
    complex(real = stats::rnorm(count), imaginary = stats::rnorm(count))
  } else if (is_inexact(type@dtype)) {
    stats::rnorm(count)
  } else if (type@dtype == "pred") {
    sample(c(TRUE, FALSE), count, TRUE)
  } else {
    sample.int(3L, count, TRUE)
  }
  array(data, if (length(type@shape)) type@shape else 1L)
}

# Directions of the size of what they change, NULL for what does not; those of `like`.
random_directions <- function(leaves, types) {
  Map(function(x, type) {
    if (!is_inexact(type@dtype)) {
      return(NULL)
    }
    size <- suppressWarnings(max(Mod(x[is.finite(x)])))
    random_data(type) * if (is.finite(size) && size > 0) size else 1
  }, leaves, types)
}

# Arguments for a function of buffers; NULL stays.
as_buffers <- function(leaves, types, like) {
  tree_fill(like, Map(function(x, type) {
    if (!is.null(x)) pjrt_buffer(x, type@dtype, shape = type@shape)
  }, leaves, types))
}

# Elements of a batch: the point, and others that are near, so that whatever an op wants of its arguments still holds.
# Matrices are scaled as a whole, which leaves them symmetric or definite; integers change places.
batch_elements <- function(point, size) {
  lapply(seq_len(size), function(i) {
    Map(function(x, type) {
      if (i == 1L) {
        x
      } else if (!is_inexact(type@dtype)) {
        x[] <- x[sample.int(length(x))]
        x
      } else {
        x * stats::runif(if (length(type@shape) > 1L) 1L else length(x), 0.85, 1)
      }
    }, point$leaves, point$types)
  })
}

# The elements as one array, with the batch in front.
stacked <- function(elements, type) {
  shape <- type@shape
  data <- array(do.call(c, lapply(elements, as.vector)), c(shape, length(elements)))
  aperm(data, c(length(shape) + 1L, seq_along(shape)))
}
