# A special function of `arguments`, a named list of values and numbers; `shown` is the function as messages name it.
special <- function(name, arguments, shown, call) {
  at <- names(arguments)
  values <- common(arguments, shown, at, call)
  if (values[[1L]]@dtype %in% c("pred", "i32")) {
    values <- lapply(values, converted, "f64")
  }
  if (!values[[1L]]@dtype %in% c("f32", "f64")) {
    own <- Position(is_value, arguments)
    abort(sprintf("%s: `%s` must be f32 or f64, not %s", shown, at[[own]], type_text(arguments[[own]])),
      op = shown, operand = at[[own]], hint = "`hlo_convert()` changes the dtype.", call = call
    )
  }
  do.call(special_op(name), recycled_values(values, at, shown, call))
}

# Values of one dtype in one shape
recycled_values <- function(values, names, shown, call) {
  widest <- values[[1L]]
  for (i in seq_along(values)[-1L]) {
    widest <- operands(widest, values[[i]], shown, names[c(1L, i)], call)[[1L]]
  }
  Map(function(value, name) operands(widest, value, shown, c(names[[1L]], name), call)[[2L]],
    values, names,
    USE.NAMES = FALSE
  )
}

# The op of that name in the crate `special`: of values of one dtype and shape.
special_op <- function(name) {
  made_once(paste("op special", name), function() {
    ffi_op(
      function(...) {
        hlo_custom_call(private_target("special"), list(...), ..1, list(`function` = name),
          vmap_method = "broadcast_all"
        )
      },
      jvp = special_jvp(name),
      vmap = special_vmap(name),
      name = name
    )
  })
}

# Each element for itself: a batch is a larger array.
special_vmap <- function(name) {
  force(name)
  function(arguments, axes, size) {
    whole <- Map(function(x, axis) {
      if (is.null(axis)) hlo_broadcast(x, c(size, shape(x)), 1 + seq_along(shape(x))) else x
    }, arguments, axes)
    do.call(special_op(name), unname(whole))
  }
}

# function(result, arguments...) by the function's name, one for each argument: the derivative in it. "flat": it is 0;
# "none": there is none.
special_slopes <- new.env(parent = emptyenv())

special_jvp <- function(name) {
  force(name)
  function(primals, results, tangents) {
    slopes <- special_slopes[[name]]
    changes <- Map(function(slope, tangent, at) {
      if (is.null(tangent) || identical(slope, "flat")) {
        return(NULL)
      }
      if (identical(slope, "none")) {
        abort(sprintf("%s has no derivative in its argument %d", name, at), "UNIMPLEMENTED", op = name, call = NULL)
      }
      tangent * do.call(slope, c(list(results), unname(primals)))
    }, slopes, tangents, seq_along(slopes))
    Reduce(add_tangents, changes)
  }
}

# How slopes name functions: of values that are of one dtype and shape.
sf <- function(name, ...) special_op(name)(...)
