//! Kernels that come as PTX and are loaded one by one, each with the functions and tables that it needs: the special
//! functions, of which the driver compiles one in up to a second and all of them in minutes.

use crate::kernels::started;
use crate::modules::{module, Kernel};
use crate::Cuda;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use xla_ffi::{Error, Result};

/// Made by `tools/cuda/special.py`.
static SPECIAL: &str = include_str!("kernels/generated/special.ptx");

/// PTX, taken apart.
struct Text {
    /// What every module begins with.
    head: String,
    /// Declarations, functions, kernels and tables, in their order.
    items: Vec<&'static str>,
    /// Those of a name: the declaration of a function and the function itself.
    places: HashMap<&'static str, Vec<usize>>,
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words of PTX that can be names.
fn words(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split(|c| !is_part_of_name(c))
        .filter(|word| !word.is_empty())
}

/// The name of what an item says.
fn name_of(item: &'static str) -> Option<&'static str> {
    let first = item.lines().next()?;
    if first.starts_with(".global") {
        return words(first.split('[').next()?).last();
    }
    let after = match first.strip_prefix(".func ") {
        // A result stands in parentheses before the name.
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => first.strip_prefix(".visible .entry ")?,
    };
    words(after).next()
}

/// How many lines the first item of `lines` has: one of a table; else up to a `;` or the last brace, each in a line of
/// its own.
fn item_length(lines: &[&str]) -> usize {
    if lines[0].starts_with(".global") {
        return 1;
    }
    let mut depth = 0;
    for (i, line) in lines.iter().enumerate() {
        match *line {
            "{" => depth += 1,
            "}" if depth == 1 => return i + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return i + 1,
            _ => {}
        }
    }
    lines.len()
}

impl Text {
    fn new(ptx: &'static str) -> Self {
        let lines: Vec<&str> = ptx.lines().collect();
        let is_head = |line: &&str| !line.starts_with(".global") && !line.starts_with(".func");
        let (mut at, mut items) = (
            lines.iter().take_while(|line| is_head(line)).count(),
            Vec::new(),
        );
        let head = lines[..at].join("\n");
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        // Lines are parts of one text, so what is between two of them is, too.
        let offset = |line: &str| line.as_ptr() as usize - ptx.as_ptr() as usize;
        while at < lines.len() {
            let end = at + item_length(&lines[at..]);
            let last = lines[end - 1];
            let item = &ptx[offset(lines[at])..offset(last) + last.len()];
            if let Some(name) = name_of(item) {
                places.entry(name).or_default().push(items.len());
            }
            items.push(item);
            at = end;
        }
        Self {
            head,
            items,
            places,
        }
    }

    /// The module with one kernel, ending in NUL; `None` where there is no such kernel.
    fn module(&self, kernel: &str) -> Option<String> {
        let (mut needed, mut open) = (HashSet::new(), self.places.get(kernel)?.clone());
        while let Some(place) = open.pop() {
            if needed.insert(place) {
                let named = words(self.items[place]).filter_map(|word| self.places.get(word));
                open.extend(named.flatten());
            }
        }
        let items = self.items.iter().enumerate();
        let items = items.filter(|(place, _)| needed.contains(place));
        let parts: Vec<&str> = [self.head.as_str()]
            .into_iter()
            .chain(items.map(|(_, item)| *item))
            .collect();
        Some(parts.join("\n") + "\n\0")
    }
}

fn special() -> &'static Text {
    static TEXT: OnceLock<Text> = OnceLock::new();
    TEXT.get_or_init(|| Text::new(SPECIAL))
}

/// Threads of a block: with the most registers that a thread can have, a block fits.
const BLOCK: usize = 128;

/// Runs the kernel of a special function, `lgamma_f64`, over `count` elements. Arguments are the addresses of its
/// arguments and of the values, and `count`.
///
/// # Errors
/// There is no such kernel, or the driver cannot compile it; the driver's.
///
/// # Safety
/// The kernel has `N` parameters, and what it reads and writes with these arguments is memory that this call has.
pub(crate) unsafe fn launch<const N: usize>(
    cuda: &Cuda,
    kernel: &str,
    count: usize,
    arguments: [u64; N],
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let unknown = || Error::internal(format!("there is no kernel `{kernel}`"));
    let (&name, _) = special().places.get_key_value(kernel).ok_or_else(unknown)?;
    // The kernels stride over what a grid does not reach.
    let grid = count.div_ceil(BLOCK).min(1 << 20) as u32;
    let load = |driver: &_| {
        let image = special().module(name).ok_or_else(unknown)?;
        module(driver, image.as_ptr().cast())
    };
    let kernel = Kernel {
        name,
        module: name,
        load: &load,
        ptx: None,
    };
    let sizes = ([grid, 1], [BLOCK as u32, 1], 0);
    // SAFETY: as promised.
    unsafe { started(cuda, &kernel, sizes, arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => files(&path, found),
                false => found.push(path),
            }
        }
    }

    #[test]
    fn the_ptx_is_of_these_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
        let tools = root.join("tools/cuda/special");
        if !tools.exists() {
            return; // a package's sources, without tools
        }
        let mut sources = Vec::new();
        files(&root.join("src/rust/crates/special/src"), &mut sources);
        sources.sort();
        sources.extend(["Cargo.toml", "build.rs", "src/lib.rs"].map(|name| tools.join(name)));
        let bytes: Vec<u8> = sources
            .iter()
            .flat_map(|file| fs::read(file).expect("a file"))
            .collect();
        let mark = format!(
            "// of sources with the checksum {:08x}\n",
            crate::kernels::checksum(&bytes)
        );
        assert!(SPECIAL.starts_with(&mark), "run tools/cuda/special.py");
    }

    /// The driver gives a kernel as much stack as its functions need, which it cannot know of one that calls itself.
    #[test]
    fn no_function_calls_itself() {
        let text = special();
        let called = |name: &'static str| {
            let items = text.places[name].iter().map(|&place| text.items[place]);
            let named = items.flat_map(words).filter(move |word| *word != name);
            named
                .filter(|word| text.places.contains_key(word))
                .collect::<HashSet<_>>()
        };
        for (&name, places) in &text.places {
            let body = places.iter().flat_map(|&place| text.items[place].lines());
            let mut calls = body.filter(|line| line.starts_with("call"));
            assert!(
                calls.all(|line| words(line).all(|word| word != name)),
                "{name}"
            );
        }
        // What nothing that is left calls is taken away; a circle stays.
        let mut left: HashMap<_, _> = text
            .places
            .keys()
            .map(|&name| (name, called(name)))
            .collect();
        while !left.is_empty() {
            let some: HashSet<_> = left.values().flatten().copied().collect();
            let before = left.len();
            left.retain(|name, _| some.contains(name));
            assert!(left.len() < before, "{:?}", left.keys());
        }
    }

    #[test]
    fn a_module_has_all_that_its_kernel_names_and_nothing_else() {
        let text = special();
        assert!(text.items.iter().all(|item| name_of(item).is_some()));
        let kernels: Vec<_> = text
            .places
            .keys()
            .filter(|name| name.ends_with("_f64") || name.ends_with("_f32"))
            .collect();
        assert!(kernels.len() > 140, "{} kernels", kernels.len());
        for kernel in kernels.into_iter().step_by(11) {
            let module = text.module(kernel).expect("a module");
            assert!(module.starts_with("// of sources") && module.contains("\n.target sm_"));
            assert_eq!(module.matches(".visible .entry").count(), 1, "{kernel}");
            assert!(
                module.contains(&format!(".visible .entry {kernel}(")),
                "{kernel}"
            );
            assert_eq!(
                module.matches('{').count(),
                module.matches('}').count(),
                "{kernel}"
            );
            // Each function that is called has a body, which ends the module's words of that name.
            for name in text.places.keys().filter(|name| name.starts_with("q_")) {
                let whole = |at: usize| !module[at + name.len()..].starts_with(is_part_of_name);
                if module.match_indices(name).any(|(at, _)| whole(at)) {
                    let bodies = text.places[name]
                        .iter()
                        .filter(|&&place| module.contains(text.items[place]));
                    assert_eq!(bodies.count(), text.places[name].len(), "{kernel}: {name}");
                }
            }
        }
        let small = text.module("erf_f64").expect("a module");
        assert!(small.len() < SPECIAL.len() / 10, "{} bytes", small.len());
        assert!(text.module("no_such_f64").is_none());
    }
}
