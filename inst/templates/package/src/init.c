#include <R_ext/Rdynload.h>

void xlaffi_register_ops(DllInfo *dll);

void {{init}}(DllInfo *dll) {
  xlaffi_register_ops(dll);
  R_useDynamicSymbols(dll, FALSE);
}
