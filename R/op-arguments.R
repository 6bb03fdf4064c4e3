# What an op of the user's own is called with: operands by place and name, attributes, R data of other dtypes.

# Operands and attributes apart; attributes that are missing have their default.
own_given <- function(own, arguments) {
  names <- names2(arguments)
  is_attribute <- names %in% names(own$signature$attributes)
  check_own_arguments(own, arguments, names)
  attributes <- arguments[is_attribute]
  operands <- own_operands(own, arguments[!is_attribute])
  list(operands = operands, attributes = attributes[order(names2(attributes))])
}

check_own_arguments <- function(own, arguments, names) {
  known <- c(names(own$signature$operands), names(own$signature$attributes))
  unknown <- setdiff(names, c("", known))
  if (length(unknown)) {
    abort(sprintf("%s: there is no argument `%s`", own$name, unknown[[1L]]),
      op = own$name, operand = unknown[[1L]], call = NULL,
      hint = sprintf("The arguments are: %s.", toString(known))
    )
  }
  check_given_once(names, known, own$name)
  operands <- arguments[!names %in% names(own$signature$attributes)]
  refused <- function(leaf) !is_data(leaf) && !inherits(leaf, c("xlaffi_buffer", "xlaffi_typed"))
  is_wrong <- function(operand) any(vapply(tree_leaves(operand), refused, NA))
  if (is_wrong(operands)) {
    wrong <- Filter(is_wrong, own_named(own, operands))[1L]
    leaf <- Find(refused, tree_leaves(wrong))
    text <- "%s: operand `%s` must be numbers, logicals, buffers or values of a program, not %s"
    abort(sprintf(text, own$name, names(wrong), describe(leaf)),
      op = own$name, operand = names(wrong), hint = data_hint(leaf), call = NULL
    )
  }
}

# The operands under their names, in order, those that are left out not there. That which comes several times is a
# list, or what is too much.
own_operands <- function(own, arguments) {
  specs <- own$signature$operands
  arguments <- own_named(own, arguments)
  arguments <- arguments[!vapply(arguments, is.null, NA)]
  for (spec in specs) {
    if (!spec$name %in% names(arguments) && !spec$optional && is.null(spec$count)) {
      abort(sprintf("%s: operand `%s` is missing", own$name, spec$name),
        op = own$name, operand = spec$name, call = NULL
      )
    }
  }
  present <- names(specs) %in% names(arguments)
  if (is.unsorted(rev(present))) {
    gap <- names(specs)[!present & vapply(specs, function(spec) spec$optional, NA)]
    if (length(gap)) {
      abort(sprintf("%s: operand `%s` is missing, though a later one is given", own$name, gap[[1L]]),
        op = own$name, operand = gap[[1L]], call = NULL
      )
    }
  }
  arguments
}

own_named <- function(own, arguments) {
  specs <- own$signature$operands
  several <- Filter(function(spec) !is.null(spec$count), specs)
  named_arguments(taking(names(specs)), own_gathered(specs, names(several), arguments), own$name)
}

# Where more come by place than there are operands, they belong to that which comes several times.
own_gathered <- function(specs, several, arguments) {
  unnamed <- which(!nzchar(names2(arguments)))
  free <- setdiff(names(specs), names2(arguments))
  at <- match(several, free)
  if (!length(several) || is.na(at) || length(unnamed) < at) {
    return(arguments)
  }
  behind <- length(free) - at
  taken <- unnamed[seq.int(at, length.out = max(length(unnamed) - behind - at + 1L, 0L))]
  if (length(taken) == 1L && is_branch(arguments[[taken]])) {
    return(arguments)
  }
  list <- stats::setNames(list(unname(arguments[taken])), several)
  c(arguments[setdiff(seq_along(arguments), taken)], list)
}

# For each operand the dtype that R data are to be given, NULL where they have it already.
own_wanted <- function(own, operands) {
  leaves <- lapply(operands, tree_leaves)
  dtypes <- own_dtypes(own, leaves)
  accepted <- function(name) {
    variable <- own$signature$operands[[name]]$dtype
    same <- vapply(own$signature$operands[names(leaves)], function(spec) spec$dtype == variable, NA)
    is_free <- all(vapply(unlist(unname(leaves[same]), recursive = FALSE), is_data, NA))
    if (is_free) own$dtypes[[variable]] else dtypes[[name]]
  }
  like <- dtypes_on_device(leaves)
  wanted <- list()
  for (name in names(dtypes)) {
    for (leaf in leaves[[name]]) {
      if (is_data(leaf) && r_dtype(leaf) != dtypes[[name]] && !identical(dtype_beside(leaf, like), dtypes[[name]])) {
        check_fits(leaf, dtypes[[name]], own$name, name, accepted(name))
        wanted[[name]] <- dtypes[[name]]
      }
    }
  }
  if (length(wanted)) wanted
}

# The dtypes of operands as far as the signature and what is given say them
own_dtypes <- function(own, leaves) {
  bound <- list()
  kinds <- list()
  for (name in names(leaves)) {
    variable <- own$signature$operands[[name]]$dtype
    for (leaf in leaves[[name]]) {
      if (!variable %in% names(own$dtypes)) {
        next
      }
      if (is_data(leaf)) {
        kinds[[variable]] <- c(kinds[[variable]], r_dtype(leaf))
      } else if (is.null(bound[[variable]])) {
        bound[[variable]] <- argument_type(leaf, name)@dtype
      }
    }
  }
  for (variable in setdiff(names(kinds), names(bound))) {
    bound[[variable]] <- own_choice(kinds[[variable]], own$dtypes[[variable]])
  }
  dtypes <- lapply(stats::setNames(nm = names(leaves)), function(name) {
    dtype <- own$signature$operands[[name]]$dtype
    if (dtype %in% names(own$dtypes)) bound[[dtype]] else dtype
  })
  Filter(function(dtype) !is.null(dtype) && dtype %in% type_state$dtypes$name, dtypes)
}

# One number takes the dtype of a buffer beside it before a program sees it. Where the signature says another one, the
# number becomes an array, which keeps its own.
own_kept <- function(own, operands) {
  leaves <- lapply(operands, tree_leaves)
  like <- dtypes_on_device(leaves)
  if (!length(like)) {
    return(operands)
  }
  dtypes <- own_dtypes(own, leaves)
  Map(function(operand, dtype) {
    tree_map(operand, function(leaf) {
      found <- dtype_beside(leaf, like)
      if (is.null(found) || is.null(dtype) || found == dtype) leaf else array(leaf, 1L)
    })
  }, operands, dtypes[names(operands)])
}

# Those that a call's numbers adapt to; of values in a program they take none.
dtypes_on_device <- function(leaves) {
  if (is_tracing()) {
    return(character())
  }
  on_device <- Filter(is_on_device, unlist(leaves, recursive = FALSE))
  vapply(unname(on_device), function(x) argument_type(x, "x")@dtype, "")
}

# The dtype of a set for R data of these dtypes: their own, or the first that holds them.
own_choice <- function(kinds, set) {
  order <- c("c128", "f64", "i64", "i32", "pred")
  most <- order[order %in% kinds][[1L]]
  holds <- switch(most,
    c128 = c("c128", "c64"),
    f64 = c("f64", "f32", "bf16", "f16", "c128", "c64"),
    i64 = c("i64", "ui64", "f64", "f32", "c128", "c64"),
    i32 = c("i32", "i64", "f64", "f32", "c128", "c64"),
    pred = c("pred", "i32", "i64", "f64", "f32", "c128", "c64")
  )
  found <- intersect(holds, set)
  if (length(found)) found[[1L]] else set[[1L]]
}

# R data are given another dtype only where nothing is lost but digits of doubles. `accepted`: all that there could be
# in its place, of which none holds the data.
check_fits <- function(x, dtype, op, operand, accepted = NULL) {
  refuse <- function(problem, hint = NULL) {
    abort(sprintf("%s: operand `%s` %s", op, operand, problem), op = op, operand = operand, call = NULL, hint = hint)
  }
  if (is.complex(x) && !is_complex(dtype)) {
    could_be <- sub(", ([^,]*)$", " or \\1", toString(if (is.null(accepted)) dtype else accepted))
    refuse(sprintf("is %s, got complex numbers", could_be))
  }
  # The program would take the bits of such an NA for a number.
  if ((is.logical(x) && dtype != "pred" || is_inexact(dtype) && r_dtype(x) %in% c("i32", "i64")) && anyNA(x)) {
    refuse(sprintf("is %s, got %s with NA", dtype, r_dtype(x)), if (is_inexact(dtype)) "`as.numeric()` keeps NA.")
  }
  if (dtype == "pred") {
    if (!is.logical(x)) {
      refuse(sprintf("is %s, got %s", dtype, r_dtype(x)), "A comparison gives logicals: `x != 0`.")
    }
  } else if (is_integer(dtype)) {
    if (!is.logical(x)) {
      if (anyNA(x)) {
        refuse(sprintf("is %s, which has no NA", dtype))
      }
      problem <- if (dtype %in% names(attribute_ranges)) out_of_range(x, dtype)
      if (!is.null(problem)) {
        refuse(problem)
      }
    }
  } else if (is.integer(x) || is_integer64(x)) {
    digits <- c(f64 = 53, c128 = 53, f32 = 24, c64 = 24, f16 = 11, bf16 = 8)[[dtype]]
    if (any(abs(x) > 2^digits, na.rm = TRUE)) {
      refuse(sprintf("is %s, which does not hold all integers beyond 2^%d", dtype, digits))
    }
  }
}

# R data within a program become constants of the dtype that is wanted; elsewhere the program converts them.
own_constants <- function(own, operands, wanted) {
  if (!is_tracing()) {
    return(operands)
  }
  Map(function(x, name) {
    dtype <- wanted[[name]]
    tree_map(x, function(leaf) {
      if (is.null(dtype) || !is_data(leaf)) leaf else constant(leaf, dtype, r_shape(leaf), name, NULL, own$name)
    })
  }, operands, names(operands))
}

# As the signature wants them: converted, and one number of one axis where a scalar is wanted.
own_converted <- function(own, operands, wanted) {
  Map(function(operand, name) {
    spec <- own$signature$operands[[name]]
    tree_map(operand, function(value) {
      if (!is.null(wanted[[name]])) {
        value <- converted(value, wanted[[name]])
      }
      if (!spec$batch && !length(spec$dims) && identical(value@shape, 1L)) hlo_reshape(value, integer()) else value
    })
  }, operands, names(operands))
}

# `values` for the call, and `numbers`, for dimensions, of all: integers' values and arrays' lengths.
own_attributes <- function(own, attributes) {
  specs <- own$signature$attributes
  values <- list()
  numbers <- character()
  for (spec in specs) {
    given <- spec$name %in% names(attributes)
    value <- if (given) attributes[[spec$name]] else spec$default
    if (is.null(value)) {
      abort(sprintf("%s: attribute `%s` is missing", own$name, spec$name),
        op = own$name, operand = spec$name, call = NULL
      )
    }
    if (given) {
      values[[spec$name]] <- own_attribute(own, spec, value)
    }
    numbers <- c(numbers, if (!is.null(spec$length)) {
      as.character(length(value))
    } else if (is_integer(spec$dtype)) {
      format(value, scientific = FALSE)
    } else {
      "0"
    })
  }
  list(values = values, numbers = numbers)
}

own_attribute <- function(own, spec, value) {
  text <- spec$dtype == "str"
  if (text != is.character(value)) {
    wanted <- if (text) "one string" else sprintf("of dtype %s", spec$dtype)
    abort(sprintf("%s: attribute `%s` must be %s, not %s", own$name, spec$name, wanted, describe(value)),
      op = own$name, operand = spec$name, call = NULL
    )
  }
  attribute <- structure(
    list(x = value, dtype = if (!text) spec$dtype, array = !is.null(spec$length)),
    class = "xlaffi_attribute"
  )
  attribute$text <- attribute_text(attribute, spec$name, NULL, own$name)
  attribute
}
