/* R looks for R_init_xlaffi(); the Rust half makes R_init_xlaffi_extendr().
 * This file also keeps the linker from dropping the Rust archive. */
void R_init_xlaffi_extendr(void *dll);

void R_init_xlaffi(void *dll) {
  R_init_xlaffi_extendr(dll);
}
