//! Mutated call frames through every handler for the CPU: each call is refused with an error, or its
//! results are right; nothing but results is written, nothing panics, crashes or hangs.
//!
//! Calls that handlers accept are learnt first (`learn`), then mutated within what a broken program
//! can hand over (`mutate`), and made in memory with guards (`call`). A run is the same each time.
//! `XLAFFI_FUZZ_SECONDS` makes it longer, `XLAFFI_FUZZ_SEED` another one; a frame that fails is told
//! as `XLAFFI_FUZZ_FRAME=seed:number`, which makes that one alone.

mod attributes;
mod call;
mod lay;
mod learn;
mod mutate;
mod rng;
mod watched;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use call::{make, Arena, Hosts, Spec};
use learn::Template;
use rng::Rng;
use xla_ffi::Code;

const FRAMES: u64 = if cfg!(debug_assertions) { 3000 } else { 20_000 };
/// No frame takes that long.
const HANG: Duration = Duration::from_secs(60);
const WORKER: &str = "XLAFFI_FUZZ_WORKER";
const ONE: &str = "XLAFFI_FUZZ_FRAME";

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}

struct Fuzzer {
    hosts: Hosts,
    arena: Arena,
    templates: Vec<Template>,
}

impl Fuzzer {
    fn new() -> Self {
        ops::print::queue_output(true);
        let (mut hosts, mut arena) = (Hosts::new(), Arena::new());
        let templates = learn::templates(&mut hosts, &mut arena);
        Fuzzer {
            hosts,
            arena,
            templates,
        }
    }

    /// Makes one frame; whether its handler accepted it.
    fn frame(&mut self, seed: u64, at: u64) -> bool {
        let mut rng = Rng::of(seed, at);
        let Template {
            target,
            handler,
            spec: original,
        } = &self.templates[rng.below(self.templates.len())];
        let mut spec = original.clone();
        let same = mutate::mutate(&mut spec, &mut rng);
        let mut run = |spec: &Spec| make(spec, *handler, &mut self.hosts, &mut self.arena, at);
        let answer = run(&spec);
        match &answer {
            Err(failure) => {
                let known = [
                    Code::InvalidArgument,
                    Code::FailedPrecondition,
                    Code::ResourceExhausted,
                    Code::Unimplemented,
                ];
                let message = &failure.message;
                let of_the_host = ["is a null pointer", "no memory", "not aligned"];
                let fine = known.contains(&failure.code)
                    || (failure.code == Code::Internal
                        && of_the_host.iter().any(|fault| message.contains(fault)));
                assert!(
                    fine && !message.contains("panicked"),
                    "{target}: {failure}\n{spec:?}"
                );
                assert!(message.starts_with(target), "{target}: {failure}");
            }
            Ok(results) if same => {
                // In place or from an older XLA: the results of the call that it was made of.
                let expected = run(original).expect("it was accepted");
                assert!(*results == expected, "{target}: other results\n{spec:?}");
            }
            Ok(_) => {}
        }
        if at % 64 == 0 {
            ops::print::drain();
        }
        answer.is_ok()
    }
}

/// Makes frames until the time is up, and tells how far it is on standard output.
fn work(seed: u64) {
    let mut fuzzer = Fuzzer::new();
    let seconds = number("XLAFFI_FUZZ_SECONDS").map(Duration::from_secs);
    let (start, mut accepted) = (Instant::now(), 0u64);
    let mut at = 0;
    while seconds.map_or(at < FRAMES, |limit| start.elapsed() < limit) {
        println!("frame {seed}:{at}");
        for _ in 0..100 {
            accepted += u64::from(fuzzer.frame(seed, at));
            at += 1;
        }
    }
    println!("made {at} {accepted} {}", fuzzer.templates.len());
}

#[test]
fn mutated_frames_are_refused_or_right() {
    let name = "mutated_frames_are_refused_or_right";
    if let Ok(frame) = std::env::var(ONE) {
        let (seed, at) = frame.split_once(':').expect("seed:number");
        let (seed, at) = (
            seed.parse().expect("a number"),
            at.parse().expect("a number"),
        );
        let mut fuzzer = Fuzzer::new();
        for at in at..at + 100 {
            eprintln!("{seed}:{at}");
            fuzzer.frame(seed, at);
        }
        return;
    }
    let seed = number("XLAFFI_FUZZ_SEED").unwrap_or(1);
    if std::env::var_os(WORKER).is_some() {
        return work(seed);
    }
    // In a process of its own, which may crash or hang.
    let exe = std::env::current_exe().expect("the path of this test");
    let mut child = Command::new(exe)
        .args(["--exact", name, "--nocapture"])
        .env(WORKER, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut errors = child.stderr.take().expect("a pipe");
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).map(|_| text)
    });
    let alive = Arc::new(AtomicU64::new(0));
    let (seen, process) = (Arc::clone(&alive), child.id());
    let reader = std::thread::spawn(move || {
        let (mut last, mut made) = (String::new(), None);
        for line in lines.lines().map_while(Result::ok) {
            seen.fetch_add(1, Ordering::Relaxed);
            if let Some(frame) = line.strip_prefix("frame ") {
                frame.clone_into(&mut last);
            } else if let Some(text) = line.strip_prefix("made ") {
                made = Some(text.to_owned());
            }
        }
        (last, made)
    });
    let (mut before, mut since) = (0, Instant::now());
    while !reader.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        let now = alive.load(Ordering::Relaxed);
        if now != before {
            (before, since) = (now, Instant::now());
        } else if since.elapsed() > HANG {
            eprintln!("process {process} hangs");
            child.kill().expect("it can be ended");
        }
    }
    let (last, made) = reader.join().expect("no panic");
    let status = child.wait().expect("its status");
    let message = complaints.join().expect("no panic").unwrap_or_default();
    let Some(made) = made.filter(|_| status.success()) else {
        panic!("{status}; run {ONE}={last} alone:\n{message}");
    };
    println!("frames, accepted, calls that were mutated: {made}");
}
