//! Writes the kernels of the functions that `tools/cuda/special.py` names.

use std::fmt::Write;

fn main() {
    println!("cargo:rerun-if-env-changed=FUNCTIONS");
    let mut text = String::new();
    for line in std::env::var("FUNCTIONS").expect("FUNCTIONS").lines() {
        let (name, count) = line.split_once(' ').expect("a name and a number");
        let arguments = ["x", "y", "z"][..count.parse().expect("a number")].join(" ");
        for precision in ["f32", "f64"] {
            writeln!(text, "kernel!({name}_{precision}: {precision} \"{name}\" {arguments});").expect("memory");
        }
    }
    let folder = std::env::var("OUT_DIR").expect("OUT_DIR");
    std::fs::write(format!("{folder}/kernels.rs"), text).expect("a file");
}
