# What as_anvl() and from_anvl() share. anvl, and stablehlo on which it is built, are called by the names that they
# export; tests/testthat/data/anvl-0.2.csv has those that are used.

anvl <- function(name) getExportedValue("anvl", name)

stablehlo <- function(name) getExportedValue("stablehlo", name)

need_anvl <- function(op, call = rlang::caller_env()) {
  if (!requireNamespace("anvl", quietly = TRUE)) {
    abort(sprintf("%s: the package {anvl} is not installed", op), "FAILED_PRECONDITION",
      op = op, call = call, hint = "It is found at <https://github.com/r-xla/anvl>."
    )
  }
  check_anvl_names(op, call)
}

# What is used of both; of {stablehlo} the second part up to 0.3, which made operations of objects.
anvl_names <- list(
  anvl = c(
    ".current_descriptor", "AbstractArray", "ambiguous", "as_array", "build_tree", "dtype", "flatten", "gradient",
    "graph_desc_add", "new_primitive", "nv_convert", "rule_reverse", "shape", "stablehlo", "trace_fn", "unflatten"
  ),
  stablehlo = c(".current_func", "FuncValue", "ValueId", "ValueType", "repr")
)
stablehlo_op_names <- c(
  "FuncBody", "Op", "OpInputValue", "OpInputValues", "OpInputs", "OpName", "OpOutput", "OpOutputs", "OpSignature",
  "ValueTypes"
)
anvl_versions <- c(anvl = "0.2.0", stablehlo = "0.2.0 to 0.4.0")

stablehlo_has_ops <- function() "Op" %in% getNamespaceExports("stablehlo")

check_anvl_names <- function(op, call) {
  used <- anvl_names
  if (stablehlo_has_ops()) used$stablehlo <- c(used$stablehlo, stablehlo_op_names)
  for (package in names(used)) {
    missing <- setdiff(used[[package]], getNamespaceExports(package))
    if (length(missing)) {
      abort(
        sprintf(
          "%s: the package {%s} %s does not export %s", op, package, utils::packageVersion(package),
          toString(sprintf("`%s`", missing))
        ),
        "FAILED_PRECONDITION", op = op, call = call,
        hint = sprintf("Known here is {%s} %s.", package, anvl_versions[[package]])
      )
    }
  }
}

anvl_dtypes <- c("pred", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f32", "f64")

anvl_dtype <- function(dtype) if (dtype == "pred") "bool" else dtype

check_anvl_type <- function(type, op, what, call = NULL) {
  if (!type@dtype %in% anvl_dtypes) {
    abort(sprintf("%s: %s is %s, a dtype that {anvl} does not have", op, what, type_text(type)), "UNIMPLEMENTED",
      op = op, call = call, hint = "`hlo_convert()` changes the dtype; `Re()` and `Im()` take complex numbers apart."
    )
  }
}

# Of an array, or of what stands for one in a graph
type_from_anvl <- function(x) {
  dtype <- as.character(anvl("dtype")(x))
  new_type(if (dtype == "bool") "pred" else dtype, anvl("shape")(x))
}
