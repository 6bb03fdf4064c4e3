# Compilation units in C and C++: for each combination of dtypes one function that declares what the signature names
# and
# runs the body. The body keeps its lines and its file, for messages and debuggers.

c_types <- c(
  pred = "bool", i8 = "int8_t", i16 = "int16_t", i32 = "int32_t", i64 = "int64_t", ui8 = "uint8_t", ui16 = "uint16_t",
  ui32 = "uint32_t", ui64 = "uint64_t", f16 = "xlaffi_f16", bf16 = "xlaffi_bf16", f32 = "float", f64 = "double",
  c64 = "float _Complex", c128 = "double _Complex"
)

c_type <- function(dtype, language) {
  type <- c_types[[dtype]]
  if (language != "c") sub("^(.*) _Complex$", "std::complex<\\1>", type) else type
}

# The unit of some instances. With `typed`, support code sees the dtypes of the only instance.
c_unit <- function(source, instances, typed, language) {
  types <- unlist(lapply(instances, function(instance) c(instance$dtypes, instance$types)))
  attribute_types <- unlist(lapply(source$ops, function(op) lapply(op$signature$attributes, `[[`, "dtype")))
  has_complex <- any(c(types, attribute_types) %in% c("c64", "c128"))
  headers <- if (language == "c") {
    c("math.h", "stdbool.h", "stdlib.h", "string.h", if (has_complex) "complex.h")
  } else {
    c("cmath", "cstdlib", "cstring", "exception", if (has_complex) "complex")
  }
  c(
    "#include <xlaffi.h>", sprintf("#include <%s>", headers),
    # They return by themselves; as expressions they may stand behind a `return`, too.
    "#define FAIL(...) FAIL_WITH(XLAFFI_INVALID_ARGUMENT, __VA_ARGS__)",
    "#define FAIL_WITH(...) __extension__({ return xlaffi_fail(xlaffi_this, __VA_ARGS__); (int32_t) 0; })",
    if (typed) c("#define XLAFFI_TYPED", c_typedefs(unit_dtypes(source, instances[[1L]]), language)),
    if (!is.null(source$support)) c_lines("support", source$support, language),
    if (!is.null(source$file)) sprintf("#include \"%s\"", source$file),
    unlist(lapply(instances, function(instance) c_instance(instance$op, instance, language))),
    c_load(source, language)
  )
}

# What runs when the library is loaded, asked for once by whoever loads it, and at its end, where it was loaded well.
c_load <- function(source, language) {
  if (!has_load(source)) {
    return(NULL)
  }
  c(
    "static int xlaffi_loaded = 0;",
    c_function(
      "int32_t xlaffi_on_load(const xlaffi_call *xlaffi_this)", language,
      c("(void) xlaffi_this;", c_part("on_load", source$on_load, language), "return XLAFFI_OK;")
    ),
    c_function(
      "int32_t xlaffi_load(const xlaffi_call *call)", language,
      c(
        "const int32_t code = xlaffi_loaded ? XLAFFI_OK : xlaffi_on_load(call);",
        "xlaffi_loaded = code == XLAFFI_OK;", "return code;"
      ),
      caught = "{ return XLAFFI_INTERNAL; }"
    ),
    if (!is.null(source$on_unload)) c_unload(source, language)
  )
}

# Nobody waits for it: what goes wrong is printed.
c_unload <- function(source, language) {
  c(
    "#undef FAIL", "#undef FAIL_WITH",
    "#define FAIL(...) __extension__({ fprintf(stderr, __VA_ARGS__); fputc('\\n', stderr); return; 0; })",
    "#define FAIL_WITH(code, ...) FAIL(__VA_ARGS__)",
    c_function("__attribute__((destructor)) void xlaffi_on_unload(void)", language,
      c("if (!xlaffi_loaded) return;", c_part("on_unload", source$on_unload, language)),
      caught = "{ fprintf(stderr, %s); fputc('\\n', stderr); }"
    )
  )
}

# Those of the instance; other ops of the source have some, too.
unit_dtypes <- function(source, instance) {
  all <- unlist(unname(lapply(source$ops, function(op) op$instances[[1L]]$dtypes)))
  c(instance$dtypes, all[!names(all) %in% names(instance$dtypes) & !duplicated(names(all))])
}

c_typedefs <- function(dtypes, language) {
  sprintf("typedef %s %s;", vapply(dtypes, c_type, "", language), names(dtypes))
}

# The functions of one instance: entry, and `init` and `cleanup` where the op has them.
c_instance <- function(op, instance, language) {
  typedefs <- c(c_typedefs(instance$dtypes, language), sprintf("(void) sizeof(%s);", names(instance$dtypes)))
  attributes <- c_attributes(op$signature, language)
  body <- if (is.null(op$code)) c_call(op) else c_part(part_name(op$name), op$code, language)
  c(
    c_function(
      sprintf("int32_t %s(const xlaffi_call *xlaffi_this)", instance$symbol), language,
      c(
        typedefs, c_buffers(op$signature, instance, language), c_dims(op$signature), attributes,
        "void *const xlaffi_state = xlaffi_this->state;", "(void) xlaffi_state;", body, "return XLAFFI_OK;"
      )
    ),
    if (!is.null(op$init)) {
      c_function(
        sprintf("int32_t %s_init(const xlaffi_call *xlaffi_this, void **xlaffi_made)", instance$symbol), language,
        c(
          typedefs, attributes, c_lengths(op$signature), "void *xlaffi_state = NULL;",
          c_part(paste0(op$name, "-init"), op$init, language), "*xlaffi_made = xlaffi_state;", "return XLAFFI_OK;"
        )
      )
    },
    if (!is.null(op$cleanup)) {
      c_function(sprintf("void %s_cleanup(void *xlaffi_state)", instance$symbol), language,
        c(typedefs, "(void) xlaffi_state;", c_part(paste0(op$name, "-cleanup"), op$cleanup, language)),
        caught = "{}"
      )
    }
  )
}

c_caught <- "{ return xlaffi_fail(xlaffi_this, XLAFFI_INTERNAL, %s); }"

# In C++ no exception leaves a function.
c_function <- function(declaration, language, lines, caught = c_caught) {
  if (language != "c") {
    handler <- function(text) sub("%s", text, caught, fixed = TRUE)
    lines <- c(
      "try {", lines,
      paste("} catch (const std::exception &xlaffi_error)", handler("\"%s\", xlaffi_error.what()")),
      paste("catch (...)", handler("\"an exception that is no std::exception\""))
    )
  }
  c(paste0(if (language != "c") "extern \"C\" ", "XLAFFI_EXPORT ", declaration, " {"), lines, "}")
}

c_part <- function(file, code, language) c("{", c_lines(file, code, language), "}")

# The user's lines under their own file's name and numbers. What is missing at their end is an error in the line behind
# them, which also follows where the last one ends in a backslash.
c_lines <- function(file, code, language) c(sprintf("#line 1 \"%s%s\"", file, c_suffix(language)), code, "")

c_suffix <- function(language) if (language == "c") ".c" else ".cpp"

c_buffers <- function(signature, instance, language) {
  arrays <- c(signature$operands, signature$results, signature$scratch)
  read <- c(rep(TRUE, length(signature$operands)), rep(FALSE, length(arrays) - length(signature$operands)))
  in_place <- vapply(arrays, function(array) isTRUE(array$in_place), NA)
  written <- vapply(arrays[in_place], `[[`, "", "name")
  lines <- lapply(seq_along(arrays), function(i) {
    array <- arrays[[i]]
    if (read[[i]] && array$name %in% written) {
      return(NULL)
    }
    restrict <- if (language == "c") "restrict" else "__restrict"
    type <- paste0(if (read[[i]]) "const ", c_type(instance$types[[i]], language), " *")
    declared <- paste0(type, if (!is.null(array$count)) "const *" else if (!read[[i]]) paste0(restrict, " "))
    cast <- if (is.null(array$count)) sprintf("(%s)", type) else sprintf("(%sconst *)", type)
    c(
      sprintf("%s%s = %s xlaffi_this->buffers[%d];", declared, array$name, cast, i - 1L),
      sprintf("(void) %s;", array$name)
    )
  })
  unlist(lines)
}

c_dims <- function(signature) {
  lines <- sprintf("const int64_t %s = xlaffi_this->dims[%d];", signature$dims, seq_along(signature$dims) - 1L)
  c(rbind(lines, sprintf("(void) %s;", signature$dims)))
}

# The lengths of arrays among the attributes, where there are no dimensions.
c_lengths <- function(signature) {
  arrays <- which(!vapply(signature$attributes, function(attribute) is.null(attribute$length), NA))
  names <- vapply(signature$attributes[arrays], `[[`, "", "length")
  named <- !duplicated(names) & grepl("^[A-Za-z_]", names)
  arrays <- arrays[named]
  names <- names[named]
  lines <- sprintf("const int64_t %s = (int64_t) xlaffi_this->attributes[%d].length;", names, arrays - 1L)
  c(rbind(lines, sprintf("(void) %s;", names)))
}

c_attributes <- function(signature, language) {
  lines <- lapply(seq_along(signature$attributes), function(i) {
    attribute <- signature$attributes[[i]]
    name <- attribute$name
    value <- sprintf("xlaffi_this->attributes[%d]", i - 1L)
    if (attribute$dtype == "str") {
      c(
        sprintf("const char *%s = (const char *) %s.data;", name, value),
        sprintf("const int64_t %s_length = (int64_t) %s.length;", name, value),
        sprintf("(void) %s; (void) %s_length;", name, name)
      )
    } else {
      type <- c_type(attribute$dtype, language)
      declared <- if (is.null(attribute$length)) {
        sprintf("const %s %s = *(const %s *) %s.data;", type, name, type, value)
      } else {
        sprintf("const %s *%s = (const %s *) %s.data;", type, name, type, value)
      }
      c(declared, sprintf("(void) %s;", name))
    }
  })
  unlist(lines)
}

# A call of the user's own function, which takes what its arguments are named after.
c_call <- function(op) {
  call <- sprintf("%s(%s)", op$symbol, toString(op$arguments))
  narrow <- op$narrow
  checks <- sprintf(
    "if (%s > INT32_MAX) FAIL(\"`%s` is %%lld, more than an int can hold\", (long long) %s);", narrow, narrow, narrow
  )
  c(checks, switch(op$returns,
    nothing = paste0(call, ";"),
    status = sprintf("return %s;", call),
    message = c(
      sprintf("const char *const xlaffi_error = %s;", call),
      "if (xlaffi_error) FAIL(\"%s\", xlaffi_error);"
    )
  ))
}
