//! Kernels of one's own compiled by NVIDIA's own compiler. No GPU is needed.

use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{KernelCode, Kernels, Work};

const HEADER: &str = include_str!("../../../../../inst/include/xlaffi.h");

/// The wheels nvidia-cuda-nvrtc-cu12 and nvidia-cuda-nvrtc have it; `XLAFFI_CUDA_PATH` is the folder
/// of their libraries.
#[test]
#[ignore = "needs NVRTC in XLAFFI_CUDA_PATH"]
fn nvrtc_takes_all_that_a_kernel_can_have() {
    let (major, minor) = cuda::nvrtc::version().expect("NVRTC");
    println!("NVRTC {major}.{minor}");
    let text = "x: T[..., n], y: T[], v: U[n], w: U[n]?; alpha: f64 = 1, flag: pred = false, lags: i64[p], mode: str = \"ab\"
                -> z: T[..., n], w2: U[..., n] ; work: T[2*n]";
    let each = Work::default();
    let grid = Work::Grid {
        blocks: vec!["n/256 + 1".to_owned(), "p".to_owned()],
        threads: vec!["32".to_owned(), "8".to_owned()],
        shared: Some("8*256".to_owned()),
    };
    let all = "pred i8 i16 i32 i64 ui8 ui16 ui32 ui64 f16 bf16 f32 f64 c64 c128";
    let all: Vec<_> = all
        .split(' ')
        .filter_map(xla_ffi::DataType::from_name)
        .collect();
    assert_eq!(all.len(), 15);
    let signature = Signature::parse(text).expect("a signature");
    let sets = [("T", &all[..]), ("U", &all[6..7])];
    let sets = Sets::new(&signature, &sets).expect("sets");
    for (work, at) in [(each, "i"), (grid, "blockIdx.x * blockDim.x + threadIdx.x")] {
        let body = format!(
            "extern __shared__ double part[];
             const int64_t at = {at};
             if (at >= n || xlaffi_batch > 1 << 20) return;
             if (flag && lags[0] < 0) FAIL(\"%lld of %lld, %g, %d\", at, n, alpha, flag);
             if (mode_length == 0) FAIL_WITH(XLAFFI_OUT_OF_RANGE, \"no mode\");
             work[at] = x[at];
             z[at] = mode[0] == 'a' ? work[at] : *y;
             w2[at] = w ? w[at] : v[at] + half(NAN);
             static_assert(sizeof(T) == sizeof(*x), \"\");
             const float f = xlaffi_from_bf16(xlaffi_to_bf16(xlaffi_from_f16(xlaffi_to_f16(1.5f))));
             part[threadIdx.x] = f + INFINITY + INT64_MAX + INT32_MIN;"
        );
        let code = KernelCode {
            files: ["body.cu".to_owned(), "support.cu".to_owned()],
            body,
            support: "static int half(float x) { return x / 2; }\ntypedef T element;".to_owned(),
            header: HEADER.to_owned(),
            work,
            options: Vec::new(),
        };
        let kernels = Kernels::new(&signature, &sets, &code).expect("kernels");
        for unit in kernels.units() {
            for architecture in ["compute_75", "sm_90"] {
                if let Err(refused) = unit.compile(architecture) {
                    panic!("{architecture}: {refused}\n{}", unit.source());
                }
            }
        }
    }
}
