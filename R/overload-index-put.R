# Putting elements in their places, along the axes one after another.

# What stands at `places`, one per axis: NULL for all, fixed positions, or moving ones.
put_part <- function(x, places, value) {
  axes <- which(!vapply(places, is.null, NA))
  if (!length(axes)) {
    return(value)
  }
  if (all(vapply(places[axes], is_window, NA))) {
    return(put_window(x, places, axes, value))
  }
  axis <- axes[[1L]]
  place <- places[[axis]]
  rest <- replace(places, axis, list(NULL))
  if (length(axes) > 1L) {
    here <- if (is.list(place)) moving_taken(x, list(place), axis) else taken(x, place, axis)
    value <- put_part(here, rest, value)
  }
  if (is.list(place)) put_moving(x, place, value, axis) else put(x, place, value, axis)
}

is_window <- function(place) if (is.list(place)) length(place$at) == 1L else all(diff(place) == 1)

put_window <- function(x, places, axes, value) {
  starts <- rep(list(constant(0L, "i32", integer(), "index")), length(x@shape))
  for (axis in axes) {
    place <- places[[axis]]
    starts[[axis]] <- if (is.list(place)) {
      reshaped(place$at, integer())
    } else {
      constant(as.integer(place[[1L]] - 1), "i32", integer(), "index")
    }
  }
  for (place in Filter(is.list, places[axes])) {
    inside <- broadcast(reshaped(place$inside, integer()), value@shape, integer())
    value <- selected(inside, value, dynamic_sliced(x, starts, value@shape))
  }
  dynamic_updated(x, value, starts)
}

# Of positions that come several times the last one counts.
put <- function(x, positions, value, axis) {
  last <- !duplicated(positions, fromLast = TRUE)
  if (!all(last)) {
    value <- taken(value, which(last), axis)
    positions <- positions[last]
  }
  if (is_window(positions)) {
    places <- replace(vector("list", length(x@shape)), axis, list(positions))
    return(if (length(positions) == x@shape[[axis]]) value else put_window(x, places, axis, value))
  }
  at <- constant(as.integer(positions - 1), "i32", length(positions), "index")
  scattered("set", x, at, value, axis)
}

# Positions that are values may come several times: which update is the last one for each element is found first.
put_moving <- function(x, place, value, axis) {
  count <- length(place$at)
  if (count == 1L) {
    return(put_window(x, replace(vector("list", length(x@shape)), axis, list(place)), axis, value))
  }
  size <- x@shape[[axis]]
  at <- selected(place$inside, place$at, filled(-1L, place$at))
  none <- constant(-1L, "i32", size, "index")
  last <- scattered("max", none, at, hlo_iota("i32", count), 1L, within = FALSE)
  hit <- compared(last, 0L, "GE", "`[<-`")
  new <- gathered(value, selected(hit, last, filled(0L, last)), axis)
  selected(broadcast(hit, x@shape, axis), new, x)
}
