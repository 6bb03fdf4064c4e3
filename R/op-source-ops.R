# What the arguments of ffi_source() say: the ops with their signatures, names and dtypes.

source_languages <- c("c", "c++", "fortran", "rust", "cuda", "xla")

source_language <- function(lang, file, call = rlang::caller_env()) {
  if (!is.null(lang)) {
    return(check_choice(lang, "lang", source_languages, call))
  }
  if (is.null(file)) {
    return("c")
  }
  check_string(file, "file", call)
  if (dir.exists(file)) {
    check_file(file, "file", call)
  }
  if (file.exists(file) && uses_xla(readLines(file, warn = FALSE))) {
    return("xla")
  }
  switch(tolower(tools::file_ext(file)),
    c = "c", cpp = , cc = , cxx = "c++", f90 = , f95 = , f03 = , f08 = "fortran", rs = "rust", cu = "cuda",
    abort(sprintf("the name of %s does not tell its language", dQuote(file, FALSE)),
      operand = "lang", hint = sprintf("`lang` is one of %s.", toString(dQuote(source_languages, FALSE))), call = call
    )
  )
}

# Whether code is written with XLA's C++ header, or with the crate that is like it in Rust.
uses_xla <- function(lines) any(grepl("^\\s*#\\s*include\\s*[<\"]xla/ffi/api/ffi[.]h", lines)) || uses_xla_ffi(lines)

uses_xla_ffi <- function(lines) any(grepl("^[^/]*\\bxla_ffi::", lines))

source_file <- function(file, code, signature, name, lang, call = rlang::caller_env()) {
  if (is.null(file)) {
    absent <- c(if (is.null(signature) && !identical(lang, "xla")) "signature", if (is.null(code)) "code")
    if (length(absent)) {
      abort(sprintf("`%s` is missing", absent[[1L]]), operand = absent[[1L]], call = call)
    }
    return(NULL)
  }
  check_string(file, "file", call)
  if (!is.null(code)) {
    abort("`code` and `file` cannot both be given", operand = "code", call = call)
  }
  if (!is.null(signature) && is.null(name)) {
    abort("`name` must say which function of the file has the signature", operand = "name", call = call)
  }
  normalizePath(check_file(file, "file", call), "/")
}

check_strings <- function(x, name, call = rlang::caller_env()) {
  if (!is.null(x) && (!is.character(x) || anyNA(x))) {
    abort(sprintf("`%s` must be strings, not %s", name, describe(x)), operand = name, call = call)
  }
  as.character(x)
}

# Code is one string or one a line.
code_lines <- function(code, name, call = rlang::caller_env()) {
  if (is.null(code)) {
    return(NULL)
  }
  if (!length(code)) {
    abort(sprintf("`%s` must be code, not %s", name, describe(code)), operand = name, call = call)
  }
  code <- check_strings(code, name, call)
  lines <- strsplit(enc2utf8(code), "\r?\n")
  lines[!lengths(lines)] <- ""
  unlist(lines)
}

check_dependencies <- function(dependencies, language, call = rlang::caller_env()) {
  if (is.null(dependencies)) {
    return(NULL)
  }
  names <- names2(dependencies)
  versions <- check_strings(dependencies, "dependencies", call)
  if (!language %in% c("rust", "xla") || !all(nzchar(names))) {
    abort("`dependencies` are versions of Rust crates with their names: c(rand = \"0.8\")",
      operand = "dependencies", call = call
    )
  }
  stats::setNames(versions, names)
}

check_load <- function(source, call = rlang::caller_env()) {
  if (has_load(source) && !source$language %in% c("c", "c++", "rust")) {
    abort("`on_load` and `on_unload` are there for C, C++ and Rust only", operand = "on_load", call = call,
      hint = if (source$language == "fortran") {
        paste(
          "In Fortran a variable with `save` in a body tells its first call from the others; what must run at load or",
          "unload is an op in C, whose `libraries` may be in Fortran."
        )
      }
    )
  }
  if (!is.null(source$on_unload) && source$language == "rust" && .Platform$OS.type == "windows") {
    abort("`on_unload` in Rust is not to be had on Windows", code = "UNIMPLEMENTED", operand = "on_unload", call = call)
  }
}

# Arguments that would do nothing. Those that are NULL, FALSE or 0 were not given.
refuse_given <- function(arguments, what, call = rlang::caller_env()) {
  is_given <- function(x) is.function(x) || !is.null(x) && !(is.logical(x) || is.numeric(x)) || isTRUE(any(x != 0))
  given <- names(Filter(is_given, arguments))
  if (length(given)) {
    abort(sprintf("`%s` is not for %s", given[[1L]], what), operand = given[[1L]], call = call)
  }
}

source_ops <- function(source, signature, code, name, dtypes, init, cleanup, call = rlang::caller_env()) {
  if (!is.null(name)) {
    check_op_name(name, call)
  }
  code <- code_lines(code, "code", call)
  parts <- list(init = code_lines(init, "init", call), cleanup = code_lines(cleanup, "cleanup", call))
  if (length(unlist(parts)) && !source$language %in% c("c", "c++")) {
    abort("`init` and `cleanup` are there for C and C++ only", operand = "init", call = call)
  }
  declared <- if (is.null(source$file)) {
    name <- if (is.null(name)) paste0("op_", substr(text_digest(c(signature, code)), 1L, 8L)) else name
    op <- list(name = name, text = signature, dtypes = dtypes, code = code)
    list(if (source$language == "fortran") fortran_subroutine(op, call) else op)
  } else {
    ops_in_file(source, signature, name, dtypes, call)
  }
  ops <- lapply(declared, function(op) complete_op(c(op, parts), source, call))
  stats::setNames(ops, vapply(ops, `[[`, "", "name"))
}

check_op_name <- function(name, call) {
  check_string(name, "name", call)
  if (!grepl("^[A-Za-z_][A-Za-z0-9_.]{0,99}$", name) || startsWith(name, private_prefix)) {
    abort(sprintf("`name` must be at most 100 letters, digits, `_` and `.`, not %s", dQuote(name, FALSE)),
      operand = "name", call = call
    )
  }
}

# Adds the parsed signature and the instances: for each combination of dtypes, the dtype of each array.
complete_op <- function(op, source, call) {
  check_string(op$text, "signature", call)
  op$signature <- read_signature(op$text, call)
  check_variables(op, source$language, call)
  symbol <- gsub(".", "_", op$name, fixed = TRUE)
  op$symbol <- if (is.null(op$function_name)) symbol else op$function_name
  op$instances <- op_instances(op, call)
  for (i in seq_along(op$instances)) {
    op$instances[[i]]$symbol <- sprintf("xlaffi_%s_%d", symbol, i)
  }
  op
}

# Code in Fortran may be a whole subroutine.
fortran_subroutine <- function(op, call) {
  form <- "^\\s*(pure |elemental |recursive )*subroutine\\s+([A-Za-z][A-Za-z0-9_]*).*$"
  at <- grep(form, op$code, ignore.case = TRUE)
  if (!length(at)) {
    return(op)
  }
  function_name <- sub(form, "\\2", op$code[[at[[1L]]]], ignore.case = TRUE)
  found <- function_of(
    list(name = function_name, text = op$text, after = 0L), op$code, list(language = "fortran", file = "code"), call
  )
  c(op, found, list(function_name = function_name))
}

# For each combination of dtypes, those of the variables and of all arrays.
op_instances <- function(op, call) {
  names <- op_sets(op, call)
  lapply(check(.Call(wrap__own_instances, op$text, names(names), unname(names)), call), function(instance) {
    instance$dtypes <- stats::setNames(instance$dtypes, op$signature$dtypes)
    instance
  })
}

# What dtype variables stand for where the user says it: for each the names of its dtypes.
op_sets <- function(op, call) {
  dtypes <- as.list(op$dtypes)
  if (length(dtypes) && !all(nzchar(names2(dtypes)))) {
    abort(sprintf("`dtypes` must be a list such as list(T = c(\"f32\", \"f64\")), not %s", describe(op$dtypes)),
      op = op$name, operand = "dtypes", call = call
    )
  }
  lapply(dtypes, function(set) vapply(set, dtype_name, "", call = call, USE.NAMES = FALSE))
}

# Names in a signature become variables: what the language has for itself cannot be one.
check_variables <- function(op, language, call) {
  signature <- op$signature
  names <- c(
    vapply(c(signature$operands, signature$attributes, signature$results, signature$scratch), `[[`, "", "name"),
    signature$dims, signature$dtypes
  )
  ours <- startsWith(names, "xlaffi") | names %in% c("FAIL", "FAIL_WITH")
  macros <- language %in% c("c", "c++", "cuda") & grepl("^M_[A-Z0-9_]+$|^_[A-Z_]", names)
  taken <- which(ours | macros | names %in% reserved_words[[language]])
  if (length(taken)) {
    first <- taken[[1L]]
    owner <- if (ours[[first]]) "this package" else compiler_names[[language]]
    abort(sprintf("%s: `%s` cannot be a name in a signature: it is a word of %s", op$name, names[[first]], owner),
      op = op$name, operand = "signature", call = call
    )
  }
  lower <- tolower(unique(names))
  if (language == "fortran" && anyDuplicated(lower)) {
    same <- unique(names)[lower == lower[[anyDuplicated(lower)]]]
    abort(sprintf("%s: %s are one name in Fortran", op$name, paste0("`", same, "`", collapse = " and ")),
      op = op$name, operand = "signature", call = call
    )
  }
}

reserved_words <- local({
  split <- function(...) strsplit(paste(...), " ", fixed = TRUE)[[1L]]
  c <- split(
    "auto break case char const continue default do double else enum extern float for goto if inline int long",
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while",
    "bool true false asm typeof int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL",
    "INFINITY NAN HUGE_VAL errno EOF linux unix"
  )
  cpp <- c(c, split(
    "alignas alignof and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept consteval constexpr",
    "const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export false friend mutable",
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires",
    "static_assert static_cast template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq",
    "std"
  ))
  list(
    c = c(c, "I", "complex", "imaginary"),
    "c++" = cpp,
    cuda = c(cpp, split("threadIdx blockIdx blockDim gridDim warpSize float2 double2")),
    fortran = split("xlaffi"),
    rust = split(
      "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move",
      "mut pub ref return self Self static struct super trait true type unsafe use where while abstract become box do",
      "final gen macro override priv try typeof unsized virtual yield bool char str f32 f64 i8 i16 i32 i64 i128 isize",
      "u8 u16 u32 u64 u128 usize Ok Err Some None Vec String Option Result"
    )
  )
})
