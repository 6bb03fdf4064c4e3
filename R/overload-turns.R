# Long loops of R's, traced ahead. A `for` loop of R's is traced turn by turn, which takes a millisecond or more for
# each; rows of equal turns are found in the graph afterwards (jit-loops.R). Where the code of the turns tells what they
# do (overload-turns-code.R), the turns between the third one and the last are traced once, as a loop of the program.
# The numbers of R that they use are computed first, turn by turn; a turn in which they are not as in those before it,
# or `if` decides otherwise, is traced as always, and so is a loop with any other code.

# In which turn that is tried first, how many turns there must be, and how often it is tried in a loop
turns_before <- 3L
least_ahead <- 48L
most_tries <- 4L

# Notes that a loop of the user's begins, whose code of a turn is `body`: what it goes through.
note_loop <- function(id, variable, body, elements, frame) {
  trace_state$loops <- Filter(function(loop) loop$id != id || !identical(loop$frame, frame), trace_state$loops)
  plain <- !is.object(elements) && (is.numeric(elements) || is.list(elements))
  if (!plain || length(elements) < least_ahead + turns_before || !is.null(trace_state$mesh)) {
    return(invisible())
  }
  loop <- list2env(list(
    id = id, variable = variable, body = body, elements = elements, frame = frame, turn = 0L, done = 0L,
    next_try = turns_before, tries = 0L
  ), parent = emptyenv())
  trace_state$loops <- c(trace_state$loops, loop)
}

# A turn begins: TRUE if it has been traced ahead. Loops within it have ended.
begin_turn <- function(id = NULL) {
  note_turn()
  if (is.null(id)) {
    return(FALSE)
  }
  loops <- trace_state$loops
  count <- length(loops)
  if (!count) {
    return(FALSE)
  }
  frame <- parent.frame()
  at <- count
  while (at > 0L && !(loops[[at]]$id == id && identical(loops[[at]]$frame, frame))) at <- at - 1L
  if (at == 0L) {
    return(FALSE)
  }
  if (at < count) trace_state$loops <- loops[seq_len(at)]
  loop <- loops[[at]]
  loop$turn <- loop$turn + 1L
  if (loop$turn == loop$next_try && length(loop$elements) - loop$turn >= least_ahead && loop$tries < most_tries) {
    loop$tries <- loop$tries + 1L
    # Whatever is not known of the turns is traced, with R's own errors and warnings.
    stay <- function(condition) FALSE
    for (sums in if (trace_state$ordered) FALSE else c(TRUE, FALSE)) {
      if (loop$done < loop$turn) tryCatch(trace_ahead(loop, sums), xlaffi_error = stay, error = stay, warning = stay)
    }
    loop$next_try <- max(loop$done, loop$turn) + turns_before
  }
  loop$turn <= loop$done
}

# Traces turns from this one on as a loop of the program, and sets all variables to what they are after these.
trace_ahead <- function(loop, sums) {
  frame <- loop$frame
  turns <- seq.int(loop$turn, length(loop$elements))
  split <- split_turn(loop$body, loop$variable, loop$elements[[loop$turn]], frame, sums)
  known <- numbers_of_turns(split, loop, turns)
  count <- length(known$leaves)
  # The last turn sets what is only used within turns.
  whole <- count == length(turns)
  if (whole) count <- count - 1L
  if (count < least_ahead) {
    return(invisible())
  }
  plan <- plan_ahead(split, known$leaves[seq_len(count)], if (!whole) split$assigned, frame)
  found <- traced_turns(plan, count, frame)
  # All is known before any variable changes.
  after <- c(found$carry$variables, known$before[[count + 1L]])
  for (array in plan$arrays) after[[array$name]] <- with_parts_put(array, found$y$put[[array$name]], frame)
  for (one in plan$added) {
    now <- if (is.null(after[[one$name]])) get(one$name, envir = frame) else after[[one$name]]
    after[[one$name]] <- now + hlo_sum(found$y$added[[one$symbol]], 1L)
  }
  list2env(after, frame)
  loop$done <- loop$turn + count - 1L
}

# The loop as it is traced: the code of a turn (`values`), its stacks (`xs`), what is carried at the `start`, the
# `arrays` and what is `added`. `others` are variables that are carried, too.
plan_ahead <- function(split, known, others, frame) {
  symbols <- vapply(split$leaves, function(leaf) leaf$symbol, "")
  places <- function(symbol) {
    all <- lapply(known, function(turn) turn[[match(symbol, symbols)]])
    if (all(lengths(all) == 1L)) as.integer(unlist(all))
  }
  by_place <- arrays_of_turns(split, places, frame)
  arrays <- by_place$arrays
  names <- vapply(arrays, function(array) array$name, "")
  variables <- mget(setdiff(union(split$taken, others), names), envir = frame)
  check_plain(variables)
  values <- split$values
  for (array in arrays) {
    at <- array$write$statement
    values[[at]] <- call("<-", put_symbol(array$name), values[[at]][[3L]])
  }
  reads <- by_place$reads
  values <- as.call(c(as.name("{"), values))
  instead <- stats::setNames(lapply(reads, function(read) read$code), vapply(reads, function(read) read$symbol, ""))
  stacks <- list()
  for (read in Filter(function(read) !is.null(read$window), reads)) {
    instead[[read$symbol]] <- as.name(read$symbol)
    stacks[[read$symbol]] <- windows_at(read$window$window, read$window$place, list(read$window$from), frame)
  }
  values <- do.call(substitute, list(values, instead))
  for (i in which(symbols %in% all.names(values))) {
    stacks[[symbols[[i]]]] <- stack_of_leaf(split$leaves, i, known, frame)
  }
  lags <- unlist(lapply(arrays, function(array) {
    symbols <- lapply(seq_len(array$lag), function(back) lag_symbol(array$name, back))
    stats::setNames(array$start, vapply(symbols, as.character, ""))
  }))
  list(
    values = values, xs = stacks, start = list(variables = variables, lags = as.list(lags)), arrays = arrays,
    added = split$added
  )
}

# What all turns give: what is carried behind them, and stacks of what they put into arrays or add.
traced_turns <- function(plan, count, frame) {
  before <- lapply(plan$added, function(one) get(one$name, envir = frame))
  turn <- function(carry, x) {
    env <- list2env(c(carry$variables, carry$lags, x), parent = frame)
    eval(plan$values, env)
    lags <- carry$lags
    put <- list()
    for (array in plan$arrays) {
      put[[array$name]] <- now <- as_alike(get(as.character(put_symbol(array$name)), envir = env), array$like)
      for (back in rev(seq_len(array$lag))) {
        to <- as.character(lag_symbol(array$name, back))
        lags[[to]] <- if (back == 1L) now else lags[[as.character(lag_symbol(array$name, back - 1L))]]
      }
    }
    added <- Map(function(one, like) as_alike(get(one$symbol, envir = env), like), plan$added, before)
    names(added) <- vapply(plan$added, function(one) one$symbol, "")
    list(list(variables = mget(names(carry$variables), envir = env), lags = lags), list(put = put, added = added))
  }
  nothing <- !length(unlist(plan$start)) && length(plan$xs)
  found <- if (nothing) {
    # Turns that take nothing of one another are computed side by side.
    tryCatch(turns_side_by_side(function(x) turn(plan$start, x)[[2L]], plan$xs, count), error = function(e) NULL)
  }
  if (!is.null(found)) {
    return(list(carry = plan$start, y = found))
  }
  if (length(plan$xs)) {
    hlo_scan(turn, plan$start, plan$xs)
  } else {
    hlo_scan(function(carry) turn(carry, NULL), plan$start, length = count)
  }
}

turns_side_by_side <- function(f, xs, count) {
  tree <- NULL
  batch <- batch_leaves(function(x) {
    tree <<- f(tree_fill(xs, x))
    tree_leaves(tree)
  }, tree_leaves(xs), rep(TRUE, length(xs)), count)
  tree_fill(tree, all_in_front(batch$values, batch$mapped, count))
}

# What the leaves are in the turns, up to one that is not as the first; and `before` each turn and after the last one,
# what the variables are that numbers are given to.
numbers_of_turns <- function(split, loop, turns) {
  scratch <- new.env(parent = loop$frame)
  before <- list(mget(split$counted, envir = scratch, inherits = TRUE))
  leaves <- list()
  like <- NULL
  for (turn in turns) {
    assign(loop$variable, loop$elements[[turn]], scratch)
    now <- tryCatch(eval(split$numbers, scratch), error = function(e) NULL, warning = function(e) NULL)
    if (is.null(now)) break
    kinds <- lapply(now, kind_of_leaf)
    if (is.null(like)) like <- kinds
    if (!identical(kinds, like) || any(vapply(kinds, is.null, NA)) || !are_inside(now, split$leaves)) break
    leaves[[length(leaves) + 1L]] <- now
    before[[length(before) + 1L]] <- mget(split$counted, envir = scratch, inherits = TRUE)
  }
  list(leaves = leaves, before = before)
}

# The type and the extents of numbers of R; NULL for what is none
kind_of_leaf <- function(x) {
  if (is.null(x)) {
    return(list())
  }
  fine <- is.null(attributes(x)) || identical(names(attributes(x)), "dim")
  if (fine && (is.numeric(x) || is.logical(x)) && length(x) && !(anyNA(x) && !is.double(x))) {
    list(if (is.logical(x)) "logical" else "numeric", if (is.null(dim(x))) length(x) else dim(x))
  }
}

# Whether places are within their arrays
are_inside <- function(now, leaves) {
  all(vapply(seq_along(now), function(i) {
    is.null(leaves[[i]]$at) || (is.numeric(now[[i]]) && !anyNA(now[[i]]) && all(now[[i]] >= 1) &&
      all(now[[i]] == trunc(now[[i]])) && (is.null(leaves[[i]]$size) || all(now[[i]] <= leaves[[i]]$size)))
  }, NA))
}

# A value with one row for each turn: the numbers, or the windows at these places.
stack_of_leaf <- function(leaves, i, known, frame) {
  leaf <- leaves[[i]]
  if (!is.null(leaf$window)) {
    places <- lapply(match(leaf$from, vapply(leaves, function(leaf) leaf$symbol, "")), function(j) {
      lapply(known, function(turn) turn[[j]])
    })
    return(windows_at(leaf$window, leaf$from, places, frame))
  }
  numbers <- lapply(known, function(turn) turn[[i]])
  all <- unlist(numbers)
  if (!is.null(leaf$at)) {
    if (length(all) != length(known)) no_split()
    return(as_value(as.integer(all), "x"))
  }
  if (!is.logical(all)) all <- as.double(all)
  first <- numbers[[1L]]
  sizes <- if (is.null(dim(first))) if (length(first) > 1L) length(first) else integer() else dim(first)
  if (length(sizes)) all <- aperm(array(all, c(sizes, length(known))), c(length(sizes) + 1L, seq_along(sizes)))
  as_value(all, "x")
}

# The windows of an array that `code` takes, in whose indices the `symbols` stand for `places`: for each of these one,
# or several, for each turn
windows_at <- function(code, symbols, places, frame) {
  array <- labelled(eval(code[[2L]], frame), NULL)
  if ("drop" %in% names(code)) no_split()
  given <- as.list(code)[-(1:2)]
  moving <- match(lapply(symbols, as.name), given)
  turns <- length(places[[1L]])
  ones <- all(lengths(unlist(lapply(places, as.list), recursive = FALSE)) == 1L)
  all <- lapply(places, unlist)
  check_inside <- function(at, size) if (any(at > size)) no_split()
  if (length(given) == 1L) {
    check_inside(all[[1L]], length(array))
    found <- array[all[[1L]]]
    return(if (ones) found else reshaped(found, c(turns, length(all[[1L]]) %/% turns)))
  }
  if (!ones || length(given) != length(array@shape)) no_split()
  Map(check_inside, all, array@shape[moving])
  if (length(all) == length(given)) {
    return(array[do.call(cbind, all)])
  }
  if (length(all) > 1L) no_split()
  code[[2L]] <- array
  code[[moving + 2L]] <- all[[1L]]
  code$drop <- FALSE
  found <- eval(code, frame)
  rest <- seq_along(found@shape)[-moving]
  sizes <- found@shape[rest]
  reshaped(transposed(found, c(moving, rest)), c(turns, sizes[sizes != 1L]))
}
