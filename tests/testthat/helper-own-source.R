# A folder for compiled code of a test that looks at the folder; others share one (setup.R).
local_code_cache <- function(envir = parent.frame()) {
  folder <- withr::local_tempdir("code", .local_envir = envir)
  withr::local_options(xlaffi.code_cache = folder, .local_envir = envir)
  Sys.chmod(folder, "0700")
  folder
}

skip_without_compiler <- function(language) {
  skip_without_plugin()
  if (language %in% c("rust", "fortran")) {
    found <- tryCatch(xlaffi:::compiler_of(language), xlaffi_error_not_found = function(error) NULL)
    skip_if(is.null(found), paste("no compiler for", language))
  }
}

# JAX's tutorial on custom calls, in each language: x / sqrt(mean(x^2) + eps), over the last axis.
rms_norm_signature <- "x: T[..., n]; eps: f64 = 1e-5 -> y: T[..., n]"
rms_norm_code <- list(
  c = c(
    "T sum = 0;",
    "for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];",
    "const T scale = 1 / (T) sqrt((double) (sum / n + (T) eps));",
    "for (int64_t i = 0; i < n; i++) y[i] = x[i] * scale;"
  ),
  "c++" = c(
    "T sum = std::inner_product(x, x + n, x, T(0));",
    "const T scale = 1 / static_cast<T>(std::sqrt(static_cast<double>(sum / n + static_cast<T>(eps))));",
    "std::transform(x, x + n, y, [=](T value) { return value * scale; });"
  ),
  fortran = c(
    "real(T) :: total", "integer(c_int64_t) :: i",
    "total = 0",
    "do i = 1, n", "  total = total + x(i) * x(i)", "end do",
    "y = x * (1 / real(sqrt(real(total / n + real(eps, T), c_double)), T))"
  ),
  rust = c(
    "let mut sum = 0.0 as T;",
    "for x in x { sum += x * x; }",
    "let scale = 1.0 / ((sum / n as T + eps as T) as f64).sqrt() as T;",
    "for (y, x) in y.iter_mut().zip(x) { *y = x * scale; }"
  )
)
rms_norm <- function(language, ...) {
  support <- if (language == "c++") "#include <algorithm>\n#include <numeric>"
  ffi_source(rms_norm_signature, rms_norm_code[[language]], language, name = "rms_norm", support = support, ...)
}
rms_norm_expected <- function(x, eps = 1e-5) {
  x / sqrt(apply(x^2, seq_len(length(dim(x)) - 1L), mean) + eps)
}
