//! Several processes: a test's own program is started once more for each of them, to run `one_of_several`.
#![allow(dead_code, reason = "not every file of tests uses all")]

use super::*;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

const ROLE: &str = "XLAFFI_TEST_ROLE";

pub fn text_option(name: &'static str, value: &str) -> PJRT_NamedValue {
    let value: &'static str = Box::leak(value.to_owned().into_boxed_str());
    let mut option = int_option(name, 0);
    option.r#type = PJRT_NamedValue_Type::kString;
    option.value.string_value = value.as_ptr().cast();
    option.value_size = value.len();
    option
}

/// A port of the loopback where nobody listens, below those from which the system takes one for a connection: another
/// test's could have it before a process of this one listens there.
pub fn free_port() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    const PORTS: std::ops::Range<u16> = 20_000..32_000;
    let count = PORTS.end - PORTS.start;
    let first = (std::process::id() % u32::from(count)) as u16;
    (0..count)
        .map(|_| PORTS.start + (first + TRIED.fetch_add(1, Ordering::Relaxed) % count) % count)
        .find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok())
        .expect("no port of the loopback is free")
}

/// One process: what to do, its number, how many there are, the port.
pub fn start(what: &str, process: usize, processes: usize, port: u16) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["one_of_several", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, format!("{what} {process} {processes} {port}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Its output; a process that hangs is ended.
pub fn end(mut child: Child, limit: Duration) -> Output {
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
pub fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.split_once("mesh: "));
    lines.map(|(_, said)| said.to_owned()).collect()
}

pub fn run(what: &str, processes: usize) -> Vec<Vec<String>> {
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
pub fn sum(devices: usize) -> String {
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

pub fn say(what: impl std::fmt::Display) {
    println!("mesh: {what}");
}

pub fn client_of(
    process: usize,
    processes: usize,
    port: &str,
    devices: usize,
) -> Answer<*mut PJRT_Client> {
    client_with(process, processes, port, devices, &[])
}

pub fn client_with(
    process: usize,
    processes: usize,
    port: &str,
    devices: usize,
    more: &[PJRT_NamedValue],
) -> Answer<*mut PJRT_Client> {
    let options = [
        int_option("cpu_device_count", devices as i64),
        text_option("coordinator_address", &format!("127.0.0.1:{port}")),
        int_option("num_nodes", processes as i64),
        int_option("node_id", process as i64),
        int_option("startup_timeout", 20),
        int_option("heartbeat_timeout", 5),
        int_option("collective_timeout", 30),
    ];
    new_client(&[&options, more].concat())
}

/// What this process is to do, its number, how many there are, the port.
pub fn role() -> (String, usize, usize, String) {
    let role = std::env::var(ROLE).expect("set by who starts the process");
    let role: Vec<&str> = role.split(' ').collect();
    let number = |i: usize| role[i].parse::<usize>().unwrap();
    (role[0].to_owned(), number(1), number(2), role[3].to_owned())
}
