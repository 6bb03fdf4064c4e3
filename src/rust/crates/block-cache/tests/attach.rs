//! Blocks of this program itself are kept: Rust's own allocator calls `posix_memalign()` and `free()`.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::alloc::{alloc, dealloc, Layout};
use std::time::{Duration, Instant};

const BYTES: usize = 3 << 20;

fn block(bytes: usize, alignment: usize) -> (*mut u8, Layout) {
    let layout = Layout::from_size_align(bytes, alignment).unwrap();
    // SAFETY: the size is not zero.
    let block = unsafe { alloc(layout) };
    assert!(!block.is_null());
    // SAFETY: all bytes of the block.
    unsafe { block.write_bytes(7, bytes) };
    (block, layout)
}

fn free((block, layout): (*mut u8, Layout)) {
    // SAFETY: a block of `alloc()` with its layout, once.
    unsafe { dealloc(block, layout) };
}

/// Whether pages of the block are in memory: those that went back to the system are not.
fn is_there(block: *mut u8) -> bool {
    let mut there = [0u8];
    let page = (block as usize + (1 << 20)) & !0xfff;
    // SAFETY: a question about a page; -1 where there is none.
    let answer = unsafe { libc::mincore(page as *mut _, 4096, there.as_mut_ptr().cast()) };
    answer == 0 && there[0] & 1 == 1
}

#[test]
fn blocks_are_kept_until_they_are_taken_or_old() {
    block_cache::attach(|path| path.is_empty());
    many_threads_have_blocks_of_their_own();
    block_cache::give_back();
    let first = block(BYTES, 64);
    free(first);
    let second = block(BYTES - 100, 64);
    assert_eq!(first.0, second.0, "what was just freed is taken");
    // SAFETY: a byte of the block, which was written to before it was freed.
    assert_eq!(unsafe { *second.0 }, 7);
    let other = block(BYTES, 64);
    assert_ne!(other.0, second.0);
    free(other);
    free(second);
    assert!(is_there(second.0) && is_there(other.0));
    assert!(block_cache::give_back());
    assert!(!block_cache::give_back());
    assert!(
        !is_there(other.0),
        "a block of this size is of the system alone"
    );

    // Small ones are the C library's own affair.
    free(block(1000, 64));
    assert!(!block_cache::give_back());

    // What is old goes by itself.
    let old = block(64 << 20, 64);
    free(old);
    assert!(is_there(old.0));
    let start = Instant::now();
    while is_there(old.0) {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!block_cache::give_back());
}

fn many_threads_have_blocks_of_their_own() {
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            scope.spawn(move || {
                for turn in 0..200usize {
                    let (block, layout) = block((1 << 20) + (turn % 5) * (1 << 18), 64);
                    // SAFETY: the bytes of the block, which is this thread's.
                    unsafe {
                        block.write_bytes(thread, layout.size());
                        assert_eq!(*block.add(layout.size() / 2), thread);
                        assert_eq!(*block.add(layout.size() - 1), thread);
                    }
                    free((block, layout));
                }
            });
        }
    });
}
