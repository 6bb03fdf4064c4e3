# What indices stand for: positions that are known while the program is written, or values.

# The positions, counted from 1, along an axis of `size` elements. `open` lets positions beyond the end and NA
# through, as R does in vectors.
fixed_positions <- function(index, size, place, call, open = FALSE) {
  refuse <- function(expected) {
    abort(sprintf("index %d must be %s, not %s", place, expected, values_text(index)), operand = "...", call = call)
  }
  if (!is_data(index) || is.complex(index)) {
    refuse("positions or logicals")
  }
  if (is.logical(index)) {
    if (length(index) > size && !open) {
      refuse(sprintf("at most %d logicals", size))
    }
    if (!length(index)) {
      # What comes of comparing names that are not there selects nothing.
      if (size > 0) {
        abort(sprintf("index %d is a logical vector of no elements", place),
          operand = "...", call = call,
          hint = "What is computed has no names to be compared. An index that selects nothing is `integer()`."
        )
      }
      return(integer())
    }
    index <- rep_len(as.vector(index), max(size, length(index)))
    positions <- replace(seq_along(index), is.na(index), NA)[is.na(index) | index]
  } else {
    positions <- trunc(as.double(index))
    if (any(positions < 0, na.rm = TRUE)) {
      if (anyNA(positions) || any(positions > 0)) {
        refuse("positions, or negative ones alone")
      }
      return(setdiff(seq_len(size), -positions))
    }
    positions <- positions[is.na(positions) | positions > 0]
  }
  if (!open && (anyNA(positions) || any(positions > size))) {
    refuse(sprintf("positions from 1 to %d", size))
  }
  positions
}

# An index that is a value: i32 positions counted from 0, those outside moved inside, and which lie inside.
moving_positions <- function(index, size, place, call) {
  left_out <- negated(check_moving(index, place, call))
  if (is.null(left_out)) counted_positions(index, size, place, call) else all_but(left_out, size, place, call)
}

# The same where a negative number is no position, but leaves nothing out
counted_positions <- function(index, size, place, call) {
  index <- check_moving(index, place, call)
  limits <- list(compared(index, 1, "GE", "`[`"), compared(index, size + 1, "LT", "`[`"))
  inside <- bind("and", limits, "pred", index@shape)
  at <- converted(selected(inside, index, filled(1, index)), "i32")
  list(at = bind("subtract", list(at, filled(1L, at)), "i32", at@shape), inside = inside)
}

# What `index` is minus of, as far as the program shows it; NULL where it does not.
negated <- function(index) {
  node <- resolved(index)@node
  while (node$op %in% c("reshape", "convert")) {
    node <- resolved(node$inputs[[1L]])@node
  }
  if (node$op == "negate") node$inputs[[1L]]
}

# All positions but one
all_but <- function(index, size, place, call) {
  if (length(index) != 1L) {
    abort(
      sprintf("index %d leaves out positions that are values: how many are left is not known", place),
      operand = "...", hint = "One position can be left out.", call = call
    )
  }
  one <- counted_positions(reshaped(index, integer()), size, place, call)
  count <- max(size - 1L, 0L)
  at <- hlo_iota("i32", count)
  after <- converted(compared(at, repeated(one$at, count), "GE", "`[`"), "i32")
  list(at = bind("add", list(at, after), "i32", count), inside = repeated(one$inside, count))
}

# In a dtype that can hold all positions
check_moving <- function(index, place, call) {
  if (index@dtype == "pred") {
    abort(
      sprintf("index %d is a logical value: how many elements it takes is known only when the program runs", place),
      operand = "...", call = call, hint = paste(
        "`ifelse()` keeps the shape, `sum(x * condition)` and the like leave elements out,",
        "`x[condition] <- 0` replaces them."
      ), unknown = TRUE
    )
  }
  if (!is_integer(index@dtype) && !is_float(index@dtype)) {
    abort(sprintf("index %d must be positions, not %s", place, type_text(index)), operand = "...", call = call)
  }
  wide <- switch(index@dtype,
    i8 = ,
    ui8 = ,
    i16 = ,
    ui16 = "i32",
    ui32 = "i64",
    f16 = ,
    bf16 = "f32",
    index@dtype
  )
  converted(index, wide)
}

# Rows of a matrix as positions in R's order of elements, where each column is an index; NULL where `index` is none.
matrix_positions <- function(index, dim, call) {
  if (!is_index_matrix(index, dim)) {
    return(NULL)
  }
  refuse <- function(text) {
    abort(sprintf("an index that is a matrix must have %s in column %d", text, column), operand = "...", call = call)
  }
  index <- trunc(index)
  index <- index[!rowSums(index == 0, na.rm = TRUE), , drop = FALSE]
  for (column in seq_along(dim)) {
    here <- index[, column]
    if (any(here < 0 | here > dim[[column]], na.rm = TRUE)) {
      refuse(sprintf("positions from 1 to %d", dim[[column]]))
    }
  }
  drop((index - 1) %*% cumprod(c(1, dim[-length(dim)]))) + 1
}

is_index_matrix <- function(index, dim) {
  shape <- if (is_value(index)) index@shape else if (is.numeric(index)) base::dim(index)
  length(dim) > 1L && length(shape) == 2L && shape[[2L]] == length(dim)
}

# In messages about what has no NA
kind_of_exact <- function(dtype) if (dtype == "pred") "logical" else "integer"

# Positions in R's order of elements as such by rows, both counted from 0.
by_row_positions <- function(at, dim) {
  whole <- function(op, x, by) bind(op, list(x, filled(by, x)), "i32", x@shape)
  before <- cumprod(c(1, dim))
  after <- rev(cumprod(c(1, rev(dim))))[-1L]
  parts <- lapply(seq_along(dim), function(axis) {
    whole("multiply", whole("remainder", whole("divide", at, before[[axis]]), dim[[axis]]), after[[axis]])
  })
  Reduce(function(x, y) bind("add", list(x, y), "i32", x@shape), parts)
}
