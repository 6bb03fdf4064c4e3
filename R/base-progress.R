# A bar that shows how far something is, with a text behind it: `due()` says whether it is time to show it again, which
# is ten times a second, and not before it has taken two seconds; `set(done, text)` shows it, `end()` takes it away.
# Where `total` is NA there is the text alone.
new_bar <- function(name, total) {
  # cli evaluates the format in here, and must find `::`.
  env <- new.env(parent = baseenv())
  now <- function() proc.time()[["elapsed"]]
  next_time <- now() + getOption("cli.progress_show_after", 2)
  id <- NULL
  bar <- if (!is.na(total)) "{cli::pb_bar} {cli::pb_percent} "
  list(
    due = function() now() >= next_time,
    set = function(done, text) {
      next_time <<- now() + 0.1
      if (is.null(id)) {
        id <<- cli::cli_progress_bar(name,
          total = total, extra = list(text = text), .envir = env, .auto_close = FALSE, auto_terminate = FALSE,
          format = paste0("{cli::pb_name}", bar, "{cli::pb_extra$text}")
        )
      }
      cli::cli_progress_update(set = done, extra = list(text = text), id = id, force = TRUE, .envir = env)
    },
    end = function() {
      if (!is.null(id)) cli::cli_progress_done(id = id, .envir = env)
      id <<- NULL
    }
  )
}

shows_progress <- function() rlang::is_interactive() && !isFALSE(getOption("xlaffi.progress"))
