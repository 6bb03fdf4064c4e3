//! The library that a function is in, kept in use: `dyn.unload()` then leaves it in memory.

/// Of this library, which stays loaded.
pub fn is_ours(address: usize) -> bool {
    let ours = base_of(is_ours as *const () as usize);
    ours.is_some() && ours == base_of(address)
}

#[cfg(unix)]
mod system {
    use std::collections::HashMap;
    use std::ffi::{c_void, CStr, CString};
    use std::mem::MaybeUninit;
    use std::os::unix::fs::MetadataExt;
    use std::ptr::NonNull;
    use std::sync::{Arc, Mutex, PoisonError, Weak};
    use std::time::SystemTime;

    fn info(address: usize) -> Option<libc::Dl_info> {
        let mut info = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: any address may be asked for; the struct is filled where the answer is not 0.
        unsafe {
            let found = libc::dladdr(address as *const c_void, info.as_mut_ptr()) != 0;
            found.then(|| info.assume_init())
        }
    }

    pub fn base_of(address: usize) -> Option<usize> {
        Some(info(address)?.dli_fbase as usize)
    }

    /// A library that stays loaded for as long as this lives.
    pub struct Library {
        handle: NonNull<c_void>,
        _file: Arc<File>,
    }

    // SAFETY: a handle may be closed on any thread.
    unsafe impl Send for Library {}

    /// A library's file as it was when it came into use here.
    #[derive(PartialEq, Eq)]
    struct File {
        inode: u64,
        modified: Option<SystemTime>,
    }

    static IN_USE: Mutex<Option<HashMap<CString, Weak<File>>>> = Mutex::new(None);

    impl Library {
        /// The library of the function at that address; and its path, where the file has changed
        /// since it came into use: the system hands out the loaded one for it, until nobody uses
        /// that any more.
        pub fn holding(address: usize) -> Option<(Library, Option<String>)> {
            let name = NonNull::new(info(address)?.dli_fname.cast_mut())?;
            // SAFETY: `dladdr` gives text that ends in NUL and lives as long as the library, which
            // holds the function and so is loaded.
            let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_owned();
            // SAFETY: nothing is loaded, and no code of the library runs: it is there already.
            let handle =
                unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            let handle = NonNull::new(handle)?;
            let path = name.to_string_lossy().into_owned();
            let metadata = std::fs::metadata(&path).ok();
            let now = File {
                inode: metadata.as_ref().map_or(0, MetadataExt::ino),
                modified: metadata.and_then(|file| file.modified().ok()),
            };
            let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
            let in_use = in_use.get_or_insert_with(HashMap::new);
            in_use.retain(|_, file| file.strong_count() > 0);
            let (file, changed) = match in_use.get(&name).and_then(Weak::upgrade) {
                Some(file) => {
                    let changed = *file != now;
                    (file, changed.then_some(path))
                }
                None => (Arc::new(now), None),
            };
            in_use.insert(name, Arc::downgrade(&file));
            let library = Library {
                handle,
                _file: file,
            };
            Some((library, changed))
        }
    }

    impl Drop for Library {
        fn drop(&mut self) {
            // SAFETY: a handle of `dlopen`, closed once; no handler of the library is registered or
            // running any more because of this value, which is what it was kept for.
            unsafe { libc::dlclose(self.handle.as_ptr()) };
        }
    }
}

/// Elsewhere libraries are not kept.
#[cfg(not(unix))]
mod system {
    pub fn base_of(_address: usize) -> Option<usize> {
        None
    }

    pub enum Library {}

    impl Library {
        pub fn holding(_address: usize) -> Option<(Library, Option<String>)> {
            None
        }
    }
}

use system::base_of;
pub use system::Library;
