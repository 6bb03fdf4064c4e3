# Which elements of the parameters are what: the optimiser's vector, random effects, or fixed.

# `start` and `effects` are the vectors of both, with names; `fixed` are numbers. `at` says for each element of the
# parameters, in a row, which one of c(start, effects, fixed) it is; it is NULL where all are the optimiser's.
new_layout <- function(template, random, map, call) {
  all <- template_vector(template)
  parts <- part_of_each(template)
  is_random <- parts %in% check_part_names(random, template, "random", call)
  levels <- mapped_levels(template, map, parts, call)
  fixed <- is.na(levels)
  own <- !fixed & !is_random
  effects <- !fixed & is_random
  if (!any(own)) {
    abort("no parameters are left for the optimiser", operand = if (any(is_random)) "random" else "map", call = call)
  }
  if (length(random) && !any(effects)) {
    if (!any(is_random)) abort("the parts that `random` names have no elements", operand = "random", call = call)
    abort("`map` fixes all random effects", operand = "map", call = call)
  }
  first <- function(chosen) which(chosen)[!duplicated(levels[chosen])]
  starts <- first(own)
  random_starts <- first(effects)
  at <- integer(length(all))
  at[own] <- match(levels[own], levels[starts])
  at[effects] <- length(starts) + match(levels[effects], levels[random_starts])
  at[fixed] <- length(starts) + length(random_starts) + seq_len(sum(fixed))
  list(
    start = all[starts], effects = all[random_starts], fixed = unname(all[fixed]),
    at = if (!identical(at, seq_along(all)) || any(effects | fixed)) at, sizes = lengths(tree_leaves(template))
  )
}

# The name of the part of the template that each element belongs to
part_of_each <- function(template) {
  if (!is_branch(template)) {
    return(rep("", length(template)))
  }
  counts <- vapply(template, function(part) sum(lengths(tree_leaves(part))), 0)
  rep(names2(template), counts)
}

check_part_names <- function(names, template, what, call) {
  if (is.null(names)) {
    return(character())
  }
  known <- if (is_branch(template)) setdiff(names2(template), "") else character()
  if (!is.character(names) || anyNA(names) || anyDuplicated(names) || !all(names %in% known)) {
    shown <- if (is.character(names)) toString(names) else describe(names)
    parts <- toString(known)
    hint <- if (nzchar(parts)) sprintf("The parts are: %s.", parts) else "`par` must be a list of named parts."
    abort(sprintf("`%s` must name parts of `par`, not %s", what, shown), operand = what, hint = hint, call = call)
  }
  names
}

# What elements share, as numbers: NA for those that are fixed.
mapped_levels <- function(template, map, parts, call) {
  levels <- seq_along(parts)
  if (is.null(map)) {
    return(levels)
  }
  if (!is.list(map)) {
    abort(sprintf("`map` must be a list of factors, not %s", describe(map)), operand = "map", call = call)
  }
  check_part_names(names2(map), template, "map", call)
  for (name in names(map)) {
    here <- which(parts == name)
    own <- part_levels(map[[name]], template[[name]], paste0("map$", name), call)
    # The number of the first element that shares a level
    levels[here] <- here[match(own, own)]
    levels[here[is.na(own)]] <- NA
  }
  levels
}

# The same for the elements of one part, whose `own` entry in the map is a factor, NA, or a list of both for its parts
part_levels <- function(own, part, shown, call) {
  size <- sum(lengths(tree_leaves(part)))
  if (is_branch(own)) {
    return(branch_levels(own, part, shown, call))
  }
  # TRUE and a lone number look as if they said which parameters are fixed, or at what.
  unclear <- is.atomic(own) && !is.factor(own) && !all(is.na(own)) && (is.logical(own) || length(own) == 1L)
  if (unclear) {
    abort(sprintf("`%s` must be a factor, or NA, not %s", shown, describe(own)), operand = "map", call = call,
      hint = "NA keeps a part as `par` has it; elements of one level are one parameter."
    )
  }
  if (is.atomic(own) && !is.null(names(own))) own <- levels_by_name(own, part, shown, call)
  if (length(own) == 1L && is.atomic(own) && is.na(own)) own <- rep(NA, size)
  if (!is.atomic(own) || length(own) != size) {
    abort(sprintf("`%s` must have %d elements, as the part has, or be NA, not %s", shown, size, describe(own)),
      operand = "map", call = call
    )
  }
  as.integer(factor(own))
}

# Each part of parts by its name, or all of them in a row; those that are not named stay as they are.
branch_levels <- function(own, part, shown, call) {
  names <- names2(own)
  known <- if (is_branch(part)) names2(part)
  if (!any(nzchar(names)) && length(own) == length(known) && !any(nzchar(known))) {
    names <- known <- as.character(seq_along(own))
  }
  if (!is_branch(part) || anyDuplicated(names) || !all(nzchar(names) & names %in% known)) {
    abort(sprintf("`%s` must be %s, not %s", shown,
      if (is_branch(part)) "a list with names of parts, or a factor" else "a factor, or NA",
      if (any(nzchar(names))) sprintf("a list of %s", toString(names)) else describe(own)
    ),
    operand = "map", call = call,
    hint = if (any(nzchar(known))) sprintf("The parts are: %s.", toString(known[nzchar(known)]))
    )
  }
  before <- 0L
  levels <- Map(function(part, name) {
    place <- match(name, names)
    levels <- if (is.na(place)) {
      seq_len(sum(lengths(tree_leaves(part))))
    } else {
      part_levels(own[[place]], part, paste(shown, name, sep = "$"), call)
    }
    levels <- levels + before
    before <<- before + length(levels)
    levels
  }, unname(part), known)
  unlist(levels)
}

# A factor with names is for the elements of a vector with these names; the others stay as they are.
levels_by_name <- function(own, part, shown, call) {
  known <- if (!is_branch(part)) names(part)
  if (anyDuplicated(names(own)) || !all(names(own) %in% known)) {
    abort(sprintf("`%s` has the names %s, which the part's elements do not have", shown, toString(names(own))),
      operand = "map", call = call,
      hint = if (!is.null(known)) sprintf("They are: %s.", toString(known))
    )
  }
  whole <- paste0(" ", seq_along(part))
  whole[match(names(own), known)] <- as.character(own)
  whole
}

# All parameters in a row, as numbers; of values a list of those of each leaf of the template, or one for all. What is
# made of one kind of parameters does not depend on the others.
whole_parameters <- function(layout, theta, effects = NULL) {
  if (is.null(layout$at)) {
    return(theta)
  }
  if (!is_value(theta)) {
    return(c(theta, effects, layout$fixed)[layout$at])
  }
  fixed <- if (length(layout$fixed)) constant(layout$fixed, theta@dtype, length(layout$fixed), "par")
  sources <- Filter(Negate(is.null), list(theta, effects, fixed))
  before <- cumsum(c(0L, vapply(sources, length, 0L)))
  Map(function(end, size) {
    at <- layout$at[end - size + seq_len(size)]
    from <- unique(findInterval(at, before, left.open = TRUE))
    if (length(from) > 1L) {
      return(taken(joined(sources), at, 1L))
    }
    from <- c(from, 1L)[[1L]]
    taken(sources[[from]], at - before[[from]], 1L)
  }, cumsum(layout$sizes), layout$sizes)
}

# The optimiser's vector of all parameters in a row
own_parameters <- function(layout, all) {
  size <- seq_along(layout$start)
  chosen <- if (is.null(layout$at)) all else all[match(size, layout$at)]
  stats::setNames(unname(chosen), names(layout$start))
}
