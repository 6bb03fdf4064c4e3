//! Prints the names of all functions, each with the number of its arguments, for `tools/cuda/special.py`.

fn main() {
    for name in special::names() {
        let arguments = special::function(name).map_or(0, |function| function.arity());
        println!("{name} {arguments}");
    }
}
