# Compilation units in Fortran: for each combination of dtypes a function that C can call and, for a body, the
# subroutine that
# it is the middle of.

fortran_kinds <- c(
  pred = "logical c_bool", i8 = "integer c_int8_t", i16 = "integer c_int16_t", i32 = "integer c_int32_t",
  i64 = "integer c_int64_t", f32 = "real c_float", f64 = "real c_double", c64 = "complex c_float_complex",
  c128 = "complex c_double_complex"
)

fortran_unit <- function(source, instances) {
  own <- vapply(source$ops, function(op) !is.null(op$code) && isTRUE(op$is_function), NA)
  c(
    readLines(system.file("templates", "xlaffi.f90", package = "xlaffi"), warn = FALSE),
    if (!is.null(source$support)) "include 'support.f90'",
    if (!is.null(source$file)) sprintf("include \"%s\"", source$file),
    sprintf("include '%s.f90'", vapply(names(source$ops)[own], part_name, "")),
    unlist(lapply(instances, function(instance) fortran_instance(instance$op, instance, modules_in(source$support))))
  )
}

# A body uses the modules of the support code.
modules_in <- function(support) {
  form <- "^\\s*module\\s+([A-Za-z][A-Za-z0-9_]*)\\s*(!.*)?$"
  sub(form, "\\1", grep(form, support, value = TRUE, ignore.case = TRUE), ignore.case = TRUE)
}

fortran_instance <- function(op, instance, modules) {
  signature <- op$signature
  arguments <- c(fortran_dims(signature), fortran_attributes(signature), fortran_buffers(op, instance))
  field <- function(name) vapply(arguments, `[[`, "", name)
  kinds <- sprintf(
    "integer, parameter :: %s = %s", names(instance$dtypes), sub("^.* ", "", fortran_kinds[instance$dtypes])
  )
  body <- paste0(instance$symbol, "_body")
  is_function <- isTRUE(op$is_function)
  call <- if (is_function) {
    sprintf("call %s(%s)", op$symbol, toString(op$arguments))
  } else {
    sprintf("call %s(%s)", body, paste(c("xlaffi_this", "xlaffi_code", field("name")), collapse = ", &\n  "))
  }
  c(
    if (!is_function) {
      c(
        sprintf("subroutine %s(%s)", body, paste(c("xlaffi_this", "xlaffi_code", field("name")), collapse = ", &\n  ")),
        "use xlaffi_interface", sprintf("use %s", modules), "implicit none",
        "type(xlaffi_call), intent(in) :: xlaffi_this", "integer(c_int32_t), intent(inout) :: xlaffi_code",
        kinds, field("dummy"), sprintf("include '%s.f90'", part_name(op$name)),
        "contains", "subroutine fail(text)", "character(*), intent(in) :: text",
        "call xlaffi_fail(xlaffi_this, xlaffi_code, text)", "end subroutine", "end subroutine"
      )
    },
    sprintf("function %s(xlaffi_this) result(xlaffi_code) bind(c, name=\"%s\")", instance$symbol, instance$symbol),
    "use xlaffi_interface", "implicit none", "type(xlaffi_call), intent(in) :: xlaffi_this",
    "integer(c_int32_t) :: xlaffi_code", "type(c_ptr), pointer :: xlaffi_buffers(:)",
    "integer(c_int64_t), pointer :: xlaffi_dims(:)",
    "type(xlaffi_attribute), pointer :: xlaffi_attributes(:)", "integer(c_size_t) :: xlaffi_i",
    kinds, field("variable"),
    if (!is_function) fortran_interface(body, op, instance, arguments, kinds),
    "xlaffi_code = 0",
    sprintf(
      "call c_f_pointer(xlaffi_this%%buffers, xlaffi_buffers, [%d])",
      length(signature$operands) + length(signature$results) + length(signature$scratch)
    ),
    sprintf("call c_f_pointer(xlaffi_this%%dims, xlaffi_dims, [%d])", length(signature$dims)),
    sprintf("call c_f_pointer(xlaffi_this%%attributes, xlaffi_attributes, [%d])", length(signature$attributes)),
    unlist(lapply(arguments, `[[`, "set")), call, "end function"
  )
}

# Arguments that may be left out need it.
fortran_interface <- function(body, op, instance, arguments, kinds) {
  field <- function(name) vapply(arguments, `[[`, "", name)
  c(
    "interface",
    sprintf("subroutine %s(%s)", body, paste(c("xlaffi_this", "xlaffi_code", field("name")), collapse = ", &\n  ")),
    "use xlaffi_interface", "type(xlaffi_call), intent(in) :: xlaffi_this",
    "integer(c_int32_t), intent(inout) :: xlaffi_code", kinds, field("dummy"), "end subroutine", "end interface"
  )
}

fortran_type <- function(dtype, op, call = NULL) {
  if (!dtype %in% names(fortran_kinds)) {
    abort(sprintf("%s: Fortran has no numbers of type %s", op, dtype), op = op, operand = "signature", call = call)
  }
  sub(" (.*)$", "(\\1)", fortran_kinds[[dtype]])
}

fortran_pointer <- function(type, name, array) {
  sprintf("%s, pointer%s :: %s%s", type, if (array) ", contiguous" else "", name, if (array) "(:)" else "")
}

# Makes a pointer of an address; `length` of an array.
fortran_address <- function(address, name, length = NULL) {
  sprintf("call c_f_pointer(%s, %s%s)", address, name, if (is.null(length)) "" else sprintf(", [%s]", length))
}

fortran_dims <- function(signature) {
  lapply(seq_along(signature$dims), function(i) {
    name <- signature$dims[[i]]
    list(
      name = name, dummy = sprintf("integer(c_int64_t), intent(in) :: %s", name),
      variable = sprintf("integer(c_int64_t) :: %s", name), set = sprintf("%s = xlaffi_dims(%d)", name, i)
    )
  })
}

fortran_attributes <- function(signature) {
  lapply(seq_along(signature$attributes), function(i) {
    attribute <- signature$attributes[[i]]
    name <- attribute$name
    if (attribute$dtype == "str") {
      return(list(
        name = name, dummy = sprintf("character(*), intent(in) :: %s", name),
        variable = sprintf("character(len=:), allocatable :: %s", name),
        set = sprintf("%s = xlaffi_text(xlaffi_attributes(%d))", name, i)
      ))
    }
    type <- fortran_type(attribute$dtype, name)
    array <- !is.null(attribute$length)
    list(
      name = name,
      dummy = sprintf("%s, intent(in) :: %s%s", type, name, if (array) sprintf("(%s)", attribute$length) else ""),
      variable = fortran_pointer(type, name, array),
      set = fortran_address(sprintf("xlaffi_attributes(%d)%%data", i), name, if (array) attribute$length)
    )
  })
}

fortran_buffers <- function(op, instance) {
  signature <- op$signature
  arrays <- c(signature$operands, signature$results, signature$scratch)
  written <- seq_along(arrays) > length(signature$operands)
  in_place <- vapply(Filter(function(result) isTRUE(result$in_place), signature$results), `[[`, "", "name")
  arguments <- lapply(seq_along(arrays), function(i) {
    array <- arrays[[i]]
    name <- array$name
    if (!written[[i]] && name %in% in_place) {
      return(NULL)
    }
    intent <- if (written[[i]]) "intent(inout)" else "intent(in)"
    if (!is.null(array$count)) {
      return(list(
        name = name, dummy = sprintf("type(c_ptr), intent(in) :: %s(%s)", name, array$count),
        variable = fortran_pointer("type(c_ptr)", name, TRUE),
        set = fortran_address(sprintf("xlaffi_buffers(%d)", i), name, array$count)
      ))
    }
    # Under the variable's name, so that messages about kinds name it.
    type <- fortran_type(instance$types[[i]], op$name)
    dims <- if (array$order == "row") rev(array$dims) else array$dims
    optional <- isTRUE(array$optional)
    shape <- if (length(dims)) sprintf("(%s)", toString(dims)) else ""
    total <- paste0("max(0_c_int64_t, ", dims, ")", collapse = "*")
    set <- fortran_address(sprintf("xlaffi_buffers(%d)", i), name, if (length(dims)) total)
    if (optional) {
      set <- c(sprintf("nullify(%s)", name), sprintf("if (c_associated(xlaffi_buffers(%d))) %s", i, set))
    }
    list(
      name = name, dummy = sprintf("%s, %s%s :: %s%s", type, intent, if (optional) ", optional" else "", name, shape),
      variable = fortran_pointer(type, name, length(dims) > 0L), set = set
    )
  })
  Filter(length, arguments)
}
