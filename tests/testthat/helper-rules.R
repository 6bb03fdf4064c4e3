# Which rules of which primitives `run()` calls, as "primitive rule".
rules_reached <- function(run) {
  table <- xlaffi:::primitives
  before <- as.list(table)
  withr::defer(for (name in names(before)) table[[name]] <- before[[name]])
  seen <- new.env()
  noted <- function(f, key) {
    force(f)
    function(...) {
      seen[[key]] <- TRUE
      f(...)
    }
  }
  for (name in names(before)) {
    table[[name]] <- Map(noted, before[[name]], paste(name, names(before[[name]])))
  }
  run()
  names(seen)
}

# All rules of the table but those of the primitives `except`
all_rules <- function(except) {
  table <- as.list(xlaffi:::primitives)
  rules <- lapply(table[setdiff(names(table), except)], names)
  paste(rep(names(rules), lengths(rules)), unlist(rules))
}

# What makes programs of several devices and their parts
rules_of_devices <- c(xlaffi:::collectives, "axis_index", "shard_map", "sharding_constraint")
