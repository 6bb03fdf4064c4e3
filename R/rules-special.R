# A special function of `arguments`, a named list of values and numbers; `shown` is the function as messages name it.
special <- function(name, arguments, shown, call) {
  do.call(special_op(name), special_values(arguments, shown, call))
}

special_values <- function(arguments, shown, call) {
  values <- elementwise_values(arguments, shown, call, first_for_r(names(arguments), shown))
  if (!values[[1L]]@dtype %in% c("f32", "f64")) {
    at <- Position(is_value, arguments, nomatch = 1L)
    name <- names(arguments)[[at]]
    abort(sprintf("%s: `%s` must be f32 or f64, not %s", shown, name, type_text(values[[at]])),
      op = shown, operand = name, hint = "`hlo_convert()` changes the dtype.", call = call
    )
  }
  values
}

# Which argument is R's first one: functions with an order have it behind. R's besselI() and besselK() have three.
first_for_r <- function(names, shown) {
  if (shown %in% c("besselI()", "besselK()")) {
    NULL
  } else if (names[[1L]] %in% c("deriv", "nu", "s") || identical(names, c("n", "x"))) {
    2L
  } else {
    1L
  }
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
