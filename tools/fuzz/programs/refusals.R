# What programs may refuse though R computes it, by kind: `message`, a regular expression that the error's text matches,
# and `documented`, where that is said. Any other error of a program that R computes is a finding.
refusals <- list(
  "repeated in part" = list(
    message = "repeated a whole number of times|do not fill a matrix .* a whole number of times|cannot be repeated to",
    documented = "?xlaffi_value: shapes are equal, or one side is repeated a whole number of times"
  ),
  "integers and logicals have no NA" = list(
    message = paste0(
      "(integer|logical) values have no NA|",
      "(the function's result|`(yes|no|[.]{3})`) has NA, which (i32|pred) cannot hold"
    ),
    documented = "?xlaffi_value: known positions outside of integers and logicals are an error"
  ),
  "longer by an index of logicals" = list(
    message = "an index of logicals must have at most", documented = "?xlaffi_value: `x[i] <- value` by logicals"
  ),
  "ifelse() with longer branches" = list(message = "ifelse\\(\\): `(yes|no)` must have",
  documented = "?xla_supported: ifelse"),
  "products of arrays" = list(
    message = "(crossprod|tcrossprod|%\\*%).*do not fit|hlo_matmul: `x` must be .* of equal batch axes",
    documented = "?hlo_linalg: with more than two axes on a side `%*%` is hlo_matmul()"
  ),
  "sweep() of other lengths" = list(
    message = "sweep\\(\\): `STATS` must have|mahalanobis\\(\\): .* do not fit", documented = "?xla_supported: sweep"
  ),
  "several dtypes of floating-point numbers" = list(
    message = paste0(
      "`hlo_convert\\(\\)` changes the dtype|must have the dtype|holds numbers that dtype f32 cannot|",
      "has dtype f64, but .* has f32"
    ),
    documented = "?xlaffi_value: other mixtures, f32 with f64 say"
  )
)
