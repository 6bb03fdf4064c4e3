# What processes that compute together compare of the ops that their programs call: what the user wrote, without what
# differs between machines for the same op, such as compilers, processors and paths.

# `parts`: texts by name.
common_digest <- function(parts) {
  text_digest(unlist(Map(function(name, part) c(sprintf("%s: %d", name, length(part)), as.character(part)),
    names(parts), parts
  )))
}

# Of what a source compiles: `lines` where it is a whole file of handlers.
source_common <- function(source, lines = NULL) {
  ops <- lapply(unname(source$ops), function(op) {
    common_digest(list(
      name = op$name, signature = op$text, code = op$code, init = op$init, cleanup = op$cleanup
    ))
  })
  places <- "^-(I|L|iquote|isystem)"
  common_digest(list(
    language = source$language, ops = unlist(ops), lines = lines, support = source$support,
    on_load = source$on_load, on_unload = source$on_unload, flags = source$flags[!grepl(places, source$flags)],
    openmp = source$openmp, dependencies = names(source$dependencies), libraries = basename(source$libraries),
    files = contents_of(local_files(source))
  ))
}

# Digests of files, of what local_files() tells.
contents_of <- function(files) unique(sub("^.* ", "", grep(" [0-9a-f]{64}$", files, value = TRUE)))

# Of functions of a library that is there: of a package's its version, as each machine has compiled it anew, of others
# the file.
library_common <- function(path, functions, signature, arguments = NULL) {
  common_digest(list(
    library = library_identity(path), names = names2(functions), functions = functions, signature = signature,
    arguments = arguments
  ))
}

library_identity <- function(path) {
  if (is.null(path) || !file.exists(path)) {
    return(NULL)
  }
  folder <- dirname(path)
  folder <- if (basename(folder) %in% c("x64", "arm64", "i386")) dirname(folder) else folder
  about <- file.path(dirname(folder), "DESCRIPTION")
  if (basename(folder) == "libs" && file.exists(about)) {
    facts <- read.dcf(about, c("Package", "Version", "RemoteSha"))[1L, ]
    facts[!is.na(facts)]
  } else {
    hash_file(path)
  }
}
