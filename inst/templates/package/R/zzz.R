ops <- new.env(parent = emptyenv())

# The ops are part of the package's shared object. Nothing is compiled here, and XLA need not be there.
# Rules for derivatives are arguments: load_rms_norm(vjp = rms_norm_vjp), see ?xlaffi::ffi_source.
.onLoad <- function(libname, pkgname) {
  ops$rms_norm <- load_rms_norm()
}
