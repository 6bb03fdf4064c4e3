# Methods of S3 and S4 that code may use: those of generics that it names, and all of the classes of what it reads, as
# R's functions call generics that the code does not name.

group_generics <- c("Ops", "Math", "Summary", "Complex", "Arith", "Compare", "Logic", "Math2")

# S3 methods, and tables of S4 methods, for these generics
methods_in <- function(env, generics) {
  there <- ls(env, all.names = TRUE, sorted = FALSE)
  tables <- grep(s4_table, there, value = TRUE, fixed = TRUE)
  tables <- tables[sub("^[.]__T__(.*):.*$", "\\1", tables) %in% generics]
  dotted <- grep(".[.].", there, value = TRUE)
  starts <- paste0(generics, ".")
  c(tables, dotted[vapply(dotted, function(name) any(startsWith(name, starts)), NA)])
}

# The names of tables of S4 methods begin so.
s4_table <- ".__T__"

# Gives of names those of S3 methods for any of `classes`, and of tables of S4 methods if "S4" is one.
methods_for <- function(classes) {
  endings <- paste0(".", classes)
  tables <- "S4" %in% classes
  function(names) {
    found <- if (tables) startsWith(names, s4_table) else FALSE
    for (ending in endings) found <- found | endsWith(names, ending)
    names[found]
  }
}

# The classes of objects, and of those in lists, slots and attributes, "S4" for S4; none for this package's own.
classes_of <- function(x) {
  own <- if (isS4(x)) c(methods::is(x), "S4") else if (is.object(x)) class(x)
  is_own <- any(startsWith(as.character(own), "xlaffi_"))
  if (is_own || is.function(x) || is.language(x)) {
    return(if (!is_own) own)
  }
  parts <- c(attributes(x), if (is.list(x) && length(unclass(x)) <= most_fields) unclass(x))
  parts <- parts[vapply(parts, function(x) is.object(x) || is.list(x), NA)]
  unique(c(own, unlist(lapply(unname(parts), classes_of))))
}

# The classes that code gives to objects: in calls with an argument `class`, as of structure(), and by `class(x) <-`
classes_given <- function(code) {
  given <- lapply(calls_in(code), function(call) {
    target <- if (length(call) == 3L && list(call[[1L]]) %in% assignments) call[[2L]]
    of_class <- is.call(target) && list(target[[1L]]) %in% list(quote(class), quote(oldClass))
    strings_in(if (of_class) call[[3L]] else given_parts(call)["class"][[1L]])
  })
  unique(unlist(given))
}

assignments <- list(quote(`<-`), quote(`=`), quote(`<<-`))

# Methods for these classes, in groups as captured_variables() has them: functions, those of packages left out where
# methods are registered, and tables of S4 methods
methods_there <- function(classes, homes) {
  methods_of <- methods_for(classes)
  groups <- unlist(lapply(homes, function(home) {
    values <- present(methods_of(names(home)), home)
    is_table <- startsWith(names(values), s4_table)
    list(
      list(env = home, values = values[is_table], functions = FALSE),
      list(env = home, values = only_functions(values[!is_table]), functions = TRUE)
    )
  }), recursive = FALSE)
  registered <- lapply(registered_tables(), function(table) {
    values <- mget(methods_of(names(table)), table)
    list(env = table, values = values[vapply(values, is_session_function, NA)], functions = TRUE)
  })
  Filter(function(group) length(group$values), c(groups, registered))
}

is_session_function <- function(f) typeof(f) == "closure" && !in_package(topenv(environment(f)))

# Tables of S3 methods for generics of the session and of R's, which registerS3method() and packages fill. The session
# has one from the first method on.
registered_tables <- function() {
  tables <- lapply(homes_of_tables, .subset2, ".__S3MethodsTable__.")
  if (is.null(tables[[1L]])) tables[[1L]] <- emptyenv()
  tables
}

homes_of_tables <- list(globalenv(), baseenv(), asNamespace("stats"), asNamespace("utils"))

s3_table <- function(env) get0(".__S3MethodsTable__.", envir = env, inherits = FALSE)

# What a program is made of: variables, in groups as captured_variables() has them, and `reads`, groups with a function
# `read` and the `value` that it had (trace-session.R); and where on the search path R looks now, as attach() and
# detach() give names another meaning.
watched <- function(captured, reads) {
  classes <- unique(c(attr(captured, "classes"), classes_of(reads)))
  homes <- attr(captured, "homes")
  groups <- c(
    settled(captured), reads, method_tables(captured), attributes_of(captured),
    methods_to_come(intersect(classes, rs_classes), attr(captured, "generics"), homes),
    if (length(setdiff(classes, rs_classes))) later_methods(setdiff(classes, rs_classes), homes)
  )
  is_read <- vapply(groups, function(group) is.function(group$read), NA)
  list(variables = groups[!is_read], reads = groups[is_read], search = search_version())
}

# A method for another class is one more entry in a generic's table.
method_tables <- function(captured) {
  tables <- unlist(lapply(captured, function(group) group$values[startsWith(group$names, s4_table)]), recursive = FALSE)
  lapply(Filter(is.environment, unname(tables)), function(table) {
    read <- function() ls(table, all.names = TRUE)
    list(read = read, value = read())
  })
}

# Attributes of environments are changed in place.
attributes_of <- function(captured) {
  envs <- lapply(Filter(function(group) group$fields, captured), `[[`, "env")
  asks <- any(c("attr", "attributes", "class", "oldClass", "inherits") %in% attr(captured, "generics"))
  envs <- Filter(function(env) asks || !is.null(attributes(env)), envs)
  read <- function() lapply(envs, attributes)
  if (length(envs)) list(list(read = read, value = read()))
}

# Nearly all methods for these are R's own. Those that the user may define for them are looked for by the names of
# generics that code has.
rs_classes <- c(
  "factor", "ordered", "data.frame", "table", "matrix", "array", "formula", "Date", "POSIXct", "POSIXt", "difftime",
  "ts", "function"
)

methods_to_come <- function(classes, generics, homes) {
  methods <- outer(generics, classes, paste, sep = ".")
  if (length(methods)) {
    lapply(homes, function(home) {
      names <- setdiff(methods, names(home))
      list(env = home, names = names, values = vector("list", length(names)), functions = TRUE)
    })
  }
}

# A look whether there are other methods for these classes, in `homes` or registered. Objectives are saved with it, so
# tables of packages are no part of it.
later_methods <- function(classes, homes) {
  methods_of <- methods_for(classes)
  known <- lapply(homes, function(env) methods_of(names(env)))
  registered_now <- function(tables) lapply(tables, function(table) mget(methods_of(names(table)), table))
  registered <- registered_now(registered_tables())
  filled <- which(lengths(registered) > 0L)
  sizes <- lengths(registered_tables())
  is_method <- function(name, env) {
    startsWith(name, s4_table) || exists(name, envir = env, mode = "function", inherits = FALSE)
  }
  have_come <- function() {
    for (i in seq_along(homes)) {
      found <- methods_of(names(homes[[i]]))
      if (!identical(found, known[[i]])) {
        for (name in setdiff(found, known[[i]])) if (is_method(name, homes[[i]])) return(TRUE)
      }
    }
    FALSE
  }
  other_registered <- function() {
    tables <- registered_tables()
    # To count is quicker than to look through the names, and registered methods are not taken away.
    if (identical(lengths(tables), sizes)) {
      for (i in filled) {
        if (!is_same(mget(names(registered[[i]]), tables[[i]]), registered[[i]])) return(TRUE)
      }
    } else if (!is_same(registered_now(tables), registered)) {
      return(TRUE)
    } else {
      sizes <<- lengths(tables)
    }
    FALSE
  }
  list(list(read = function() have_come() || other_registered(), value = FALSE))
}
