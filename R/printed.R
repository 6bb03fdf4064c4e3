# The op print_tensor writes from XLA's threads; its text waits in a queue until R's own thread
# shows it. cat() is R's, so that capture.output(), sink() and knitr see the text. In a forked child
# there is no text but a failure: what waited is the parent's to show.
print_waiting <- function() {
  text <- .Call(wrap__printed)
  if (is.character(text)) {
    cat(text, sep = "")
  }
  invisible()
}

# Calls that other hosts (pjrt) make do not pass through here: show their text before the prompt.
print_waiting_at_prompt <- function(...) {
  print_waiting()
  TRUE
}
