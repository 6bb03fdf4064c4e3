//! Round trips leave nothing behind. Alone in its process, so that nothing else allocates. The
//! example `cycle` does the same with any number of round trips.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use pjrt::*;

/// Resident memory in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn round_trips_leave_memory_flat() {
    let client = client();
    let executable = compile(client, ADD);
    let cycle = || {
        let x = upload(client, &[1.0; 6], &[2, 3], DType::F32);
        let y = upload(client, &[2.0; 6], &[2, 3], DType::F32);
        let out = executable.execute(&[&x, &y], &ExecuteOptions::default());
        assert_eq!(read(&out.unwrap()[0]).unwrap(), [3.0; 6]);
        assert!(executable
            .execute(&[&x], &ExecuteOptions::default())
            .is_err());
    };
    (0..1000).for_each(|_| cycle());
    let before = resident();
    (0..10_000).for_each(|_| cycle());
    let grown = resident().saturating_sub(before);
    // One lost object of 50 bytes a cycle would be 500 KiB.
    assert!(grown < 400, "grew by {grown} KiB");
}
