//! How this library was built and what it finds, for `xlaffi_sitrep()`.

use cuda::libraries::Found;
use lapack::Refused;

use crate::r::entry::routines;
use crate::r::value::{named, Value};

routines! {
    // NVIDIA's libraries: where each was found, or what was tried and why it failed.
    fn cuda_libraries() {
        let found = cuda::libraries::report();
        let column = |of: fn(&Found) -> Option<&str>| -> Vec<Option<String>> {
            found.iter().map(|f| of(f).map(str::to_owned)).collect()
        };
        Ok(named! {
            library = column(|f| Some(f.library)),
            path = column(|f| f.origin.as_deref().ok()),
            problem = column(|f| f.origin.as_ref().err().map(String::as_str)),
        })
    }

    // How many pieces of memory are mapped into this process, and how many Linux allows; NULL on other systems.
    fn memory_maps() {
        let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
        let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count");
        let limit = limit.ok().and_then(|text| text.trim().parse::<i32>().ok());
        let count = maps.iter().filter(|&&byte| byte == b'\n').count() as i32;
        Ok(match limit {
            Some(limit) if count > 0 => named! { count = count, limit = limit },
            _ => Value::Null,
        })
    }

    // The LAPACK in use, which is looked for if none is yet, and those that were not taken.
    fn lapack_report() {
        let (found, refused) = lapack::report();
        let column = |of: fn(&Refused) -> String| -> Vec<String> { refused.iter().map(of).collect() };
        let refused = named! {
            place = column(|r| r.place.to_owned()),
            path = column(|r| r.path.clone()),
            why = column(|r| r.why.clone()),
        };
        Ok(match found {
            Ok(about) => named! {
                place = about.place.to_owned(),
                path = about.path,
                version = about.version,
                single_precision = about.single,
                threads = about.threads.map_or(Value::Null, Value::Integer),
                refused = refused,
            },
            Err(error) => named! { problem = error.to_string(), refused = refused },
        })
    }
}
