# The op print_tensor writes from XLA's threads; its text waits in a queue until R's own thread
# shows it, a slice at a time. cat() is R's, so that capture.output(), sink() and knitr see the text. In
# a forked child there is no text but a failure: what waited is the parent's to show.
print_waiting <- function() {
  while (is.character(text <- .Call(wrap__printed))) {
    cat(text, sep = "")
  }
  invisible()
}

# Calls that other hosts (pjrt) make do not pass through here. What they print on threads of XLA is
# shown before the prompt.
print_waiting_at_prompt <- function(...) {
  print_waiting()
  TRUE
}
