/* The models of ode.R for deSolve's compiled interface. */
#include <R.h>

static double parms[5];

void lotka_parms(void (*odeparms)(int *, double *)) { int n = 4; odeparms(&n, parms); }

void lotka(int *n, double *t, double *y, double *dy, double *out, int *ip) {
  dy[0] = parms[0] * y[0] - parms[1] * y[0] * y[1];
  dy[1] = parms[2] * y[0] * y[1] - parms[3] * y[1];
}

void robertson_parms(void (*odeparms)(int *, double *)) { int n = 3; odeparms(&n, parms); }

void robertson(int *n, double *t, double *y, double *dy, double *out, int *ip) {
  double slow = parms[0] * y[0], back = parms[1] * y[1] * y[2], fast = parms[2] * y[1] * y[1];
  dy[0] = back - slow;
  dy[1] = slow - back - fast;
  dy[2] = fast;
}

void pk_parms(void (*odeparms)(int *, double *)) { int n = 5; odeparms(&n, parms); }

/* Parameters: volumes of both compartments, clearance, flow between them, rate of absorption. */
void pk(int *n, double *t, double *y, double *dy, double *out, int *ip) {
  double absorbed = parms[4] * y[0], forth = parms[3] / parms[0] * y[1], back = parms[3] / parms[1] * y[2];
  dy[0] = -absorbed;
  dy[1] = absorbed - parms[2] / parms[0] * y[1] - forth + back;
  dy[2] = forth - back;
}
