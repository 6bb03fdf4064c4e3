# What traces gave, on disk beside the programs: a function whose digest (jit-lasting.R) is that of another session is
# not traced again. An entry is under a digest of the function's and of what was asked of it.

# `make()`, or what another session made of it: a list of plain data. `wanted` says what is asked of the function with
# the digest `lasting`; `keep(made)` is what is to be saved, NULL for nothing, and `back(saved)` is `made` again, NULL
# where that cannot be.
saved_or_made <- function(lasting, wanted, make, keep, back) {
  root <- if (!is.null(lasting)) program_folder()
  if (is.null(root)) {
    return(make())
  }
  key <- digest_of(serialize(list(lasting, wanted), NULL, version = 2L))
  saved <- found_entry(root, key, "trace")
  # Another session may take it away meanwhile.
  trace <- if (!is.null(saved)) {
    tryCatch(read_bytes(file.path(saved, "trace")), xlaffi_error = function(error) NULL)
  }
  made <- if (length(trace)) back(unserialize(trace))
  if (is.null(made)) {
    made <- noting_speech(make())
    # What the session gave besides is compared with what it is in that session; nobody would say it again.
    bytes <- if (!made$spoke && !length(made$session)) keep(made)
    if (!is.null(bytes)) save_trace(root, key, wanted$name, serialize(bytes, NULL))
  }
  made
}

# `made`, a list, with `spoke`: whether there were warnings or messages while it was made.
noting_speech <- function(made) {
  spoke <- FALSE
  note <- function(condition) spoke <<- TRUE
  made <- withCallingHandlers(made, warning = note, message = note)
  made$spoke <- spoke || isTRUE(made$spoke)
  made
}

save_trace <- function(root, key, name, bytes) {
  if (length(bytes) > size_limit(disk_cache("program")) / 8) {
    return(invisible())
  }
  folder <- tryCatch(
    {
      discard_entry(file.path(root, key))
      make_entry(root, key, paste("trace of", name), "trace", function(folder) {
        write_bytes(bytes, file.path(folder, "trace"))
      })
    },
    xlaffi_error_disk_full = function(error) NULL
  )
  note_saved(disk_cache("program"), root, folder)
  invisible()
}

# The call of a compiled function, see new_call(), which `make()` traces; `self` is the function's environment, and
# `fixed` is for jit-terms.R.
lasting_call <- function(self, types, device, leaves, placed, fixed, make) {
  lasting <- if (!is.null(self$lasting) && is.null(placed)) self$lasting()
  wanted <- list(
    name = self$name, types = types_text(tree_leaves(types)), names = names2(types), device = format(device),
    labels = lapply(unname(leaves), data_labels), exact = self$exact, fixed = fixed
  )
  saved_or_made(lasting, wanted, make, keep = saved_call, back = function(saved) {
    own <- part_again(saved$own, device, self$name)
    terms <- if (!is.null(saved$terms)) part_again(saved$terms, device, data_name(self$name))
    if (is.null(own) || is.null(terms) != is.null(saved$terms)) {
      return(NULL)
    }
    if (!is.null(terms)) terms <- new_terms(terms$program, saved$fixed, terms$constants, saved$types)
    c(saved$call, own, list(terms = terms, device = device, hidden = lapply(own$constants, `[[`, "argument")))
  })
}

# What of a call is saved, of arrays or a list of them and for one device
saved_call <- function(call) {
  if (!call$form %in% c("one", "list") || !is.null(call$layout) || !is.null(call$present)) {
    return(NULL)
  }
  parts <- c("dtypes", "form", "names", "results", "labels", "known_names")
  own <- saved_part(call)
  terms <- if (!is.null(call$terms)) saved_part(call$terms)
  if (!is.null(own) && is.null(terms) == is.null(call$terms)) {
    list(call = call[parts], own = own, terms = terms, fixed = call$terms$fixed, types = call$terms$types)
  }
}

# A program, by the digest of its text, and its large constants; NULL where these are patterns of sparse matrices or
# objects of the session.
saved_part <- function(made) {
  constants <- lapply(made$constants, function(constant) constant[c("type", "data")])
  if (!is.na(made$program$saved) && all(vapply(constants, function(constant) is.atomic(constant$data), NA))) {
    list(constants = constants, text = made$program$digest, types = made$program$types)
  }
}

part_again <- function(saved, device, name) {
  program <- saved_program(saved$text, device, name, saved$types)
  if (!is.null(program)) {
    constants <- lapply(saved$constants, function(entry) c(entry, list(node = list(params = list(data = entry$data)))))
    list(program = program, constants = uploaded_constants(constants, device, NULL))
  }
}
