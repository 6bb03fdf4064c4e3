//! The global offset tables, through which a loaded library calls functions of others ("System V Application Binary Interface", chapter
//! 5, "Dynamic Linking").

use std::ffi::{c_int, c_void, CStr};

/// An entry of the dynamic section: what it is, and a number or an address.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// A place that the loader fills in.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

// Tags of the dynamic section.
const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;
const DT_RELACOUNT: i64 = 0x6fff_fff9;

// Kinds of relocations that are the address of a function: GLOB_DAT and JUMP_SLOT.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: [u32; 2] = [6, 7];
#[cfg(target_arch = "aarch64")]
const ADDRESSES: [u32; 2] = [1025, 1026];
/// Nobody has looked at others: nothing is replaced.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ADDRESSES: [u32; 0] = [];

/// A function by its name, and what is to be called in its place.
pub type Replacement = (&'static CStr, *const c_void);

/// Has the libraries that are loaded now, and whose paths are meant, call other functions.
///
/// # Safety
/// The functions do what those that they replace do, for as long as the process lives.
pub unsafe fn replace(is_meant: &dyn Fn(&str) -> bool, replacements: &[Replacement]) {
    struct Task<'a>(&'a dyn Fn(&str) -> bool, &'a [Replacement]);

    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        task: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's description of a library, which stays loaded during the visit, and the task from below.
        let (info, task) = unsafe { (&*info, &*task.cast::<Task>()) };
        if !info.dlpi_name.is_null() {
            // SAFETY: a text of the loader.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
            if (task.0)(&name) {
                // SAFETY: as above, and the caller's promise.
                unsafe { replace_in(info, task.1) };
            }
        }
        0
    }

    let mut task = Task(is_meant, replacements);
    // SAFETY: the function fits the data, which outlive the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::addr_of_mut!(task).cast()) };
}

/// # Safety
/// The description of a loaded library, and [`replace`]'s promise.
unsafe fn replace_in(info: &libc::dl_phdr_info, replacements: &[Replacement]) {
    let base = info.dlpi_addr;
    // SAFETY: the loader's list of the library's parts.
    let parts = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let part = |kind| parts.iter().find(|part| part.p_type == kind);
    let Some(dynamic) = part(libc::PT_DYNAMIC) else {
        return;
    };
    // What the loader has made read-only after it had filled in the addresses.
    let sealed = part(libc::PT_GNU_RELRO).map_or(0..0, |part| {
        let start = base + part.p_vaddr;
        start..start + part.p_memsz
    });
    let entry = (base + dynamic.p_vaddr) as *const Dynamic;
    let find = |wanted: i64| {
        let mut at = entry;
        // SAFETY: the section ends with an entry whose tag is null.
        while unsafe { (*at).tag } != DT_NULL {
            // SAFETY: as above.
            let here = unsafe { &*at };
            if here.tag == wanted {
                return Some(here.value);
            }
            // SAFETY: as above.
            at = unsafe { at.add(1) };
        }
        None
    };
    // glibc has added the base to addresses already.
    let address = |tag| find(tag).map(|value| if value < base { base + value } else { value });
    let size = std::mem::size_of::<Relocation>() as u64;
    let (Some(symbols), Some(names)) = (address(DT_SYMTAB), address(DT_STRTAB)) else {
        return;
    };
    // The first relocations of all are no functions.
    let first = find(DT_RELACOUNT).unwrap_or(0);
    let tables = [(DT_RELA, DT_RELASZ, first), (DT_JMPREL, DT_PLTRELSZ, 0)];
    for (table, bytes, first) in tables {
        let (Some(table), Some(bytes)) = (address(table), find(bytes)) else {
            continue;
        };
        for number in first..bytes / size {
            // SAFETY: a relocation of the table, whose size the section tells.
            let relocation = unsafe { &*((table + number * size) as *const Relocation) };
            if !ADDRESSES.contains(&(relocation.info as u32)) {
                continue;
            }
            let symbol =
                symbols + (relocation.info >> 32) * std::mem::size_of::<libc::Elf64_Sym>() as u64;
            // SAFETY: the symbol that the relocation names, and its name.
            let name = unsafe {
                let symbol = &*(symbol as *const libc::Elf64_Sym);
                CStr::from_ptr((names + u64::from(symbol.st_name)) as *const _)
            };
            if let Some((_, function)) = replacements.iter().find(|(wanted, _)| *wanted == name) {
                let place = base + relocation.offset;
                // SAFETY: the place of a function's address in the library.
                unsafe { write(place, *function, sealed.contains(&place)) };
            }
        }
    }
}

/// Writes an address that other threads may be reading.
///
/// # Safety
/// A place for an address, which is its own for as long as the process lives.
unsafe fn write(place: u64, address: *const c_void, is_sealed: bool) {
    use std::sync::atomic::{AtomicPtr, Ordering};
    // SAFETY: a question.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let start = (place & !(page - 1)) as *mut c_void;
    let allow = |access| {
        // SAFETY: the page of the place, whose content stays.
        unsafe { libc::mprotect(start, page as usize, access) == 0 }
    };
    if is_sealed && !allow(libc::PROT_READ | libc::PROT_WRITE) {
        return;
    }
    // SAFETY: the caller's promise; addresses are aligned.
    unsafe { &*(place as *const AtomicPtr<c_void>) }.store(address.cast_mut(), Ordering::Release);
    if is_sealed {
        allow(libc::PROT_READ);
    }
}
