# Changes of the state at known times, as deSolve's `events`: what they are, and in which order they come among the
# times of output.

# In deSolve's order, whose numbers stand for them too
event_methods <- c("replace", "add", "multiply")

# What `events` says: list(data = list(time, scale, shift), time_of_func, func, at_roots)
ode_events <- function(events, start, rootfunc, call) {
  refuse <- function(text, hint = NULL) {
    abort(paste0("hlo_ode: ", text), op = "hlo_ode", operand = "events", hint = hint, call = call)
  }
  if (is.null(events)) {
    return(NULL)
  }
  if (is.data.frame(events) || is.matrix(events)) events <- list(data = events)
  known <- c("data", "func", "time", "root")
  if (!is_branch(events) || !all(names2(events) %in% known) || anyDuplicated(names(events))) {
    given <- if (is_branch(events)) sprintf("of (%s)", toString(names2(events))) else describe(events)
    refuse(sprintf("`events` must be a list of some of %s, or a data frame, not %s", toString(known), given), paste(
      "As in deSolve: list(data = data.frame(var, time, value, method)), list(func = , time = ) or",
      "list(func = , root = TRUE)."
    ))
  }
  at_roots <- isTRUE(events$root)
  if (at_roots && is.null(rootfunc)) refuse("`events` has `root = TRUE`, but there is no `rootfunc`")
  if (!is.null(events$func) && !is.function(events$func)) {
    refuse(sprintf("`func` of `events` must be a function, not %s", describe(events$func)))
  }
  if (is.null(events$func) == (at_roots || !is.null(events$time))) {
    refuse("`func` of `events` comes with `time` or `root = TRUE`, and they with it")
  }
  if (!is.null(events$data) && !is.null(events$time)) refuse("`events` has both `data` and `time`")
  if (is.null(events$data) && is.null(events$func)) refuse("`events` has neither `data` nor `func`")
  list(
    data = if (!is.null(events$data)) event_data(events$data, start, refuse, call),
    time = if (!is.null(events$time)) event_numbers(events$time, "time", start, NULL, refuse, call),
    func = events$func, at_roots = at_roots
  )
}

event_numbers <- function(x, name, start, count, refuse, call) {
  if (is.logical(x) && anyNA(x)) refuse(sprintf("`%s` of `events` must be numbers, not logicals with NA", name))
  x <- converted(as_value(x, sprintf("events$%s", name), call = call, op = "hlo_ode"), start$dtype)
  if (length(x@shape) > 1L) refuse(sprintf("`%s` of `events` must be a vector, not %s", name, type_text(x)))
  if (!is.null(count) && !length(x) %in% c(1L, count)) {
    refuse(sprintf("`%s` of `events` has %d elements for %d events", name, length(x), count))
  }
  repeated(x, if (is.null(count)) as.integer(length(x)) else count)
}

# A table of changes as one of linear functions of the state: scale * y + shift, a row for each event.
event_data <- function(data, start, refuse, call) {
  columns <- c("var", "time", "value", "method")
  if (is.matrix(data) && is.numeric(data) && !is_value(data)) data <- as.data.frame(data)
  if (!is.list(data) || !all(columns[1:3] %in% names(data)) || !all(names2(data) %in% columns)) {
    given <- if (is.list(data) && length(names(data))) toString(names2(data)) else describe(data)
    refuse(sprintf("`data` of `events` must have the columns %s, not %s", toString(columns), given))
  }
  time <- event_numbers(data$time, "time", start, NULL, refuse, call)
  count <- as.integer(length(time))
  value <- event_numbers(data$value, "value", start, count, refuse, call)
  place <- event_places(data$var, start, count, refuse)
  method <- event_kinds(data$method, count, refuse)
  number <- function(x) constant(x, start$dtype, dim(x), "events")
  hit <- outer(place, seq_len(start$size), "==") * 1
  values <- broadcast(value, c(count, start$size), 1L)
  adds <- method == "add"
  multiplies <- method == "multiply"
  list(
    time = time,
    scale = number(1 - hit * !adds) + number(hit * multiplies) * values,
    shift = number(hit * !multiplies) * values
  )
}

event_kinds <- function(method, count, refuse) {
  if (is.null(method)) method <- "add"
  if (is.factor(method)) method <- as.character(method)
  kind <- if (is.character(method)) {
    charmatch(method, event_methods, 0L)
  } else if (is.numeric(method) && !is_value(method)) {
    match(method, seq_along(event_methods), 0L)
  } else {
    refuse(sprintf("`method` of `events` must be names or numbers, not %s", describe(method)))
  }
  unknown <- method[kind == 0L]
  if (length(unknown)) {
    refuse(sprintf("there is no method %s of events: %s, or 1, 2 and 3 for these", describe(unknown[[1L]]),
      toString(event_methods)
    ))
  }
  if (!length(method) %in% c(1L, count)) {
    refuse(sprintf("`method` of `events` has %d elements for %d events", length(method), count))
  }
  rep_len(event_methods[kind], count)
}

# Which elements of the state events change
event_places <- function(var, start, count, refuse) {
  if (is_value(var)) refuse("`var` of `events` must be known while the program is written")
  if (is.factor(var)) var <- as.character(var)
  place <- if (is.character(var)) {
    match(var, start$names, incomparables = "")
  } else if (is.numeric(var)) {
    match(var, seq_len(start$size))
  }
  if (!length(place) %in% c(1L, count) || anyNA(place)) {
    names <- start$names[nzchar(start$names)]
    numbers <- sprintf("from 1 to %d, count all elements of `y`.", start$size)
    refuse(sprintf("`var` of `events` must name elements of `y` or give their numbers, not %s", values_text(var)),
      if (!is.character(var)) {
        paste("Numbers,", numbers)
      } else if (length(names)) {
        sprintf("The names are: %s. Numbers, %s", toString(names), numbers)
      } else {
        paste("The elements have no names. Numbers,", numbers)
      }
    )
  }
  start$order[rep_len(place, count)]
}

# Items in order of time: outputs, and events behind the outputs of their time. An event outside of the times does not
# happen; it stands at the end. `rows`: the places of the outputs, NULL where there are no others.
ode_schedule <- function(times, events, size) {
  count <- length(times)
  end <- sliced(times, count, count)
  data <- events$data
  time <- if (is.null(data)) events$time else data$time
  if (is.null(time) || !length(time)) {
    return(list(items = list(time = times, stop = broadcast(reshaped(end, integer()), count, integer()))))
  }
  more <- as.integer(length(time))
  all <- count + more
  sign <- sign_of(reshaped(end - sliced(times, 1L, 1L), integer()))
  after <- function(x, y) (x - repeated(y, more)) * sign
  happens <- (after(time, sliced(times, 1L, 1L)) >= 0) & (after(time, end) < 0)
  time <- joined(list(times, hlo_select(happens, time, repeated(end, more))))
  order <- sorted_along(time * sign)[[2L]]
  inside <- function(x, before) gathered(joined(list(before, x)), order, 1L)
  event <- inside(converted(happens, "i32"), constant(0L, "i32", count, "events"))
  time <- gathered(time, order, 1L)
  if (is.null(data)) {
    # A function is called once for a time, however often it is given.
    again <- (sliced(time, 2L, all) == sliced(time, 1L, all - 1L)) & (sliced(event, 1L, all - 1L) == 1L)
    event <- event * joined(list(constant(1L, "i32", 1L, "events"), converted(!again, "i32")))
  }
  position <- hlo_iota("i32", all)
  following <- hlo_select(event == 1L, position, filled(all - 1L, position))
  stop <- gathered(time, cumulated("minimum", following, 1L, reverse = TRUE), 1L)
  items <- list(time = time, stop = stop, event = event == 1L)
  if (!is.null(data)) {
    same <- constant(1, times@dtype, c(count, size), "events")
    items$scale <- inside(data$scale, same)
    items$shift <- inside(data$shift, filled(0, same))
  }
  list(items = items, rows = sliced(sorted_along(order)[[2L]], 1L, count))
}
