# Snapshots have conditions as testthat 3.1 of Debian 12 writes them, with their class and without their call. A newer
# one is made to do so.
if (utils::packageVersion("testthat") >= "3.2") local({
  internal <- function(name) utils::getFromNamespace(name, "testthat")
  written <- function(x, state, ..., transform = NULL) {
    kind <- Find(function(kind) inherits(x, tolower(kind)), c("Error", "Warning", "Message"), nomatch = "Condition")
    if (kind == "Error") state$error <- x
    # R's own errors are made into such by a newer rlang.
    first <- if (class(x)[[1]] == "rlang_error") "simpleError" else class(x)[[1]]
    header <- sprintf("%s <%s>", kind, first)
    c(internal("snap_header")(state, header), internal("snapshot_lines")(rlang::cnd_message(x), transform))
  }
  unlockBinding("snapshot_replay.condition", asNamespace("testthat"))
  assign("snapshot_replay.condition", written, asNamespace("testthat"))
})
