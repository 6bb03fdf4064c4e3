# Programs that tools/jax/export.py wrote, run here and compared with JAX's own results.

# The programs of a folder: a list by name, each with its file, what its results are compared as, and
# its arguments and results (dtype, shape, value).
jax_programs <- function(folder) {
  fields <- strsplit(readLines(file.path(folder, "arrays.tsv"))[-1], "\t", fixed = TRUE)
  names <- vapply(fields, `[[`, "", 1)
  lapply(split(fields, factor(names, unique(names))), function(fields) {
    arrays <- function(role) {
      lapply(Filter(function(f) f[[3]] == role, fields), function(f) jax_array(f[[4]], f[[5]], f[[6]]))
    }
    name <- fields[[1]][[1]]
    list(
      file = file.path(folder, paste0(name, ".mlir")), comparison = fields[[1]][[2]],
      arguments = arrays("argument"), results = arrays("result")
    )
  })
}

# Numbers in row-major order as an R array.
jax_array <- function(dtype, shape, text) {
  shape <- as.integer(strsplit(shape, "x", fixed = TRUE)[[1]])
  value <- scan(text = text, quiet = TRUE)
  if (startsWith(dtype, "c")) {
    odd <- seq(1, length(value), by = 2)
    value <- complex(real = value[odd], imaginary = value[odd + 1])
  }
  if (length(shape)) {
    value <- aperm(array(value, rev(shape)), rev(seq_along(shape)))
  }
  list(dtype = dtype, shape = shape, value = value)
}

# How far the results are from JAX's, in units in the last place of each result's largest element;
# Inf where they are of another kind.
jax_errors <- function(program) {
  source <- pjrt_program(path = program$file)
  if (any(grepl("tensor<?", readLines(program$file), fixed = TRUE))) {
    source <- refine_shapes(source, lapply(program$arguments, `[[`, "shape"))
  }
  exec <- pjrt_compile(source)
  arguments <- lapply(program$arguments, function(a) pjrt_buffer(a$value, a$dtype, shape = a$shape))
  found <- do.call(pjrt_execute, c(list(exec), arguments, list(simplify = FALSE)))
  expected <- program$results
  same_kind <- length(found) == length(expected) && all(mapply(function(buffer, result) {
    as.character(dtype(buffer)) == result$dtype && identical(as.integer(shape(buffer)), result$shape)
  }, found, expected))
  if (!same_kind) {
    return(Inf)
  }
  found <- Map(function(buffer, result) {
    value <- as_array(buffer)
    if (inherits(value, "integer64")) {
      value <- structure(as.double(value), dim = dim(value))
    }
    result$value <- value
    result
  }, found, expected)
  compare <- switch(program$comparison, values = list, svd = jax_svd, eigh = jax_eigh, eig = jax_eig, schur = jax_schur)
  mapply(jax_distance, do.call(compare, found), do.call(compare, expected))
}

# As jax_errors(), of a program for as many devices as its name says, run on whole arrays.
device_errors <- function(program) {
  count <- as.integer(sub("^.*-([0-9]+)[.]mlir$", "\\1", program$file))
  exec <- pjrt_compile(pjrt_program(path = program$file), pjrt_compile_options(num_partitions = count))
  arguments <- lapply(program$arguments, function(a) pjrt_buffer(a$value, a$dtype, shape = a$shape))
  parts <- do.call(pjrt_shard, c(list(exec), arguments))
  found <- pjrt_gather(exec, do.call(pjrt_execute, c(list(exec), parts)))
  if (!identical(lapply(found, function(x) as.integer(dim(x))), lapply(program$results, `[[`, "shape"))) {
    return(Inf)
  }
  found <- Map(function(x, result) replace(result, "value", list(x)), found, program$results)
  max(mapply(jax_distance, found, program$results))
}

jax_distance <- function(found, expected) {
  if (!grepl("^[fc]", expected$dtype)) {
    return(if (all(found$value == expected$value)) 0 else Inf)
  }
  missing <- is.nan(expected$value)
  if (any(missing)) {
    if (!identical(c(missing), c(is.nan(found$value)))) {
      return(Inf)
    }
    found$value <- found$value[!missing]
    expected$value <- expected$value[!missing]
    if (!length(expected$value)) {
      return(0)
    }
  }
  eps <- if (expected$dtype %in% c("f32", "c64")) 2^-23 else 2^-52
  distance <- max(Mod(found$value - expected$value)) / max(Mod(expected$value), .Machine$double.xmin) / eps
  if (is.na(distance)) Inf else distance
}

# Singular and eigenvectors are determined up to a factor of modulus 1 and are compared by what does
# not depend on it: products, and orthonormality.
jax_svd <- function(u, s, vt) {
  product <- jax_map(list(u, s, vt), function(u, s, vt) {
    first <- seq_along(s)
    u[, first, drop = FALSE] %*% (as.vector(s) * vt[first, , drop = FALSE])
  })
  list(s, product, jax_gram(u), jax_map(list(vt), function(vt) vt %*% Conj(t(vt))))
}

jax_eigh <- function(w, v) {
  product <- jax_map(list(v, w), function(v, w) v %*% (as.vector(w) * Conj(t(v))))
  list(w, product, jax_gram(v))
}

jax_eig <- function(w, v) {
  # Each eigenvector divided by its largest element.
  scaled <- jax_map(list(v), function(v) sweep(v, 2, apply(v, 2, function(x) x[[which.max(round(Mod(x), 3))]]), "/"))
  lengths <- jax_map(list(v), function(v) colSums(Mod(v)^2))
  list(w, scaled, lengths)
}

# The columns of z are as free, and with them the rows and columns of t outside its diagonal.
jax_schur <- function(t, z) {
  product <- jax_map(list(t, z), function(upper, z) z %*% upper %*% Conj(t(z)))
  list(jax_map(list(t), diag), product, jax_gram(z))
}

jax_gram <- function(u) jax_map(list(u), function(u) Conj(t(u)) %*% u)

# `f` of each matrix of a batch, with the vectors that belong to it; the dtype of the first.
jax_map <- function(arrays, f) {
  vectors <- vapply(arrays, function(a) length(a$shape), 1L)
  batch <- seq_len(max(vectors) - 2)
  count <- prod(arrays[[1]]$shape[batch])
  values <- lapply(seq_len(count), function(i) {
    do.call(f, lapply(arrays, function(a) {
      rest <- a$shape[-batch]
      if (!length(batch)) {
        return(array(a$value, a$shape))
      }
      array(array(a$value, c(count, prod(rest)))[i, ], rest)
    }))
  })
  list(dtype = arrays[[1]]$dtype, value = unlist(values))
}
