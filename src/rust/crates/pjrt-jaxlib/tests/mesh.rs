//! Several processes: this test's own program is started once more for each of them.
#![cfg(unix)]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call of the C library is one"
)]
mod common;
use common::several::*;
use common::*;
use pjrt_api::*;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "XLAFFI_TEST_ROLE";

fn text_option(name: &'static str, value: &str) -> PJRT_NamedValue {
    let value: &'static str = Box::leak(value.to_owned().into_boxed_str());
    let mut option = int_option(name, 0);
    option.r#type = PJRT_NamedValue_Type::kString;
    option.value.string_value = value.as_ptr().cast();
    option.value_size = value.len();
    option
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// One process: what to do, its number, how many there are, the port.
fn start(what: &str, process: usize, processes: usize, port: u16) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["one_of_several", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, format!("{what} {process} {processes} {port}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Its output; a process that hangs is ended.
fn end(mut child: Child, limit: Duration) -> Output {
    let deadline = Instant::now() + limit;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            panic!("a process hangs: {output:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

/// The lines that processes printed for us.
fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.split_once("mesh: "));
    lines.map(|(_, said)| said.to_owned()).collect()
}

fn run(what: &str, processes: usize) -> Vec<Vec<String>> {
    let port = free_port();
    let children: Vec<Child> = (0..processes)
        .map(|process| start(what, process, processes, port))
        .collect();
    children
        .into_iter()
        .map(|child| {
            let output = end(child, Duration::from_secs(60));
            assert!(output.status.success(), "{output:?}");
            said(&output)
        })
        .collect()
}

/// The sum over all devices.
fn sum(devices: usize) -> String {
    let groups: Vec<String> = (0..devices).map(|i| i.to_string()).collect();
    format!(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = \"stablehlo.all_reduce\"(%x) <{{replica_groups = dense<[[{}]]> : tensor<1x{devices}xi64>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}",
        groups.join(",")
    )
}

fn say(what: impl std::fmt::Display) {
    println!("mesh: {what}");
}

fn client_of(
    process: usize,
    processes: usize,
    port: &str,
    devices: usize,
) -> Answer<*mut PJRT_Client> {
    new_client(&[
        int_option("cpu_device_count", devices as i64),
        text_option("coordinator_address", &format!("127.0.0.1:{port}")),
        int_option("num_nodes", processes as i64),
        int_option("node_id", process as i64),
        int_option("startup_timeout", 20),
        int_option("heartbeat_timeout", 5),
        int_option("collective_timeout", 30),
    ])
}

#[test]
#[ignore = "a process of the other tests"]
fn one_of_several() {
    let role = std::env::var(ROLE).expect("set by who starts the process");
    let role: Vec<&str> = role.split(' ').collect();
    let number = |i: usize| role[i].parse::<usize>().unwrap();
    let (what, process, processes, port) = (role[0], number(1), number(2), role[3]);
    let of_each = if what == "two" { 2 } else { 1 };
    find_python();
    let client = match client_of(process, processes, port, of_each) {
        Ok(client) => client,
        Err(failure) => return say(format!("{:?} {}", failure.code, failure.message)),
    };
    let again = client_of(process, processes, port, of_each).unwrap_err();
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
fn who_cannot_take_part_is_told() {
    let port = free_port();
    let zero = start("sum", 0, 3, port);
    let one = start("sum", 1, 3, port);
    let said_by = |child| said(&end(child, Duration::from_secs(60))).remove(0);
    let other_size = said_by(start("sum", 1, 2, port));
    assert!(
        other_size.contains("was told of 2 processes, the coordinator of 3"),
        "{other_size}"
    );
    let other_zero = said_by(start("sum", 0, 3, port));
    assert!(other_zero.contains("cannot listen"), "{other_zero}");
    // The first one of that number may have come before the one with the other size, or after it.
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
