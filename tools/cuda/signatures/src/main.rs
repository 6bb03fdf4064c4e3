//! Looks for our symbols in NVIDIA's libraries: `signatures LIBRARY...`.

use cuda::sys::{Cublas, Cusolver, Driver, Nvrtc};
use std::process::ExitCode;

fn main() -> ExitCode {
    let tables = [
        ("libcusolver", Cusolver::SYMBOLS, Cusolver::LATE),
        ("libcublas", Cublas::SYMBOLS, Cublas::LATE),
        ("libnvrtc", Nvrtc::SYMBOLS, Nvrtc::LATE),
        ("libcuda", Driver::SYMBOLS, Driver::LATE),
    ];
    let mut complete = true;
    for path in std::env::args().skip(1) {
        let file = path.rsplit('/').next().unwrap_or(&path);
        let table = tables
            .iter()
            .find(|(name, ..)| file.starts_with(&format!("{name}.")));
        let Some((_, symbols, late)) = table else {
            eprintln!("{path}: not a library of ours");
            return ExitCode::FAILURE;
        };
        // SAFETY: NVIDIA's libraries may be loaded at any time.
        let library = match unsafe { libloading::Library::new(&path) } {
            Ok(library) => library,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        };
        // SAFETY: only the address is asked for.
        let missing =
            |symbol: &&&str| unsafe { library.get::<*mut ()>(symbol.as_bytes()) }.is_err();
        let lacking: Vec<_> = symbols.iter().filter(missing).collect();
        let newer: Vec<_> = late.iter().filter(missing).collect();
        println!(
            "{path}: {} symbols, missing: {lacking:?}; {} of newer versions, missing: {newer:?}",
            symbols.len(),
            late.len()
        );
        complete &= lacking.is_empty();
    }
    if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod signature;

#[cfg(test)]
mod tests {
    use super::signature::{ours, theirs};
    use cuda::sys::{Cublas, Cusolver, Driver, Nvrtc};
    use cudarc::{
        cublas::sys as cublas, cusolver::sys as cusolver, driver::sys as driver,
        nvrtc::sys as nvrtc,
    };

    /// `field(one _ for each parameter) = function`: compares, and that every symbol is compared.
    macro_rules! compare {
        (@one $bindings:ident $function:ident ($($u:tt)*) $done:ident $ours:expr) => {
            assert_eq!($ours, theirs($bindings::$function as unsafe fn($($u),*) -> _), stringify!($function));
            $done.push(stringify!($function));
        };
        ($table:ident in $bindings:ident {
            one { $($one:ident $u1:tt = $function:ident)* }
            four { $($four:ident $u4:tt = $s:ident $d:ident $c:ident $z:ident)* }
            late { $($late:ident $ul:tt = $new:ident)* }
        }) => {{
            let mut done: Vec<&str> = Vec::new();
            #[allow(unused_mut)] // Not every library has late ones.
            let mut late: Vec<&str> = Vec::new();
            $(compare!(@one $bindings $function $u1 done ours(|table: &$table| table.$one));)*
            $(
                compare!(@one $bindings $s $u4 done ours(|table: &$table| table.$four[0]));
                compare!(@one $bindings $d $u4 done ours(|table: &$table| table.$four[1]));
                compare!(@one $bindings $c $u4 done ours(|table: &$table| table.$four[2]));
                compare!(@one $bindings $z $u4 done ours(|table: &$table| table.$four[3]));
            )*
            $(compare!(@one $bindings $new $ul late ours(|table: &$table| table.$late.expect("never called")));)*
            assert_eq!(done, $table::SYMBOLS);
            assert_eq!(late, $table::LATE);
        }};
    }

    #[test]
    fn cusolver_is_as_in_nvidias_headers() {
        compare!(Cusolver in cusolver {
            one {
                create(_) = cusolverDnCreate
                set_stream(_ _) = cusolverDnSetStream
                create_params(_) = cusolverDnCreateParams
                create_syevj_info(_) = cusolverDnCreateSyevjInfo
                create_gesvdj_info(_) = cusolverDnCreateGesvdjInfo
                xsyevd_size(_ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXsyevd_bufferSize
                xsyevd(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXsyevd
                xgesvd_size(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXgesvd_bufferSize
                xgesvd(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXgesvd
                xgesvdp_size(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXgesvdp_bufferSize
                xgesvdp(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXgesvdp
            }
            four {
                getrf_size(_ _ _ _ _ _) = cusolverDnSgetrf_bufferSize cusolverDnDgetrf_bufferSize cusolverDnCgetrf_bufferSize cusolverDnZgetrf_bufferSize
                getrf(_ _ _ _ _ _ _ _) = cusolverDnSgetrf cusolverDnDgetrf cusolverDnCgetrf cusolverDnZgetrf
                geqrf_size(_ _ _ _ _ _) = cusolverDnSgeqrf_bufferSize cusolverDnDgeqrf_bufferSize cusolverDnCgeqrf_bufferSize cusolverDnZgeqrf_bufferSize
                geqrf(_ _ _ _ _ _ _ _ _) = cusolverDnSgeqrf cusolverDnDgeqrf cusolverDnCgeqrf cusolverDnZgeqrf
                orgqr_size(_ _ _ _ _ _ _ _) = cusolverDnSorgqr_bufferSize cusolverDnDorgqr_bufferSize cusolverDnCungqr_bufferSize cusolverDnZungqr_bufferSize
                orgqr(_ _ _ _ _ _ _ _ _ _) = cusolverDnSorgqr cusolverDnDorgqr cusolverDnCungqr cusolverDnZungqr
                ormqr_size(_ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSormqr_bufferSize cusolverDnDormqr_bufferSize cusolverDnCunmqr_bufferSize cusolverDnZunmqr_bufferSize
                ormqr(_ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSormqr cusolverDnDormqr cusolverDnCunmqr cusolverDnZunmqr
                potrf_size(_ _ _ _ _ _) = cusolverDnSpotrf_bufferSize cusolverDnDpotrf_bufferSize cusolverDnCpotrf_bufferSize cusolverDnZpotrf_bufferSize
                potrf(_ _ _ _ _ _ _ _) = cusolverDnSpotrf cusolverDnDpotrf cusolverDnCpotrf cusolverDnZpotrf
                potrf_batched(_ _ _ _ _ _ _) = cusolverDnSpotrfBatched cusolverDnDpotrfBatched cusolverDnCpotrfBatched cusolverDnZpotrfBatched
                sytrd_size(_ _ _ _ _ _ _ _ _) = cusolverDnSsytrd_bufferSize cusolverDnDsytrd_bufferSize cusolverDnChetrd_bufferSize cusolverDnZhetrd_bufferSize
                sytrd(_ _ _ _ _ _ _ _ _ _ _) = cusolverDnSsytrd cusolverDnDsytrd cusolverDnChetrd cusolverDnZhetrd
                syevj_size(_ _ _ _ _ _ _ _ _) = cusolverDnSsyevj_bufferSize cusolverDnDsyevj_bufferSize cusolverDnCheevj_bufferSize cusolverDnZheevj_bufferSize
                syevj(_ _ _ _ _ _ _ _ _ _ _) = cusolverDnSsyevj cusolverDnDsyevj cusolverDnCheevj cusolverDnZheevj
                syevj_batched_size(_ _ _ _ _ _ _ _ _ _) = cusolverDnSsyevjBatched_bufferSize cusolverDnDsyevjBatched_bufferSize cusolverDnCheevjBatched_bufferSize cusolverDnZheevjBatched_bufferSize
                syevj_batched(_ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSsyevjBatched cusolverDnDsyevjBatched cusolverDnCheevjBatched cusolverDnZheevjBatched
                gesvdj_size(_ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSgesvdj_bufferSize cusolverDnDgesvdj_bufferSize cusolverDnCgesvdj_bufferSize cusolverDnZgesvdj_bufferSize
                gesvdj(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSgesvdj cusolverDnDgesvdj cusolverDnCgesvdj cusolverDnZgesvdj
                gesvdj_batched_size(_ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSgesvdjBatched_bufferSize cusolverDnDgesvdjBatched_bufferSize cusolverDnCgesvdjBatched_bufferSize cusolverDnZgesvdjBatched_bufferSize
                gesvdj_batched(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnSgesvdjBatched cusolverDnDgesvdjBatched cusolverDnCgesvdjBatched cusolverDnZgesvdjBatched
            }
            late {
                xsyev_batched_size(_ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXsyevBatched_bufferSize
                xsyev_batched(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXsyevBatched
                xgeev_size(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXgeev_bufferSize
                xgeev(_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) = cusolverDnXgeev
            }
        });
    }

    #[test]
    fn cublas_is_as_in_nvidias_headers() {
        compare!(Cublas in cublas {
            one {
                create(_) = cublasCreate_v2
                set_stream(_ _) = cublasSetStream_v2
            }
            four {
                getrf_batched(_ _ _ _ _ _ _) = cublasSgetrfBatched cublasDgetrfBatched cublasCgetrfBatched cublasZgetrfBatched
                geqrf_batched(_ _ _ _ _ _ _ _) = cublasSgeqrfBatched cublasDgeqrfBatched cublasCgeqrfBatched cublasZgeqrfBatched
            }
            late {
            }
        });
    }

    #[test]
    fn the_driver_is_as_in_nvidias_headers() {
        compare!(Driver in driver {
            one {
                get_error_name(_ _) = cuGetErrorName
                driver_get_version(_) = cuDriverGetVersion
                init(_) = cuInit
                device_get_count(_) = cuDeviceGetCount
                device_get(_ _) = cuDeviceGet
                ctx_get_current(_) = cuCtxGetCurrent
                ctx_get_device(_) = cuCtxGetDevice
                device_get_attribute(_ _ _) = cuDeviceGetAttribute
                module_load_data(_ _) = cuModuleLoadData
                module_get_function(_ _ _) = cuModuleGetFunction
                func_set_attribute(_ _ _) = cuFuncSetAttribute
                launch_kernel(_ _ _ _ _ _ _ _ _ _ _) = cuLaunchKernel
                memcpy_dtod_async(_ _ _ _) = cuMemcpyDtoDAsync_v2
                memcpy_htod_async(_ _ _ _) = cuMemcpyHtoDAsync_v2
                memcpy_dtoh_async(_ _ _ _) = cuMemcpyDtoHAsync_v2
                memset_d8_async(_ _ _ _) = cuMemsetD8Async
                stream_synchronize(_) = cuStreamSynchronize
                thread_exchange_stream_capture_mode(_) = cuThreadExchangeStreamCaptureMode
            }
            four {
            }
            late {
            }
        });
    }

    #[test]
    fn nvrtc_is_as_in_nvidias_headers() {
        compare!(Nvrtc in nvrtc {
            one {
                version(_ _) = nvrtcVersion
                create_program(_ _ _ _ _ _) = nvrtcCreateProgram
                destroy_program(_) = nvrtcDestroyProgram
                compile_program(_ _ _) = nvrtcCompileProgram
                get_cubin_size(_ _) = nvrtcGetCUBINSize
                get_cubin(_ _) = nvrtcGetCUBIN
                get_ptx_size(_ _) = nvrtcGetPTXSize
                get_ptx(_ _) = nvrtcGetPTX
                get_program_log_size(_ _) = nvrtcGetProgramLogSize
                get_program_log(_ _) = nvrtcGetProgramLog
            }
            four {
            }
            late {
            }
        });
    }
}
