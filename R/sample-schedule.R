# The warm-up's schedule: Stan's windows (Stan Reference Manual, "Automatic parameter tuning").

init_buffer <- 75
term_buffer <- 50
base_window <- 25

# The flags of each draw of a warm-up: the step size adapts in all of them. Draws between the two buffers belong to
# windows of the metric, each twice as long as the one before; the last takes what is left.
warmup_flags <- function(warmup) {
  flags <- rep(flag_step, warmup)
  if (warmup >= 20) {
    first <- init_buffer
    last <- term_buffer
    width <- base_window
    if (first + width + last > warmup) {
      first <- trunc(0.15 * warmup)
      last <- trunc(0.1 * warmup)
      width <- warmup - first - last
    }
    ends <- window_ends(first, warmup - last, width)
    inside <- seq_len(warmup) > first & seq_len(warmup) <= warmup - last
    flags[inside] <- bitwOr(flags[inside], flag_collect)
    flags[ends] <- bitwOr(flags[ends], flag_window)
  }
  if (warmup) flags[[warmup]] <- bitwOr(flags[[warmup]], flag_final)
  flags
}

# The draws that end windows, between `first` and `last`
window_ends <- function(first, last, width) {
  ends <- numeric()
  end <- first
  while (end < last) {
    end <- end + width
    width <- 2 * width
    # One that leaves no room for the next is the last. (Stan lets the first one end all the same, so that of 151 draws
    # the second has a single one.)
    if (end + width > last) end <- last
    ends <- c(ends, end)
  }
  ends
}

# Flags of draws from number `from` on, counted from 1 behind the warm-up
draw_flags <- function(draws, thin, from = 0) {
  ifelse((from + seq_len(draws)) %% thin == 0, flag_keep, 0L)
}
