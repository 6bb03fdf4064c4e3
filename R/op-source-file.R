# Ops in a source file: functions behind a comment with their signature, and what a function's own lines say of it.

ops_in_file <- function(source, signature, name, dtypes, call) {
  lines <- readLines(source$file, warn = FALSE)
  if (!is.null(signature)) {
    declared <- list(list(name = name, text = signature, dtypes = dtypes, after = 0L))
  } else {
    declared <- declared_ops(lines, source, call)
    names <- vapply(declared, `[[`, "", "name")
    if (anyDuplicated(names)) {
      abort(sprintf("%s declares `%s` twice", basename(source$file), names[anyDuplicated(names)]),
        operand = "file", call = call
      )
    }
    if (!is.null(name)) {
      declared <- declared[names == name]
      if (!length(declared)) {
        abort(sprintf("%s declares no op `%s`", basename(source$file), name),
          code = "NOT_FOUND", operand = "name", hint = sprintf("It declares %s.", toString(names)), call = call
        )
      }
    }
    if (length(dtypes)) {
      abort("`dtypes` stand in the file's comments", operand = "dtypes", call = call)
    }
  }
  lapply(declared, function(op) c(op, function_of(op, lines, source, call)))
}

# Comments of the form `// xlaffi: name(signature) dtypes T = f32, f64`, over several lines if need be.
declared_ops <- function(lines, source, call) {
  mark <- if (source$language == "fortran") "!" else "//"
  starts <- grep(sprintf("^\\s*%s\\s*xlaffi:", mark), lines)
  if (!length(starts)) {
    abort(sprintf("%s declares no op", basename(source$file)),
      operand = "file", call = call,
      hint = sprintf("A comment before a function does: `%s xlaffi: times(x: f64[n] -> z: f64[n])`.", mark)
    )
  }
  is_comment <- grepl(sprintf("^\\s*%s", mark), lines)
  lapply(starts, function(start) {
    end <- start
    while (end < length(lines) && is_comment[[end + 1L]] && !(end + 1L) %in% starts) {
      end <- end + 1L
    }
    text <- sub(sprintf("^\\s*%s\\s*(xlaffi:)?\\s*", mark), "", lines[start:end])
    form <- "^([A-Za-z_][A-Za-z0-9_]*)\\s*\\((.*)\\)\\s*(dtypes\\s+(.*))?$"
    text <- trimws(paste(text, collapse = " "))
    if (!grepl(form, text)) {
      abort(sprintf("%s, line %d: this declares no op: %s", basename(source$file), start, text),
        operand = "file", call = call,
        hint = "The form is `name(signature)` or `name(signature) dtypes T = f32, f64; U = i32`."
      )
    }
    part <- function(n) sub(form, paste0("\\", n), text)
    list(name = part(1L), text = part(2L), dtypes = dtypes_in(part(4L)), after = end)
  })
}

# "T = f32, f64; U = i32"
dtypes_in <- function(text) {
  sets <- strsplit(trimws(strsplit(text, ";", fixed = TRUE)[[1L]]), "\\s*=\\s*")
  values <- lapply(sets, function(set) strsplit(trimws(set[-1L]), "[ ,]+")[[1L]])
  stats::setNames(values, vapply(sets, `[[`, "", 1L))
}

# The first function of the op's name behind the comment: what it takes, and what it returns.
function_of <- function(op, lines, source, call) {
  language <- source$language
  comment <- if (language == "fortran") "!.*$" else "//.*$"
  rest <- paste(sub(comment, "", lines[seq_along(lines) > op$after]), collapse = "\n")
  symbol <- gsub(".", "_", op$name, fixed = TRUE)
  form <- switch(language,
    fortran = sprintf("subroutine\\s+%s\\s*\\(", symbol), rust = sprintf("fn\\s+%s\\s*(<[^(]*>)?\\s*\\(", symbol),
    sprintf("[A-Za-z0-9_*&>]\\s*\\b%s\\s*\\(", symbol)
  )
  at <- regexpr(form, rest, ignore.case = language == "fortran", perl = TRUE)
  if (at < 0L) {
    abort(sprintf("%s has no function `%s` behind its signature", basename(source$file), symbol),
      code = "NOT_FOUND", op = op$name, operand = "file", call = call
    )
  }
  inside <- in_parentheses(substring(rest, at + attr(at, "match.length")))
  parameters <- gsub("&?\n|\\s+", " ", parameters_in(inside))
  declared <- switch(language,
    rust = list(
      name = sub("^(mut )?\\s*([A-Za-z0-9_]+)\\s*:.*$", "\\2", parameters),
      type = trimws(sub("^[^:]*:", "", parameters))
    ),
    fortran = list(name = trimws(gsub("&", "", parameters)), type = rep("", length(parameters))),
    {
      plain <- trimws(gsub("\\[[^]]*\\]", "", parameters))
      list(
        name = sub("^.*?([A-Za-z_][A-Za-z0-9_]*)$", "\\1", plain, perl = TRUE),
        type = trimws(sub("[A-Za-z_][A-Za-z0-9_]*$", "", plain))
      )
    }
  )
  before <- utils::tail(strsplit(substr(rest, 1L, at), "[;{}]")[[1L]], 1L)
  before <- sub("(?s)^.*\n\\s*\n", "", before, perl = TRUE)
  c(
    list(is_function = TRUE, returns = returned(before, language)),
    arguments_of(op, declared, source, call)
  )
}

returned <- function(declaration, language) {
  if (!language %in% c("c", "c++") || grepl("\\bvoid\\s*$|\\bvoid\\b(?!\\s*\\*)", declaration, perl = TRUE)) {
    "nothing"
  } else if (grepl("char\\s*(const\\s*)?\\*", declaration)) {
    "message"
  } else {
    "status"
  }
}

# Up to the parenthesis that closes.
in_parentheses <- function(text) {
  letters <- strsplit(text, "")[[1L]]
  depth <- cumsum((letters == "(") - (letters == ")"))
  end <- which(depth < 0)
  substr(text, 1L, if (length(end)) end[[1L]] - 1L else nchar(text))
}

# Split at commas that are inside of no brackets.
parameters_in <- function(text) {
  letters <- strsplit(gsub("->", "  ", text, fixed = TRUE), "")[[1L]]
  depth <- cumsum(letters %in% c("(", "[", "<", "{")) - cumsum(letters %in% c(")", "]", ">", "}"))
  cuts <- which(letters == "," & depth == 0)
  parts <- trimws(substring(text, c(1L, cuts + 1L), c(cuts - 1L, nchar(text))))
  parts[nzchar(parts) & parts != "void"]
}

# Each argument of the function is named after what it takes.
arguments_of <- function(op, declared, source, call) {
  signature <- read_signature(op$text, call)
  arrays <- vapply(c(signature$operands, signature$results, signature$scratch), `[[`, "", "name")
  texts <- vapply(Filter(function(attribute) attribute$dtype == "str", signature$attributes), `[[`, "", "name")
  names <- unique(c(arrays, signature$dims, names(signature$attributes), sprintf("%s_length", texts)))
  known <- names
  special <- if (source$language %in% c("c", "c++")) c(call = "xlaffi_this", state = "xlaffi_state")
  same <- if (source$language == "fortran") tolower else identity
  name <- known[match(same(declared$name), same(known))]
  name <- ifelse(is.na(name), special[declared$name], name)
  if (anyNA(name)) {
    unknown <- declared$name[is.na(name)][[1L]]
    abort(sprintf("%s: the function's argument `%s` is nothing that the signature names", op$name, unknown),
      op = op$name, operand = "file", hint = sprintf("It names %s.", toString(names)), call = call
    )
  }
  missing <- setdiff(arrays, name)
  if (length(missing)) {
    abort(sprintf("%s: the function has no argument `%s`, which the signature has", op$name, missing[[1L]]),
      op = op$name, operand = "file", call = call
    )
  }
  narrow <- name %in% signature$dims & grepl("^(const )?(int|int32_t)( const)?$", declared$type)
  list(arguments = unname(name), argument_types = declared$type, narrow = name[narrow])
}

# The files that a source names. Those that a compiler finds in folders of its own are in op-inputs.R.

# Files that the source includes, and those that these include, each with its digest; and libraries given as files.
# Which header a macro names the preprocessor tells; where there is none, the macro's definitions.
local_files <- function(source, command = NULL, write = NULL) {
  text <- character()
  base <- if (!is.null(source$file)) dirname(source$file)
  seen <- character()
  flags <- if (is.null(command)) source$flags else command$before[-1L]
  folders <- c("-I", "-iquote", "-isystem", "-idirafter", if (source$language == "fortran") "-J")
  include <- path.expand(c(source$include, flag_values(flags, folders), header_folders(source$language)))
  visit <- function(lines, from) {
    text <<- c(text, lines)
    named <- named_files(lines, source$language)
    for (name in c(named$text, named$other)) {
      files <- if (grepl("^(/|[A-Za-z]:)", name)) name else file.path(c(from, include), name)
      files <- files[file.exists(files) & !dir.exists(files)]
      if (length(files) && !files[[1L]] %in% seen) {
        seen <<- c(seen, files[[1L]])
        if (name %in% named$text) visit(readLines(files[[1L]], warn = FALSE), dirname(files[[1L]]))
      }
    }
  }
  parts <- unlist(lapply(source$ops, function(op) c(op$code, op$init, op$cleanup)))
  forced <- sprintf("#include \"%s\"", flag_values(flags, c("-include", "-imacros")))
  visit(forced, getwd())
  own <- if (!is.null(source$file)) readLines(source$file, warn = FALSE)
  visit(c(source$support, source$on_load, source$on_unload, parts, own), base)
  crates <- crate_files(source$dependencies)
  by_macro <- any(grepl("^\\s*#\\s*(include|include_next|import|embed)\\s+[A-Za-z_]", text))
  unknown <- is_different_each_time(text, source$language) || "build.rs" %in% basename(crates)
  if (by_macro && !is.null(write)) {
    seen <- c(seen, preprocessed_files(command, write))
  } else if (by_macro) {
    repeat {
      before <- length(seen)
      named <- named_by_macros(c(text, defined_by_flags(source$flags)))
      visit(sprintf("#include \"%s\"", named$headers), unique(c(base, dirname(seen))))
      if (length(seen) == before) break
    }
    unknown <- unknown || !named$are_all
  }
  libraries <- source$libraries[file.exists(source$libraries)]
  files <- unique(c(source$file, seen, precompiled(seen), libraries, crates))
  # What nobody knows is like nothing before.
  c(paste(files, hash_file(files)), if (unknown) basename(tempfile(format(Sys.time(), "%s "))))
}

# What lines name: files of code, which may name others, and other files.
named_files <- function(lines, language) {
  names <- function(form) {
    found <- unlist(regmatches(lines, gregexpr(form, lines, perl = TRUE)))
    sub(form, "\\1", found, perl = TRUE)
  }
  modules <- if (language == "fortran") {
    paste0(tolower(names("(?i)^\\s*use\\b\\s*(?:,\\s*non_intrinsic\\s*)?(?:::)?\\s*([a-z][a-z0-9_]*)")), ".mod")
  }
  list(
    text = c(
      names("^\\s*#\\s*(?:include|include_next|import)\\s*[<\"]([^>\"]+)[>\"]"),
      names("\\binclude!\\s*[(\\[{]\\s*\"([^\"]+)\""), names("(?i)^\\s*include\\s*['\"]([^'\"]+)['\"]")
    ),
    other = c(
      names("^\\s*#\\s*embed\\s*[<\"]([^>\"]+)[>\"]"), names("\\b__has_[a-z_]+\\s*[(]\\s*[<\"]([^>\"]+)[>\"]"),
      names("\\binclude_(?:str|bytes)!\\s*[(\\[{]\\s*\"([^\"]+)\""), names(assembler_include), modules
    )
  )
}

# A file that the assembler takes in, of which no compiler tells.
assembler_include <- "[.]inc(?:bin|lude)\\s*\\\\?\"([^\"\\\\]+)\\\\?\""

# Whether code is another one whenever it is compiled, or has a file in it that cannot be found by its name.
is_different_each_time <- function(text, language) {
  if (language == "rust") {
    return(FALSE)
  }
  named <- unlist(regmatches(text, gregexpr(assembler_include, text, perl = TRUE)))
  names <- sub(assembler_include, "\\1", named, perl = TRUE)
  found <- sum(grepl("^(/|[A-Za-z]:)", names) & file.exists(names) & !dir.exists(names))
  any(grepl("\\b__(DATE|TIME|TIMESTAMP)__\\b", text)) ||
    sum(lengths(regmatches(text, gregexpr("[.]inc(bin|lude)\\b", text, perl = TRUE)))) > found
}

# Headers that were compiled before lie beside them.
precompiled <- function(headers) {
  made <- paste0(headers, rep(c(".gch", ".pch"), each = length(headers)))
  made[file.exists(made) & !dir.exists(made)]
}

# Libraries that Rust's code links to.
linked_by_code <- function(source, text) {
  lines <- c(text, source$support, if (!is.null(source$file)) readLines(source$file, warn = FALSE))
  form <- "#\\[link\\([^)]*\\bname\\s*=\\s*\"([^\"]+)\""
  found <- if (source$language == "rust") unlist(regmatches(lines, gregexpr(form, lines, perl = TRUE)))
  sub(form, "\\1", as.character(found), perl = TRUE)
}

# The headers that macros name in lines like `#include HEADER`, by all their definitions; whether there are others.
named_by_macros <- function(lines) {
  included <- "^\\s*#\\s*include\\s+([A-Za-z_][A-Za-z0-9_]*)\\s*(/[/*].*)?$"
  macros <- unique(sub(included, "\\1", grep(included, lines, value = TRUE)))
  is_plain <- length(grep("^\\s*#\\s*include\\s+[A-Za-z_]", lines)) == length(grep(included, lines))
  headers <- lapply(macros, function(macro) {
    defined <- sprintf("^\\s*#\\s*define\\s+%s(\\s+|$)", macro)
    values <- trimws(sub("/[/*].*$", "", sub(defined, "", grep(defined, lines, value = TRUE))))
    ifelse(grepl("^(\"[^\"]+\"|<[^>]+>)$", values), substr(values, 2L, nchar(values) - 1L), NA)
  })
  list(
    headers = as.character(stats::na.omit(unlist(headers))),
    are_all = is_plain && all(lengths(headers) > 0L) && !anyNA(unlist(headers))
  )
}

# As lines of code.
defined_by_flags <- function(flags) {
  values <- unlist(lapply(c("-D", "--define-macro="), flag_values, flags = flags))
  sub("=", " ", sprintf("#define %s", values), fixed = TRUE)
}

# The files that the preprocessor finds outside of what is compiled; none where it fails, as the compiler then does.
preprocessed_files <- function(command, write) {
  folder <- tempfile("xlaffi-files")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  rule_files(unlist(lapply(write(folder), function(unit) {
    done <- run_program(command$before[[1L]], c(command$before[-1L], "-M", "-MF", "rule", unit), folder)
    if (done$status == 0L) readLines(file.path(folder, "rule"), warn = FALSE)
  })))
}

# What options of a compiler are given, in the same word or in the next.
flag_values <- function(flags, options) {
  unlist(lapply(options, function(option) {
    joined <- flags[startsWith(flags, option) & flags != option]
    c(substring(joined, nchar(option) + 1L), flags[-1L][utils::head(flags == option, -1L)])
  }))
}
