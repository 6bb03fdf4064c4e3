# The helpers of all tests.
for (file in list.files("..", "^helper-.*\\.R$", full.names = TRUE)) {
  source(file, local = TRUE)
}
