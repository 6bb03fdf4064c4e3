# Derivatives of gather and scatter: all are linear in operand and updates.

primitive("gather",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    p <- node$params
    zero <- filled(0, node$inputs[[1L]])
    list(scattered("add", zero, node$inputs[[2L]], cotangents[[1L]], p$axis, p$batch), NULL)
  }
)

primitive(c("scatter_add", "scatter_set"), jvp = same_on_tangents(c(1L, 3L)))

primitive("scatter_add", transpose = function(node, cotangents, linear) {
  list(if (linear[[1L]]) cotangents[[1L]], NULL, if (linear[[3L]]) updates_cotangent(node, cotangents[[1L]]))
})

primitive("scatter_set", transpose = function(node, cotangents, linear) {
  p <- node$params
  given <- cotangents[[1L]]
  updates <- node$inputs[[3L]]
  list(
    if (linear[[1L]]) scattered("set", given, node$inputs[[2L]], filled(0, updates), p$axis, p$batch, p$within),
    NULL,
    if (linear[[3L]]) updates_cotangent(node, given)
  )
})

# What is left out gets nothing.
updates_cotangent <- function(node, given) {
  p <- node$params
  at <- node$inputs[[2L]]
  if (p$within) {
    return(gathered(given, at, p$axis, p$batch))
  }
  inside <- at >= 0L & at < given@shape[[p$axis]]
  found <- gathered(given, selected(inside, at, filled(0L, at)), p$axis, p$batch)
  selected(broadcast(inside, found@shape, c(seq_len(p$batch), p$axis)), found, filled(0, found))
}
