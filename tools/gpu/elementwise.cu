// x: T[..., m], y: T[...] -> z: T[..., m]
#define __auto_type auto
template <class X> struct xlaffi_bare { typedef X type; };
template <class X> struct xlaffi_bare<X &> { typedef X type; };
template <class X> struct xlaffi_bare<const X &> { typedef X type; };
template <class X> struct xlaffi_float { typedef double type; };
template <> struct xlaffi_float<float> { typedef float type; };
template <class X> typename xlaffi_float<X>::type xlaffi_real(X x) { return x; }
template <class X> auto xlaffi_power2(X x) -> decltype(xlaffi_real(x)) { auto y = xlaffi_real(x); return y * y; }
template <class X> auto xlaffi_power3(X x) -> decltype(xlaffi_real(x)) { auto y = xlaffi_real(x); return y * y * y; }
template <class X> auto xlaffi_power4(X x) -> decltype(xlaffi_real(x)) { auto y = xlaffi_real(x); return y * y * y * y; }
inline float xlaffi_abs(float x) { return fabsf(x); }
inline double xlaffi_abs(double x) { return fabs(x); }
inline uint64_t xlaffi_abs(uint64_t x) { return x; }
template <class X> int64_t xlaffi_abs(X x) { return x < 0 ? -(int64_t) x : (int64_t) x; }
template <class X> X xlaffi_sign(X x) { return x != x ? x : X((x > X(0)) - (x < X(0))); }
template <class X, class Y> typename xlaffi_bare<decltype(true ? X() : Y())>::type xlaffi_min(X x, Y y) { return x < y || x != x ? x : y; }
template <class X, class Y> typename xlaffi_bare<decltype(true ? X() : Y())>::type xlaffi_max(X x, Y y) { return x > y || x != x ? x : y; }
template <class X> struct xlaffi_integer {};
template <> struct xlaffi_integer<bool> { typedef double type; };
template <> struct xlaffi_integer<int8_t> { typedef double type; };
template <> struct xlaffi_integer<int16_t> { typedef double type; };
template <> struct xlaffi_integer<int32_t> { typedef double type; };
template <> struct xlaffi_integer<int64_t> { typedef double type; };
template <> struct xlaffi_integer<uint8_t> { typedef double type; };
template <> struct xlaffi_integer<uint16_t> { typedef double type; };
template <> struct xlaffi_integer<uint32_t> { typedef double type; };
template <> struct xlaffi_integer<uint64_t> { typedef double type; };
template <class X, class Y> struct xlaffi_mixed { typedef double type; };
template <> struct xlaffi_mixed<float, float> {};
template <> struct xlaffi_mixed<double, double> {};
template <class X> typename xlaffi_integer<X>::type exp(X x) { return exp(double(x)); }
template <class X> typename xlaffi_integer<X>::type exp2(X x) { return exp2(double(x)); }
template <class X> typename xlaffi_integer<X>::type expm1(X x) { return expm1(double(x)); }
template <class X> typename xlaffi_integer<X>::type log(X x) { return log(double(x)); }
template <class X> typename xlaffi_integer<X>::type log2(X x) { return log2(double(x)); }
template <class X> typename xlaffi_integer<X>::type log10(X x) { return log10(double(x)); }
template <class X> typename xlaffi_integer<X>::type log1p(X x) { return log1p(double(x)); }
template <class X> typename xlaffi_integer<X>::type sqrt(X x) { return sqrt(double(x)); }
template <class X> typename xlaffi_integer<X>::type cbrt(X x) { return cbrt(double(x)); }
template <class X> typename xlaffi_integer<X>::type sin(X x) { return sin(double(x)); }
template <class X> typename xlaffi_integer<X>::type cos(X x) { return cos(double(x)); }
template <class X> typename xlaffi_integer<X>::type tan(X x) { return tan(double(x)); }
template <class X> typename xlaffi_integer<X>::type asin(X x) { return asin(double(x)); }
template <class X> typename xlaffi_integer<X>::type acos(X x) { return acos(double(x)); }
template <class X> typename xlaffi_integer<X>::type atan(X x) { return atan(double(x)); }
template <class X> typename xlaffi_integer<X>::type sinh(X x) { return sinh(double(x)); }
template <class X> typename xlaffi_integer<X>::type cosh(X x) { return cosh(double(x)); }
template <class X> typename xlaffi_integer<X>::type tanh(X x) { return tanh(double(x)); }
template <class X> typename xlaffi_integer<X>::type asinh(X x) { return asinh(double(x)); }
template <class X> typename xlaffi_integer<X>::type acosh(X x) { return acosh(double(x)); }
template <class X> typename xlaffi_integer<X>::type atanh(X x) { return atanh(double(x)); }
template <class X> typename xlaffi_integer<X>::type erf(X x) { return erf(double(x)); }
template <class X> typename xlaffi_integer<X>::type erfc(X x) { return erfc(double(x)); }
template <class X> typename xlaffi_integer<X>::type tgamma(X x) { return tgamma(double(x)); }
template <class X> typename xlaffi_integer<X>::type lgamma(X x) { return lgamma(double(x)); }
template <class X> typename xlaffi_integer<X>::type floor(X x) { return floor(double(x)); }
template <class X> typename xlaffi_integer<X>::type ceil(X x) { return ceil(double(x)); }
template <class X> typename xlaffi_integer<X>::type trunc(X x) { return trunc(double(x)); }
template <class X> typename xlaffi_integer<X>::type rint(X x) { return rint(double(x)); }
template <class X> typename xlaffi_integer<X>::type fabs(X x) { return fabs(double(x)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type pow(X x, Y y) { return pow(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type atan2(X x, Y y) { return atan2(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type hypot(X x, Y y) { return hypot(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type fmod(X x, Y y) { return fmod(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type fmin(X x, Y y) { return fmin(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type fmax(X x, Y y) { return fmax(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type copysign(X x, Y y) { return copysign(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type remainder(X x, Y y) { return remainder(double(x), double(y)); }
template <class X, class Y> typename xlaffi_mixed<X, Y>::type fdim(X x, Y y) { return fdim(double(x), double(y)); }
#define XLAFFI_NUMBER(x) ((xlaffi_float<xlaffi_all>::type) (x))
#define creal(x) (x)
#define XLAFFI_CONJ(x) (x)
#define cimag(x) (0 * (x))
#define XLAFFI_REAL(...) xlaffi_real(__VA_ARGS__)
#define XLAFFI_POWER2(...) xlaffi_power2(__VA_ARGS__)
#define XLAFFI_POWER3(...) xlaffi_power3(__VA_ARGS__)
#define XLAFFI_POWER4(...) xlaffi_power4(__VA_ARGS__)
#define XLAFFI_ABS(...) xlaffi_abs(__VA_ARGS__)
#define XLAFFI_SIGN(...) xlaffi_sign(__VA_ARGS__)
#define XLAFFI_MIN(...) xlaffi_min(__VA_ARGS__)
#define XLAFFI_MAX(...) xlaffi_max(__VA_ARGS__)
// kernel
const xlaffi_bare<decltype(x[0])>::type xlaffi_in_x = x[i];
const xlaffi_bare<decltype(y[0])>::type xlaffi_in_y = y[0];
xlaffi_bare<decltype(z[0])>::type xlaffi_out_z;
{
typedef decltype(xlaffi_in_x + xlaffi_in_y) xlaffi_all;
const auto x = xlaffi_in_x;
const auto y = xlaffi_in_y;
decltype(xlaffi_out_z) z;
__auto_type d = (x - y);
z = ((((XLAFFI_ABS(d) < XLAFFI_NUMBER(1.0)) ? (XLAFFI_POWER2(d) / XLAFFI_REAL(XLAFFI_NUMBER(2.0))) : (XLAFFI_ABS(d) - XLAFFI_NUMBER(0.5))) + exp((-XLAFFI_MIN(x, XLAFFI_NUMBER(1.0))))) + XLAFFI_SIGN(y));
xlaffi_out_z = z;
}
z[i] = xlaffi_out_z;
