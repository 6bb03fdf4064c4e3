#' Vectors of one length
#'
#' Divides vectors by the square root of their mean square: `x / sqrt(mean(x^2) + eps)`.
#'
#' @param x Numbers, a buffer or a value of a program; the vectors lie along the last axis.
#' @param eps A number that keeps vectors of zeros what they are.
#' @return Like `x`.
#' @examples
#' if (xlaffi::plugins_downloaded()) {
#'   rms_norm(c(3, 4, 12))
#' }
#' @export
rms_norm <- function(x, eps = 1e-5) {
  ops$rms_norm(x, eps = eps)
}
