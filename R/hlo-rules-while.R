# A loop with derivatives carries the tangents too. Reverse mode would have to know how many turns
# there are, so there is no transpose.

primitive("while", jvp = function(node, tangents) {
  # The second loop would make the calls behind the tokens again.
  if (any_token(node$types)) {
    no_rule(node, "jvp", "carries tokens, so it has no derivatives")
  }
  p <- node$params
  count <- length(node$types)
  carried <- seq_len(count)
  moving <- which(vapply(node$types, function(type) is_inexact(type@dtype), NA))
  captured <- node$inputs[-carried]
  start <- c(node$inputs[carried], Map(or_zero, tangents[moving], node$inputs[moving]))
  turn <- function(leaves) {
    values <- leaves[carried]
    now <- vector("list", count)
    now[moving] <- leaves[-carried]
    results <- differentiated(function() p$body(values))
    changes <- push_tangents(results, c(values, captured), c(now, tangents[-carried]))
    c(results, Map(or_zero, changes[moving], results[moving]))
  }
  out <- while_loop(function(leaves) p$cond(leaves[carried]), turn, start, silent = TRUE)
  changes <- vector("list", count)
  changes[moving] <- out[-carried]
  changes
})

# The loop with other values in place of what it takes from outside
primitive("while", again = function(node, inputs) {
  carried <- seq_along(node$types)
  region_with <- function(region) {
    function(leaves) replay_region(region, leaves, node$inputs[-carried], inputs[-carried])
  }
  while_loop(region_with(node$params$regions[[1L]]), region_with(node$params$regions[[2L]]), inputs[carried])
})
