# Derivatives of R functions in programs by central differences: rules made of further callbacks.

# The rule `jvp = "numeric"` of ffi_callback().
numeric_jvp <- function(f, parts, vectorized, name, dtypes, call = rlang::caller_env()) {
  specs <- c(parts$operands, parts$results)
  if (any(vapply(specs, function(spec) !is.null(spec$count), NA))) {
    abort("`jvp = \"numeric\"` is not for arrays that come several times", op = name, operand = "jvp", call = call)
  }
  floats <- vapply(specs, has_differences, NA, dtypes = dtypes, name = name, call = call)
  moving <- names(parts$operands)[floats[seq_along(parts$operands)]]
  changing <- names(parts$results)[floats[length(parts$operands) + seq_along(parts$results)]]
  made <- new.env(parent = emptyenv())
  function(primals, results, tangents, attributes) {
    primals <- Filter(Negate(is.null), primals)
    moved <- intersect(moving, names(Filter(Negate(is.null), tangents)))
    key <- paste(c(names(primals), "/", moved), collapse = " ")
    if (is.null(made[[key]])) {
      along <- numeric_along(f, parts, names(primals), moved, changing, vectorized, name, dtypes)
      assign(key, along, envir = made)
    }
    attributes <- numeric_attributes(parts, attributes)
    changes <- do.call(made[[key]], c(primals, prefixed("d_", tangents[moved]), attributes))
    if (length(changing) == 1L) changes <- list(changes)
    names(changes) <- changing
    # As the op returns its results
    wanted <- names(parts$results)
    if (length(wanted) == 1L) changes[[1L]] else stats::setNames(changes[wanted], wanted)
  }
}

# Whether an array has tangents. Which dtype a variable stands for is only known where it is called.
has_differences <- function(spec, dtypes, name, call) {
  words <- regmatches(spec$dtype, gregexpr("[A-Za-z_][A-Za-z0-9_]*", spec$dtype))[[1L]]
  known <- unlist(lapply(words, function(word) if (word %in% type_state$dtypes$name) word else dtypes[[word]]))
  if ("complex" %in% words || any(is_complex(known))) {
    abort("`jvp = \"numeric\"` is not for complex numbers", op = name, operand = "jvp", call = call)
  }
  real <- is_inexact(known)
  if (length(unique(real)) > 1L) {
    abort(sprintf("`jvp = \"numeric\"`: `%s` may be of integers or not, which makes a difference", spec$name),
      op = name, operand = "jvp", call = call
    )
  }
  !length(real) || real[[1L]]
}

# The attributes with their defaults: what is made of the function has none.
numeric_attributes <- function(parts, attributes) {
  lapply(parts$attributes, function(spec) {
    if (is.null(attributes[[spec$name]])) spec$default else attributes[[spec$name]]
  })
}

prefixed <- function(prefix, arrays) stats::setNames(arrays, paste0(prefix, names(arrays), recycle0 = TRUE))

# An array in the words of a signature; `batch` puts it in the batch whether it was or not.
signature_words <- function(prefix, specs, batch = FALSE) {
  vapply(specs, function(spec) {
    sprintf("%s%s: %s[%s]%s", prefix, spec$name, spec$dtype,
      toString(c(if (spec$batch || batch) "...", spec$dims)), if (spec$order == "column") " column" else ""
    )
  }, "")
}

numeric_signature <- function(parts, operands, results) {
  attributes <- vapply(parts$attributes, function(spec) {
    paste0(spec$name, ": ", spec$dtype, if (!is.null(spec$length)) sprintf("[%s]", spec$length))
  }, "")
  attributes <- if (length(attributes)) paste(";", toString(attributes)) else ""
  sprintf("%s%s -> %s", toString(operands), attributes, toString(results))
}

# The op for the derivative along tangents, which is linear in them.
numeric_along <- function(f, parts, given, moved, changing, vectorized, name, dtypes) {
  operands <- parts$operands[given]
  text <- numeric_signature(
    parts, c(signature_words("", operands), signature_words("d_", operands[moved])),
    signature_words("d_", parts$results[changing])
  )
  along <- function(...) {
    all <- list(...)
    x <- stats::setNames(all[seq_along(given)], given)
    d <- stats::setNames(all[length(given) + seq_along(moved)], moved)
    attributes <- all[-seq_len(length(given) + length(moved))]
    size <- max(abs(unlist(d)), 0)
    h <- if (isTRUE(size > 0)) step_at(unlist(x[moved])) / size else 1
    at <- function(h) {
      x[moved] <- Map(function(x, d) x + h * d, x[moved], d)
      numeric_results(f, unname(x), attributes, parts, changing)
    }
    # The numbers that were added, after rounding, do not matter: d is what it is.
    unname(Map(function(plus, minus) (plus - minus) / (2 * h), at(h), at(-h)))
  }
  grads <- new.env(parent = emptyenv())
  transpose <- function(primals, cotangents, attributes) {
    if (length(changing) == 1L) cotangents <- list(cotangents)
    names(cotangents) <- changing
    cotangents <- Filter(Negate(is.null), cotangents)
    key <- paste(names(cotangents), collapse = " ")
    if (is.null(grads[[key]])) {
      assign(key, numeric_gradient(f, parts, given, moved, names(cotangents), name, dtypes), envir = grads)
    }
    x <- primals[given]
    shares <- do.call(grads[[key]], c(x, prefixed("c_", cotangents), attributes))
    if (length(moved) == 1L) shares <- list(shares)
    names(shares) <- moved
    shares <- Map(function(share, like) summed_to(share, like@shape), shares, x[moved])
    c(lapply(x, function(x) NULL), prefixed("d_", shares))[names(primals)]
  }
  derived_callback(along, text, vectorized, paste0(name, ".jvp"), dtypes, list(transpose = transpose))
}

# The op for the sum of all results, weighted by cotangents, by each element of the operands.
numeric_gradient <- function(f, parts, given, moved, weighted, name, dtypes) {
  operands <- parts$operands[given]
  batch <- any(vapply(parts$operands, function(spec) spec$batch, NA))
  text <- numeric_signature(
    parts, c(signature_words("", operands), signature_words("c_", parts$results[weighted])),
    signature_words("g_", operands[moved], batch)
  )
  gradient <- function(...) {
    all <- list(...)
    x <- stats::setNames(all[seq_along(given)], given)
    weights <- all[length(given) + seq_along(weighted)]
    attributes <- all[-seq_len(length(given) + length(weighted))]
    unname(lapply(moved, function(name) {
      own <- x[[name]]
      for (i in seq_along(own)) {
        h <- step_at(own[[i]])
        at <- function(h) {
          x[[name]][[i]] <- x[[name]][[i]] + h
          results <- numeric_results(f, unname(x), attributes, parts, weighted)
          sum(unlist(Map(function(result, weight) sum(result * weight), results, weights)))
        }
        own[[i]] <- (at(h) - at(-h)) / (2 * h)
      }
      own
    }))
  }
  derived_callback(gradient, text, FALSE, paste0(name, ".vjp"), dtypes)
}

# Where the error of the difference and that of rounding are about the same.
step_at <- function(x) .Machine$double.eps^(1 / 3) * max(1, abs(x))

numeric_results <- function(f, x, attributes, parts, wanted) {
  results <- do.call(f, c(x, attributes))
  if (length(parts$results) == 1L && !is.list(results)) {
    results <- list(results)
  }
  if (is.null(names(results))) {
    names(results) <- names(parts$results)
  }
  results[wanted]
}

# A list of one result is that result.
derived_callback <- function(f, text, vectorized, name, dtypes, rules = list()) {
  parts <- read_signature(text)
  # Differences of differences have few digits left, and of those nobody would know how few.
  rules$jvp <- function(primals, results, tangents) {
    of <- sub("[.](jvp|vjp)$", "", name)
    abort(sprintf("%s: `jvp = \"numeric\"` gives first derivatives, not second ones", of),
      code = "UNIMPLEMENTED", op = of, operand = "jvp", call = NULL,
      hint = "A rule written with an op for the first derivative, which has a rule in its turn, gives them."
    )
  }
  used <- dtypes[intersect(names(dtypes), parts$dtypes)]
  new_own_op(new_callback(f, parts, vectorized, name, used), rules)
}

# The sum over the axes of the batch that an operand does not have.
summed_to <- function(x, shape) {
  if (identical(x@shape, shape)) {
    return(x)
  }
  front <- length(x@shape) - length(shape)
  ones <- which(shape == 1L & x@shape[front + seq_along(shape)] != 1L) + front
  hlo_reshape(hlo_sum(x, c(seq_len(front), ones)), shape)
}
