# A stand-in for the package anvl: what this package calls of it, with the same arguments, and the fields that it looks
# at. Its functions add, multiply and sum up, and are differentiated in reverse mode.
state <- new.env()

.current_descriptor <- function(silent = FALSE) {
  if (is.null(state$descriptor) && !silent) stop("nothing is traced")
  state$descriptor
}

# Types and values of graphs

as.character.StandInType <- function(x, ...) x$name

AbstractArray <- function(dtype, shape, ambiguous = FALSE) {
  if (is.character(dtype)) {
    dtype <- structure(list(name = dtype), class = "StandInType")
  }
  structure(list(dtype = dtype, shape = as.integer(shape), ambiguous = ambiguous), class = "AbstractArray")
}

# An array with data: of a graph it is a constant.
nv_array <- function(data, dtype = "f64") {
  shape <- if (is.null(dim(data))) length(data) else dim(data)
  structure(list(data = data, aval = AbstractArray(dtype, shape)), class = "AnvlArray")
}

as_array <- function(x, ...) x$data

GraphValue <- function(aval) {
  value <- structure(new.env(), class = "GraphValue")
  value$aval <- aval
  value
}

GraphBox <- function(gnode, desc) structure(list(gnode = gnode, desc = desc), class = c("GraphBox", "AnvlBox"))

aval_of <- function(x) if (inherits(x, "AbstractArray")) x else if (inherits(x, "GraphBox")) x$gnode$aval else x$aval

dtype <- function(x, ...) aval_of(x)$dtype

shape <- function(x, ...) aval_of(x)$shape

ambiguous <- function(x, ...) aval_of(x)$ambiguous

boxed <- function(x) {
  desc <- .current_descriptor()
  if (inherits(x, "GraphBox")) {
    if (!identical(x$desc, desc)) {
      # Of a graph round this one
      desc$constants <- c(desc$constants, list(x$gnode))
    }
    return(GraphBox(x$gnode, desc))
  }
  value <- GraphValue(structure(c(unclass(x$aval), list(data = x)), class = c("ConcreteArray", "AbstractArray")))
  desc$constants <- c(desc$constants, list(value))
  GraphBox(value, desc)
}

# Trees

flatten <- function(x) {
  if (is.list(x) && !is.object(x)) do.call(c, c(list(list()), lapply(unname(x), flatten))) else list(x)
}

build_tree <- function(x, counter = NULL) x

unflatten <- function(node, x) {
  at <- 0L
  fill <- function(node) {
    if (is.list(node) && !is.object(node)) {
      return(lapply(node, fill))
    }
    at <<- at + 1L
    x[[at]]
  }
  fill(node)
}

# Primitives

AnvlPrimitive <- function(name) {
  primitive <- structure(new.env(), class = "AnvlPrimitive")
  primitive$name <- name
  primitive$rules <- list()
  primitive
}

`[[<-.JitPrimitive` <- function(x, name, value) {
  primitive <- attr(x, "primitive")
  primitive$rules[[name]] <- value
  x
}

rule_reverse <- function(backward = NULL, forward = NULL) list(backward = backward)

new_primitive <- function(name, fn, subgraphs = character(), static = character(), device = NULL, register = TRUE) {
  structure(fn, primitive = AnvlPrimitive(name), class = "JitPrimitive", static = static, registered = register)
}

graph_desc_add <- function(primitive, args, params = list(), infer_fn, desc = NULL) {
  desc <- .current_descriptor()
  inputs <- lapply(args, function(x) boxed(x)$gnode)
  results <- do.call(infer_fn, c(lapply(inputs, function(x) x$aval), params))
  outputs <- lapply(results, GraphValue)
  call <- list(primitive = attr(primitive, "primitive"), inputs = unname(inputs), params = params, outputs = outputs)
  desc$calls <- c(desc$calls, list(call))
  lapply(outputs, GraphBox, desc)
}

simple <- function(name, result, lower, reverse) {
  made <- new_primitive(name, function(...) NULL)
  made[["stablehlo"]] <- lower
  made[["reverse"]] <- rule_reverse(backward = reverse)
  function(...) graph_desc_add(made, list(...), infer_fn = result)[[1L]]
}

like_first <- function(x, ...) list(x)

same_type <- function(mnemonic) {
  function(...) {
    values <- list(...)
    stablehlo::add_op(values[[1L]]$func, mnemonic, values, list(values[[1L]]$value_type))
  }
}

prim_add <- simple("add", like_first, same_type("add"), function(inputs, outputs, grads, params, required) {
  list(grads[[1L]], grads[[1L]])
})

prim_mul <- simple("mul", like_first, same_type("multiply"), function(inputs, outputs, grads, params, required) {
  list(grads[[1L]] * inputs[[2L]], grads[[1L]] * inputs[[1L]])
})

prim_sum <- simple("sum", function(x) list(AbstractArray(x$dtype, integer())), function(x) {
  type <- x$value_type
  scalar <- stablehlo::ValueType(type$dtype, integer())
  zero <- fill(x$func, 0, scalar)
  shown <- stablehlo::repr(scalar)
  stablehlo::add_op(x$func, "reduce", list(x, zero), list(scalar), sprintf(
    paste0(
      "({ ^bb0(%%a: %s, %%b: %s): %%sum = stablehlo.add %%a, %%b : %s\nstablehlo.return %%sum : %s }) ",
      "{dimensions = array<i64: %s>, note = \"%%a is no value\"}"
    ),
    shown, shown, shown, shown, paste(seq_along(type$shape) - 1L, collapse = ", ")
  ))
}, function(inputs, outputs, grads, params, required) list(spread(grads[[1L]], shape(inputs[[1L]]))))

fill <- function(func, number, type) {
  text <- sprintf("{value = dense<%.1f> : %s}", number, stablehlo::repr(type))
  stablehlo::add_op(func, "constant", list(), list(type), text)[[1L]]
}

made_spread <- new_primitive("spread", function(...) NULL)
made_spread[["stablehlo"]] <- function(x, shape) {
  type <- stablehlo::ValueType(x$value_type$dtype, shape)
  stablehlo::add_op(x$func, "broadcast_in_dim", list(x), list(type), "{broadcast_dimensions = array<i64>}")
}
made_spread[["reverse"]] <- rule_reverse(backward = function(inputs, outputs, grads, params, required) {
  list(sum(grads[[1L]]))
})

# A scalar at all places
spread <- function(x, to) {
  infer <- function(x, shape) list(AbstractArray(x$dtype, shape))
  graph_desc_add(made_spread, list(x), params = list(shape = to), infer_fn = infer)[[1L]]
}

made_convert <- new_primitive("convert", function(...) NULL)
made_convert[["stablehlo"]] <- function(x, dtype) {
  type <- stablehlo::ValueType(dtype, x$value_type$shape)
  stablehlo::add_op(x$func, "convert", list(x), list(type))
}
made_convert[["reverse"]] <- rule_reverse(backward = function(inputs, outputs, grads, params, required) {
  list(nv_convert(grads[[1L]], as.character(dtype(inputs[[1L]]))))
})

nv_convert <- function(operand, dtype) {
  infer <- function(x, dtype) list(AbstractArray(dtype, x$shape))
  graph_desc_add(made_convert, list(operand), params = list(dtype = dtype), infer_fn = infer)[[1L]]
}

Ops.AnvlBox <- function(e1, e2) switch(.Generic, "+" = prim_add(e1, e2), "*" = prim_mul(e1, e2), stop("not here"))

Summary.AnvlBox <- function(..., na.rm) {
  x <- ..1
  if (length(shape(x))) prim_sum(x) else x
}

# Graphs

trace_fn <- function(f, args = NULL, desc = NULL, mode = NULL, args_flat = NULL, in_tree = NULL) {
  outer <- state$descriptor
  stopifnot(identical(mode, "toplevel") == is.null(outer))
  desc <- structure(new.env(), class = "GraphDescriptor")
  on.exit(state$descriptor <- outer)
  state$descriptor <- desc
  desc$inputs <- lapply(args_flat, function(x) GraphValue(aval_of(x)))
  out <- do.call(f, unflatten(in_tree, lapply(desc$inputs, GraphBox, desc)))
  desc$out_tree <- build_tree(out)
  desc$outputs <- lapply(flatten(out), function(x) boxed(x)$gnode)
  desc
}

stablehlo <- function(graph, constants_as_inputs = TRUE, env = NULL, donate = character()) {
  func <- stablehlo::new_func()
  known <- list()
  note <- function(value, as) known <<- c(known, list(list(value, as)))
  find <- function(value) Find(function(entry) identical(entry[[1L]], value), known)[[2L]]
  for (value in c(graph$constants, graph$inputs)) {
    type <- stablehlo::ValueType(as.character(value$aval$dtype), value$aval$shape)
    note(value, stablehlo::func_input(func, type))
  }
  for (call in graph$calls) {
    values <- do.call(call$primitive$rules$stablehlo, c(lapply(call$inputs, find), call$params))
    Map(note, call$outputs, values)
  }
  stablehlo::add_op(func, "return", lapply(graph$outputs, find), list())
  list(func, graph$constants)
}

gradient <- function(f, wrt = NULL) {
  function(...) {
    desc <- .current_descriptor()
    arguments <- list(...)
    if (is.null(names(arguments))) names(arguments) <- names(formals(f))[seq_along(arguments)]
    from <- length(desc$calls)
    out <- do.call(f, arguments)
    calls <- desc$calls[seq_along(desc$calls) > from]
    wanted <- lapply(flatten(arguments[wrt]), function(x) x$gnode)
    needed <- wanted
    is_in <- function(values, value) any(vapply(values, identical, NA, value))
    for (call in calls) {
      if (any(vapply(call$inputs, function(x) is_in(needed, x), NA))) needed <- c(needed, call$outputs)
    }
    one <- GraphValue(out$gnode$aval)
    shares <- list(list(out$gnode, nv_array(1, as.character(dtype(out)))))
    shares[[1L]][[2L]]$aval$shape <- integer()
    find <- function(value) {
      at <- Position(function(entry) identical(entry[[1L]], value), shares)
      if (is.na(at)) zero_like(value) else shares[[at]][[2L]]
    }
    add <- function(value, share) {
      at <- Position(function(entry) identical(entry[[1L]], value), shares)
      if (is.na(at)) {
        shares <<- c(shares, list(list(value, share)))
      } else {
        shares[[at]][[2L]] <<- shares[[at]][[2L]] + share
      }
    }
    for (call in rev(calls)) {
      required <- vapply(call$inputs, function(x) is_in(needed, x), NA)
      if (any(required)) {
        box <- function(values) lapply(values, GraphBox, desc)
        given <- call$primitive$rules$reverse$backward(
          box(call$inputs), box(call$outputs), lapply(call$outputs, find), call$params, required
        )
        for (i in which(required)) add(call$inputs[[i]], given[[i]])
      }
    }
    unflatten(arguments[wrt], lapply(wanted, find))
  }
}

zero_like <- function(value) {
  zero <- nv_array(0, as.character(value$aval$dtype))
  zero$aval$shape <- integer()
  if (length(value$aval$shape)) spread(zero, value$aval$shape) else zero
}

.onLoad <- function(...) {
  registerS3method("[[<-", "JitPrimitive", `[[<-.JitPrimitive`)
  registerS3method("as.character", "StandInType", as.character.StandInType)
  registerS3method("Ops", "AnvlBox", Ops.AnvlBox)
  registerS3method("Ops", "AnvlArray", Ops.AnvlBox)
  registerS3method("Summary", "AnvlBox", Summary.AnvlBox)
}
