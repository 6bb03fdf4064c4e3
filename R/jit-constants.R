# Buffers of R's integers with NA are marked, and refused as arguments. Among floating-point numbers NA is NaN.
uploaded_constant <- function(data, type, device) {
  if (!is.double(data) && is_inexact(type@dtype) && anyNA(data)) data[is.na(data)] <- NaN
  pjrt_buffer(array_of(data, type@shape), type@dtype, device)
}

# The large constants of a program that is going to run, on `device` or as `layout` says: for each its `type`, `data`,
# and what a run is given, `argument`.
uploaded_constants <- function(entries, device, layout) {
  place <- if (is.null(layout)) device_key(device) else layout$mesh$key
  lapply(entries, function(entry) {
    type <- entry$type
    data <- entry$node$params$data
    known <- known_constant(type, data, place)
    if (!is.null(known)) {
      return(known)
    }
    # What NA means in these dtypes was seen to when the constant was made.
    argument <- if (is.null(layout)) {
      uploaded_constant(data, type, device)
    } else {
      whole <- whole_spec(type)
      parts <- local_parts(layout$mesh, whole)
      local <- local_shape(whole, layout$mesh, type@shape)
      shards <- parts_on_devices(
        array_of(data, type@shape), type, layout$mesh, parts, local, first_of_same(parts)
      )
      if (mesh_size(layout$mesh) == 1L) shards[[1L]] else shards
    }
    list(type = type, data = data, place = place, argument = argument)
  })
}

array_of <- function(data, shape) {
  attributes(data) <- attributes(data)["class"]
  dim(data) <- shape
  data
}

# The same constant of another call that is kept: programs for derivatives have it, too.
known_constant <- function(type, data, place) {
  for (call in as.list(jit_state$calls)) {
    for (known in call$constants) {
      if (known$place == place && identical(known$type, type) && is_same(known$data, data)) {
        return(known)
      }
    }
  }
}
