# Arrays into which each turn of a loop puts one part (overload-turns.R), `x[i] <- value` or `x[i, ] <- values`. They
# are not carried from turn to turn: the turns give their parts, and these are put into the array behind the loop. A
# part that a turn reads is that of a turn some turns before, which is carried; or it was there before the loop.

# How many turns before
most_lag <- 8L

# Of each such array its `name`, the `write`, the places `at` by turns, and the `lag` up to which parts are carried,
# with those at the `start`; and of each of the `reads` of all arrays what stands for it: code, or the windows that are
# stacked.
arrays_of_turns <- function(split, places, frame) {
  names <- vapply(split$writes, function(write) write$name, "")
  once <- setdiff(names[!names %in% names[duplicated(names)]], split$whole)
  arrays <- list()
  reads <- lapply(split$reads, function(read) list(symbol = read$symbol, code = read$code))
  for (write in split$writes[names %in% once]) {
    mine <- which(vapply(split$reads, function(read) read$name == write$name, NA))
    array <- array_of_turns(write, split$reads[mine], places, frame)
    if (!is.null(array)) {
      reads[mine] <- array$reads
      arrays <- c(arrays, list(array[c("name", "write", "at", "lag", "start", "like")]))
    }
  }
  list(arrays = arrays, reads = reads)
}

array_of_turns <- function(write, reads, places, frame) {
  at <- places(write$at)
  if (is.null(at) || anyDuplicated(at)) {
    return()
  }
  form <- with_place(write$code, write$at, quote(place))
  lag <- 0L
  found <- list()
  start <- list()
  for (read in reads) {
    from <- places(read$at)
    if (is.null(from) || !identical(with_place(read$code, read$at, quote(place)), form)) {
      return()
    }
    back <- turns_back(from, at, read$late)
    if (is.null(back)) {
      return()
    }
    lag <- max(lag, back)
    symbol <- if (back == 0L) put_symbol(write$name) else if (back > 0L) lag_symbol(write$name, back)
    window <- if (back < 0L) list(window = with_place(write$code, write$at, read$at), place = read$at, from = from)
    found <- c(found, list(list(symbol = read$symbol, code = symbol, window = window)))
    # Of the first turns what they read is what is carried to them.
    for (turn in seq_len(max(back, 0L))) start[[back - turn + 1L]] <- from[[turn]]
  }
  if (any(lengths(start) != 1L)) {
    return()
  }
  part_at <- function(place) eval(with_place(write$code, write$at, place), frame)
  list(
    name = write$name, write = write, at = at, lag = lag, start = lapply(start, part_at), like = part_at(at[[1L]]),
    reads = found
  )
}

# How many turns before each turn the place that it reads was put there: 0 for the turn itself; -1 where it was there
# before all turns; NULL where that differs.
turns_back <- function(from, at, late) {
  if (late && all(from == at)) {
    return(0L)
  }
  put <- match(from, at)
  before <- is.na(put) | put > seq_along(at) | (put == seq_along(at) & !late)
  if (all(before)) {
    return(-1L)
  }
  turns <- seq_along(at)
  for (back in seq_len(most_lag)) {
    if (all((turns - put == back & !before)[turns > back]) && all(before[turns <= back])) {
      return(back)
    }
  }
  NULL
}

with_place <- function(code, symbol, place) {
  do.call(substitute, list(code, stats::setNames(list(if (is.character(place)) as.name(place) else place), symbol)))
}

put_symbol <- function(name) as.name(paste0(".xlaffi_put_", name))

lag_symbol <- function(name, back) as.name(sprintf(".xlaffi_before_%d_%s", back, name))

# The array with the parts, rows of a stack, at their places
with_parts_put <- function(array, stack, frame) {
  target <- with_place(array$write$code, array$write$at, array$at)
  given <- as.list(array$write$code)[-(1:2)]
  moving <- match(list(as.name(array$write$at)), given)
  # The axes before that which a part has
  before <- sum(vapply(given[seq_len(moving - 1L)], function(index) {
    is_missing_arg(index) || length(eval(index, frame)) != 1L
  }, NA))
  rest <- seq_along(stack@shape)[-1L]
  env <- list2env(list(stack = transposed(stack, append(rest, 1L, before))), parent = frame)
  env[[array$name]] <- get(array$name, envir = frame)
  eval(call("<-", target, quote(stack)), env)
  env[[array$name]]
}
