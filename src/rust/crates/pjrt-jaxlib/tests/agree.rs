//! Processes that launch different programs, or in another order, are told before anything is exchanged.
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

/// The sum over both devices of `n` numbers, times a factor.
fn scaled(n: usize, factor: f32) -> String {
    let ty = format!("tensor<{n}xf32>");
    let sum = sum(2).replace("tensor<2xf32>", &ty);
    let product = format!(
        "%f = stablehlo.constant dense<{factor:?}> : {ty}\n  %1 = stablehlo.multiply %0, %f : {ty}\n  return %1 :"
    );
    sum.replace("return %0 :", &product)
}

fn doubled(factor: f32) -> String {
    format!(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %f = stablehlo.constant dense<{factor:?}> : tensor<2xf32>
  %0 = stablehlo.multiply %x, %f : tensor<2xf32>
  return %0 : tensor<2xf32>
}}"
    )
}

struct Process {
    client: *mut PJRT_Client,
    number: usize,
}

impl Process {
    fn compile(&self, code: &str) -> *mut PJRT_LoadedExecutable {
        compile_over(self.client, code, Over::replicas(2))
    }

    /// Two programs in turn, one over the first two of three processes; in the end two processes launch different ones, each
    /// of which came after itself before.
    fn cross(&self) {
        let three = compile_over(self.client, &sum(3), Over::replicas(3));
        let two = (self.number < 2).then(|| self.compile(&sum(2)));
        for _ in 0..3 {
            if let Some(two) = two {
                self.run(two, 2);
            }
            self.run(three, 2);
        }
        match (self.number, two) {
            (0, Some(two)) => self.run(two, 2),
            _ => self.run(three, 2),
        }
    }

    /// Says what comes of a program for numbers that are all 1 more than that of the process.
    fn run(&self, program: *mut PJRT_LoadedExecutable, n: usize) {
        let x = f32s_on(
            self.client,
            0,
            &[n as i64],
            &vec![self.number as f32 + 1.; n],
        );
        match execute_over(program, &[vec![x]]) {
            Ok(results) => say(read::<f32>(results[0][0]).unwrap()[0]),
            Err(failure) => say(format!("{:?} {}", failure.code, failure.message)),
        }
    }

    /// The same program from several threads.
    fn run_on_threads(&self, program: *mut PJRT_LoadedExecutable) {
        // In which order threads launch is not said: all launch the same.
        std::thread::scope(|scope| {
            let process = (self.client as usize, self.number, program as usize);
            for _ in 0..4 {
                scope.spawn(move || {
                    let (client, number, program) = process;
                    let client = client as *mut PJRT_Client;
                    let process = Process { client, number };
                    for _ in 0..20 {
                        process.run(program as *mut PJRT_LoadedExecutable, 2);
                    }
                });
            }
        });
    }
}

/// Says which scheduling policies this process's threads have.
#[cfg(target_os = "linux")]
fn say_policies() {
    // Fields of stat after the name, from the state on; the policy is number 41 of all.
    let policy = |task: std::path::PathBuf| {
        let stat = std::fs::read_to_string(task.join("stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(41 - 3)?.parse::<i32>().ok()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let policies = tasks.filter_map(|task| policy(task.unwrap().path()));
    let (batch, other): (Vec<_>, Vec<_>) = policies.partition(|p| *p == libc::SCHED_BATCH);
    say(!batch.is_empty());
    say(other.contains(&libc::SCHED_OTHER));
    say(policy("/proc/thread-self".into()) == Some(libc::SCHED_OTHER));
}

#[test]
#[ignore = "a process of the other tests"]
fn one_of_several() {
    let (what, number, processes, port) = role();
    find_python();
    let is_other = what == "jobs" && number == 1;
    let job = text_option("job_name", if is_other { "b" } else { "a" });
    // Who is refused makes the other one wait in vain, which is what that test wants to see soon.
    let startup = if what == "jobs" { 3 } else { 20 };
    let options = [job, int_option("startup_timeout", startup)];
    let client = match client_with(number, processes, &port, 1, &options[..]) {
        Ok(client) => client,
        Err(failure) => return say(format!("{:?} {}", failure.code, failure.message)),
    };
    let process = Process { client, number };
    if what == "crossed" {
        process.cross();
        return say("through");
    }
    let (small, large) = (process.compile(&sum(2)), process.compile(&scaled(800, 1.)));
    let other = process.compile(&scaled(2, [2., 3.][number]));
    match &what[..] {
        "program" => {
            process.run(small, 2);
            process.run(other, 2);
        }
        "order" => {
            for _ in 0..3 {
                process.run(small, 2);
                process.run(large, 800);
            }
            match number {
                0 => process.run(small, 2),
                _ => process.run(large, 800),
            }
        }
        "before" => {
            process.run(small, 2);
            process.run(process.compile(&doubled([2., 3.][number])), 2);
            process.run(small, 2);
        }
        "left" => {
            process.run(small, 2);
            if number == 0 {
                pjrt_jaxlib::mesh::leave();
            } else {
                while !pjrt_jaxlib::mesh::status().unwrap().processes[0].has_left {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
            }
            process.run(large, 800);
        }
        "loaded" => {
            let same = match number {
                0 => deserialized(client, &serialized(small)),
                _ => small,
            };
            process.run(same, 2);
            process.run(small, 2);
        }
        "children" => {
            process.run(small, 2);
            say(sockets_of_a_child());
        }
        #[cfg(target_os = "linux")]
        "policies" => {
            process.run(small, 2);
            say_policies();
        }
        "threads" => {
            process.run_on_threads(small);
        }
        _ => unreachable!("{what}"),
    }
    say("through");
}

fn ends_with_different_programs(said: &[String], before: usize, expected: &str) {
    assert_eq!(said.len(), before + 2, "{said:?}");
    let error = &said[before];
    assert!(error.starts_with("PJRT_Error_Code(14)"), "{said:?}");
    assert!(error.contains(expected), "{said:?}");
    assert!(
        error.contains("all processes must launch the same programs in the same order"),
        "{said:?}"
    );
}

#[test]
fn different_programs_of_the_same_shapes_are_reported() {
    for said in run("program", 2) {
        assert_eq!(said[0], "3");
        let expected = "of (f32[2]) -> (f32[2]), process";
        ends_with_different_programs(&said, 1, expected);
    }
}

#[test]
fn known_programs_in_another_order_are_reported() {
    for said in run("order", 2) {
        assert!(said.len() > 6 && said[..6] == ["3"; 6], "{said:?}");
        ends_with_different_programs(&said, 6, "one of (f32[");
    }
}

#[test]
fn who_waits_for_others_that_wait_elsewhere_is_reported() {
    for (process, said) in run("crossed", 3).iter().enumerate() {
        let before = if process < 2 { 6 } else { 3 };
        assert!(said[..before].iter().all(|said| said == "3" || said == "6"));
        ends_with_different_programs(said, before, "of (f32[2]) -> (f32[2]), process");
    }
}

#[test]
fn what_was_computed_by_different_programs_is_not_summed() {
    for said in run("before", 2) {
        assert_eq!(said[0], "3");
        ends_with_different_programs(&said, 2, "or has launched others before");
    }
}

#[test]
fn a_program_may_be_compiled_in_one_process_and_loaded_in_another() {
    for said in run("loaded", 2) {
        assert_eq!(said, ["3", "3", "through"]);
    }
}

#[test]
fn threads_of_a_process_launch_one_after_the_other() {
    for said in run("threads", 2) {
        assert_eq!(said.len(), 81, "{said:?}");
        assert!(said[..80].iter().all(|s| s == "3"), "{said:?}");
    }
}

#[test]
fn after_the_coordinator_has_left_nobody_waits_for_it() {
    let said = run("left", 2);
    assert!(said[0][1].contains("this process has left"), "{said:?}");
    let expected = "process 0, the coordinator, has left the mesh";
    assert!(said[1][1].contains(expected), "{said:?}");
}

#[test]
fn a_process_of_another_job_is_refused() {
    let said = run("jobs", 2);
    assert!(
        said[0][0].contains("process 1 of 2 has not come within 3 s"),
        "{said:?}"
    );
    let expected = "process 1 belongs to job `b`, the coordinator that listens there to job `a`";
    assert!(said[1][0].contains(expected), "{said:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn gloos_thread_gives_way_to_others() {
    for said in run("policies", 2) {
        assert_eq!(said, ["3", "true", "true", "true", "through"]);
    }
}

/// How many sockets a program has that this process starts.
#[cfg(target_os = "linux")]
fn sockets_of_a_child() -> String {
    let mut list = std::process::Command::new("ls");
    let child = list.args(["-l", "/proc/self/fd"]).output().unwrap();
    let open = String::from_utf8_lossy(&child.stdout);
    open.matches("socket:").count().to_string()
}

#[test]
#[cfg(target_os = "linux")]
fn children_get_no_connections() {
    // Those that this process was started with, and hands on, are none of the mesh's.
    let inherited = sockets_of_a_child();
    for said in run("children", 2) {
        assert_eq!(said, ["3", &inherited, "through"]);
    }
}
