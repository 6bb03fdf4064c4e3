/// The element types, in XLA's order: the one table from which all numbers and names are made.
///
/// Calls `$callback!` with all rows, each of the form
/// `NAME = number in XLA ([number in PJRT], "name", ["alias", …], Kind, bits, "numpy's name",
/// DLPack's type code) "doc"`. `NAME` is that of XLA's and PJRT's C headers, `"name"` what users
/// see, as in MLIR but for `pred` and complex numbers. Types below 8 bits take a whole byte in
/// XLA's memory. The names are numpy's or ml_dtypes'; DLPack's codes those of its version 1.1.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_dtype {
    ($callback:ident) => {
        $callback! {
            PRED = 1 ([1], "pred", ["i1", "bool"], Pred, 8, "bool", 6) "Truth value in one byte.";
            S8 = 2 ([2], "i8", ["s8"], Signed, 8, "int8", 0) "Signed, 8 bits.";
            S16 = 3 ([3], "i16", ["s16"], Signed, 16, "int16", 0) "Signed, 16 bits.";
            S32 = 4 ([4], "i32", ["s32"], Signed, 32, "int32", 0) "Signed, 32 bits.";
            S64 = 5 ([5], "i64", ["s64"], Signed, 64, "int64", 0) "Signed, 64 bits.";
            U8 = 6 ([6], "ui8", ["u8"], Unsigned, 8, "uint8", 1) "Unsigned, 8 bits.";
            U16 = 7 ([7], "ui16", ["u16"], Unsigned, 16, "uint16", 1) "Unsigned, 16 bits.";
            U32 = 8 ([8], "ui32", ["u32"], Unsigned, 32, "uint32", 1) "Unsigned, 32 bits.";
            U64 = 9 ([9], "ui64", ["u64"], Unsigned, 64, "uint64", 1) "Unsigned, 64 bits.";
            F16 = 10 ([10], "f16", [], Float, 16, "float16", 2) "IEEE half precision.";
            F32 = 11 ([11], "f32", [], Float, 32, "float32", 2) "IEEE single precision.";
            F64 = 12 ([12], "f64", [], Float, 64, "float64", 2) "IEEE double precision.";
            C64 = 15 ([14], "c64", [], Complex, 64, "complex64", 5) "Two `f32`: real and imaginary part.";
            BF16 = 16 ([13], "bf16", [], Float, 16, "bfloat16", 4) "Single precision cut to 16 bits.";
            C128 = 18 ([15], "c128", [], Complex, 128, "complex128", 5) "Two `f64`: real and imaginary part.";
            F8E5M2 = 19 ([16], "f8E5M2", [], Float, 8, "float8_e5m2", 12) "8-bit float.";
            F8E4M3FN = 20 ([17], "f8E4M3FN", [], Float, 8, "float8_e4m3fn", 10) "8-bit float.";
            S4 = 21 ([21], "i4", ["s4"], Signed, 4, "int4", 0) "Signed, 4 bits.";
            U4 = 22 ([22], "ui4", ["u4"], Unsigned, 4, "uint4", 1) "Unsigned, 4 bits.";
            F8E4M3B11FNUZ = 23 ([18], "f8E4M3B11FNUZ", [], Float, 8, "float8_e4m3b11fnuz", 9) "8-bit float.";
            F8E5M2FNUZ = 24 ([19], "f8E5M2FNUZ", [], Float, 8, "float8_e5m2fnuz", 13) "8-bit float.";
            F8E4M3FNUZ = 25 ([20], "f8E4M3FNUZ", [], Float, 8, "float8_e4m3fnuz", 11) "8-bit float.";
            S2 = 26 ([24], "i2", ["s2"], Signed, 2, "int2", 0) "Signed, 2 bits.";
            U2 = 27 ([25], "ui2", ["u2"], Unsigned, 2, "uint2", 1) "Unsigned, 2 bits.";
            F8E4M3 = 28 ([26], "f8E4M3", [], Float, 8, "float8_e4m3", 8) "8-bit float.";
            F8E3M4 = 29 ([27], "f8E3M4", [], Float, 8, "float8_e3m4", 7) "8-bit float.";
            S1 = 30 ([], "s1", [], Signed, 1, "int1", 0) "Signed, 1 bit.";
            U1 = 31 ([], "ui1", ["u1"], Unsigned, 1, "uint1", 1) "Unsigned, 1 bit.";
            F4E2M1FN = 32 ([29], "f4E2M1FN", [], Float, 4, "float4_e2m1fn", 17) "4-bit float.";
            F8E8M0FNU = 33 ([28], "f8E8M0FNU", [], Float, 8, "float8_e8m0fnu", 14) "A power of two: 8 bits of exponent.";
        }
    };
}
