/* Loads a library and asks it for its PJRT table, whose first member is its size. */
#include <stdio.h>
#include <windows.h>

int main(int count, char **arguments) {
  HMODULE library = count > 1 ? LoadLibraryA(arguments[1]) : NULL;
  if (!library) {
    printf("cannot be loaded: error %lu\n", GetLastError());
    return 1;
  }
  size_t *(*table)(void) = (size_t * (*)(void)) (void *)GetProcAddress(library, "GetPjrtApi");
  size_t size = table ? *table() : 0;
  printf("GetPjrtApi() has a table of %zu bytes\n", size);
  return size < 100;
}
