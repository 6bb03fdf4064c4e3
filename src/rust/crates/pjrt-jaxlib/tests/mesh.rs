//! Several processes compute together.
#![cfg(unix)]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call of the C library is one"
)]
mod common;
use common::processes::*;
use common::several::*;
use common::*;
use pjrt_api::*;
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

#[test]
#[ignore = "a process of the other tests"]
fn one_of_several() {
    let (what, process, processes, port) = role();
    let of_each = if what == "two" { 2 } else { 1 };
    find_python();
    // Process 0 listens where only process 1 looks for it.
    let elsewhere = format!("127.0.0.2:{port}");
    let more = match (&*what, process) {
        ("elsewhere", 0) => vec![text_option("bind_address", &elsewhere)],
        ("elsewhere", _) => vec![text_option("coordinator_address", &elsewhere)],
        _ => vec![],
    };
    let client = match client_with(process, processes, &port, of_each, &more) {
        Ok(client) => client,
        Err(failure) => return say(format!("{:?} {}", failure.code, failure.message)),
    };
    let again = client_of(process, processes, &port, of_each).unwrap_err();
    assert_eq!(again.code, PJRT_Error_Code::ALREADY_EXISTS, "{again:?}");
    let all = call!(PJRT_Client_Devices, PJRT_Client_Devices_Args { client }).unwrap();
    let devices = of_each * processes;
    assert_eq!(all.num_devices, devices);
    assert_eq!(common::devices(client).len(), of_each);
    let program = compile_over(client, &sum(devices), Over::replicas(devices));
    let arguments: Vec<_> = (0..of_each)
        .map(|d| {
            let x = (process * of_each + d) as f32;
            vec![f32s_on(client, d, &[2], &[x, 1.])]
        })
        .collect();
    for turn in 0..3 {
        if turn == 2 && what == format!("kill-{process}") {
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
        match execute_over(program, &arguments) {
            Ok(results) => {
                for result in results {
                    say(format!("{:?}", read::<f32>(result[0]).unwrap()));
                }
            }
            Err(failure) => say(format!("{:?} {}", failure.code, failure.message)),
        }
    }
    // What runs in this process alone goes on.
    let add = compile(client, ADD);
    let x = f32s(client, &[2, 3], &[1.; 6]);
    let y = execute(add, &[x, x]).unwrap()[0];
    assert_eq!(read::<f32>(y).unwrap(), [2.; 6]);
    pjrt_jaxlib::mesh::leave();
    say("left");
}

#[test]
fn processes_sum_what_each_has() {
    for said in run("sum", 2) {
        let sum = "[1.0, 2.0]";
        assert_eq!(said, [sum, sum, sum, "left"]);
    }
}

/// Other systems have no second address of the loopback.
#[test]
#[cfg(target_os = "linux")]
fn the_coordinator_may_listen_elsewhere_than_it_is_said_to() {
    for said in run("elsewhere", 2) {
        assert_eq!(said.len(), 4, "{said:?}");
    }
}

#[test]
fn two_devices_in_each_of_two_processes() {
    for said in run("two", 2) {
        assert_eq!(said.len(), 7, "{said:?}");
        assert!(said[..6].iter().all(|s| s == "[6.0, 4.0]"), "{said:?}");
    }
}

fn killed(victim: usize, processes: usize, expected: &str) {
    let port = free_port();
    let what = format!("kill-{victim}");
    let children: Vec<Child> = (0..processes)
        .map(|process| start(&what, process, processes, port))
        .collect();
    for (process, child) in children.into_iter().enumerate() {
        let output = end(child, Duration::from_secs(60));
        let said = said(&output);
        if process == victim {
            assert!(!output.status.success());
            continue;
        }
        assert!(output.status.success(), "{output:?}");
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[2].starts_with("PJRT_Error_Code(14)"), "{said:?}");
        assert!(said[2].contains(expected), "{said:?}");
        assert_eq!(said[3], "left");
    }
}

#[test]
fn a_process_that_is_killed_ends_what_the_others_wait_for() {
    killed(2, 4, "process 2 is gone");
}

#[test]
fn the_coordinator_that_is_killed_ends_what_the_others_wait_for() {
    killed(0, 3, "process 0, the coordinator, is gone");
}

#[test]
fn who_cannot_take_part_is_reported() {
    let port = free_port();
    let zero = start("sum", 0, 3, port);
    let limit = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < limit);
        std::thread::sleep(Duration::from_millis(20));
    }
    let one = start("sum", 1, 3, port);
    let said_by = |child| said(&end(child, Duration::from_secs(60))).remove(0);
    let other_zero = said_by(start("sum", 0, 3, port));
    assert!(other_zero.contains("cannot listen"), "{other_zero}");
    let mut twice = vec![one, start("sum", 1, 3, port)];
    let limit = Instant::now() + Duration::from_secs(30);
    let refused = loop {
        let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
        if let Some(place) = twice.iter_mut().position(ended) {
            break twice.remove(place);
        }
        assert!(Instant::now() < limit);
        std::thread::sleep(Duration::from_millis(20));
    };
    let refused = said_by(refused);
    assert!(refused.contains("process 1 is there already"), "{refused}");
    for child in [zero, twice.remove(0), start("sum", 2, 3, port)] {
        assert_eq!(said(&end(child, Duration::from_secs(60)))[3], "left");
    }
}

#[test]
fn where_one_is_told_another_number_of_processes_all_are_reported() {
    let port = free_port();
    for child in [start("sum", 0, 3, port), start("sum", 1, 2, port)] {
        // Long before the start has taken too long.
        let why = said(&end(child, Duration::from_secs(60))).remove(0);
        assert!(
            why.contains("process 1 was told of 2 processes, the coordinator of 3"),
            "{why}"
        );
    }
}
