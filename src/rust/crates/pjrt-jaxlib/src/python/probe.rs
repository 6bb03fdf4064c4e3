//! Asking one interpreter, in a subprocess, what it has.

use super::subprocess::run;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long an interpreter may take to answer; a cold network file system needs seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// The oldest jaxlib that the plugin has been tested with. Older ones know other flags, and XLA ends a process for those.
const OLDEST_JAXLIB: (u32, u32) = (0, 10);
/// That jaxlib needs at least this Python.
const OLDEST: (u32, u32) = (3, 11);

/// Where an interpreter was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An environment variable.
    Variable(&'static str),
    /// The package's own virtual environment, made by `install_pjrt()`.
    OwnEnvironment,
    /// `python3` on the `PATH`.
    Path,
    /// The Python that runs in this process already.
    Running,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::OwnEnvironment => f.write_str("the package's own environment"),
            Self::Path => f.write_str("python3 on the PATH"),
            Self::Running => f.write_str("the Python in this process"),
        }
    }
}

/// One interpreter that was looked at.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where it was looked for.
    pub source: Source,
    /// Its executable.
    pub executable: Option<PathBuf>,
    /// Python's version, such as "3.11.7".
    pub version: Option<String>,
    /// Its shared library.
    pub library: Option<PathBuf>,
    /// Its folders of installed packages.
    pub sites: Vec<PathBuf>,
    /// Version of its jaxlib.
    pub jaxlib: Option<String>,
    /// Version of its numpy.
    pub numpy: Option<String>,
    /// Version of its ml_dtypes.
    pub ml_dtypes: Option<String>,
    /// Why it cannot be used; `None` where it can.
    pub problem: Option<String>,
}

impl Candidate {
    pub(super) fn new(source: Source, executable: Option<PathBuf>) -> Self {
        Self {
            source,
            executable,
            version: None,
            library: None,
            sites: Vec::new(),
            jaxlib: None,
            numpy: None,
            ml_dtypes: None,
            problem: None,
        }
    }

    /// "3.11" of "3.11.7".
    pub(crate) fn minor_version(&self) -> Option<&str> {
        let version = self.version.as_deref()?;
        version.rsplit_once('.').map(|(minor, _)| minor)
    }

    /// Place, file and problem in a few words.
    pub fn describe(&self) -> String {
        let file = match &self.executable {
            Some(path) => format!(" ({})", path.display()),
            None => String::new(),
        };
        let state = match (&self.problem, &self.jaxlib) {
            (Some(problem), _) => problem.clone(),
            (None, Some(version)) => format!("jaxlib {version}"),
            (None, None) => "usable".to_owned(),
        };
        format!("{}{file}: {state}", self.source)
    }
}

/// Asks the interpreter at `path` what it has.
pub(super) fn probe(source: Source, path: Option<PathBuf>) -> Candidate {
    let mut found = Candidate::new(source, path.clone());
    found.problem = match path {
        None => Some("not found".to_owned()),
        Some(path) if !path.is_file() => Some("no such file".to_owned()),
        Some(path) => match ask(&path, PATIENCE) {
            Err(problem) => Some(problem),
            Ok(answer) => read(&mut found, &answer).err(),
        },
    };
    found
}

/// Runs the probe and returns what it printed.
fn ask(path: &Path, patience: Duration) -> Result<String, String> {
    let probe = |command: &mut Command| {
        let (status, written) = run(command.args(["-c", include_str!("probe.py")]), patience)?;
        Ok::<_, String>((status, written.out))
    };
    let is_answer = |answer: &str| answer.starts_with("version=");
    let (status, answer) = probe(&mut Command::new(path))?;
    if is_answer(&answer) {
        return Ok(answer);
    }
    if let Some(home) = std::env::var_os("PYTHONHOME") {
        let (_, answer) = probe(Command::new(path).env_remove("PYTHONHOME"))?;
        if is_answer(&answer) {
            return Err(format!(
                "does not start with PYTHONHOME set to {}; unset it",
                home.to_string_lossy()
            ));
        }
    }
    Err(format!(
        "is not a Python interpreter (it ended with {status})"
    ))
}

/// XLA ends a process that gives it a flag it does not know. So flags that are set are first tried
/// in a process of their own; the error is what XLA says there.
pub(crate) fn try_flags(path: &Path) -> Result<(), String> {
    const TRY: &str = "from jaxlib import xla_client; xla_client.CompileOptions()";
    const ABOUT: &str = "XLA_FLAGS";
    if std::env::var_os(ABOUT).map_or(true, |flags| flags.is_empty()) {
        return Ok(());
    }
    let (status, reply) = run(Command::new(path).args(["-c", TRY]), PATIENCE)?;
    // A process that ends badly for another reason: what follows here will say it.
    match reply.err.lines().find(|line| line.contains(ABOUT)) {
        Some(line) if !status.success() => {
            let text = line.find("Unknown").map_or(line, |at| &line[at..]);
            Err(text.trim_end().to_owned())
        }
        _ => Ok(()),
    }
}

/// Takes the answer apart; the error says why this interpreter cannot be used.
fn read(found: &mut Candidate, answer: &str) -> Result<(), String> {
    let (mut bits, mut threads, mut shared, mut soname) = ("64", "gil", "", "");
    for (name, value) in answer.lines().filter_map(|line| line.split_once('=')) {
        let text = || Some(value.trim_end().to_owned());
        match name {
            "version" => found.version = text(),
            "executable" if !value.is_empty() => found.executable = text().map(PathBuf::from),
            "library" => found.library = text().map(PathBuf::from),
            "site" => found.sites.push(PathBuf::from(value.trim_end())),
            "jaxlib" => found.jaxlib = text(),
            "numpy" => found.numpy = text(),
            "ml_dtypes" => found.ml_dtypes = text(),
            "bits" => bits = value.trim_end(),
            "threads" => threads = value.trim_end(),
            "shared" => shared = value.trim_end(),
            "soname" => soname = value.trim_end(),
            _ => {}
        }
    }
    let version = found.version.clone().unwrap_or_default();
    let number = first_two(&version).unwrap_or((0, 0));
    if number < OLDEST {
        return Err(format!(
            "Python {version} is too old (needs {}.{})",
            OLDEST.0, OLDEST.1
        ));
    }
    if (bits == "32") != cfg!(target_pointer_width = "32") {
        return Err(format!("Python {version} is a {bits}-bit program"));
    }
    if threads == "free" {
        return Err(format!(
            "Python {version} is a free-threaded build, which is not supported"
        ));
    }
    for (name, value) in [
        ("jaxlib", &found.jaxlib),
        ("numpy", &found.numpy),
        ("ml_dtypes", &found.ml_dtypes),
    ] {
        if value.is_none() {
            return Err(format!("Python {version} has no {name}"));
        }
    }
    if let Some(old) = found.jaxlib.as_deref().and_then(old_jaxlib) {
        return Err(format!("Python {version} has {old}"));
    }
    if found.library.is_none() {
        return Err(if shared == "1" || cfg!(windows) {
            format!("Python {version} lacks its shared library {soname} (Debian: install libpython{}.{})", number.0, number.1)
        } else {
            format!("Python {version} is a static build (without --enable-shared), which cannot be embedded")
        });
    }
    Ok(())
}

/// What is wrong with a jaxlib of this version, where it is too old.
pub(crate) fn old_jaxlib(version: &str) -> Option<String> {
    let (major, minor) = OLDEST_JAXLIB;
    (first_two(version)? < OLDEST_JAXLIB)
        .then(|| format!("jaxlib {version}, which is too old (needs {major}.{minor})"))
}

/// (3, 11) of "3.11.7"; `None` of what begins with no two numbers.
fn first_two(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit());
        part[..end.unwrap_or(part.len())].parse().ok()
    });
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "version=3.11.7\nexecutable=/v/bin/python\nbits=64\nthreads=gil\nshared=1\n\
        soname=libpython3.11.so.1.0\nlibrary=/l/libpython3.11.so.1.0\nsite=/v/s\njaxlib=0.10.2\n\
        numpy=2.4.6\nml_dtypes=0.6.0\n";

    fn answer(text: &str) -> Result<(), String> {
        read(&mut Candidate::new(Source::Path, None), text)
    }

    #[test]
    fn a_good_answer_is_taken_apart() {
        let mut found = Candidate::new(Source::Path, None);
        assert_eq!(read(&mut found, GOOD), Ok(()));
        assert_eq!(found.minor_version(), Some("3.11"));
        assert_eq!(found.jaxlib.as_deref(), Some("0.10.2"));
        assert_eq!(found.sites, [PathBuf::from("/v/s")]);
    }

    #[test]
    fn every_defect_is_reported() {
        let cases = [
            (
                "version=3.11.7",
                "version=3.10.18",
                "Python 3.10.18 is too old (needs 3.11)",
            ),
            (
                "jaxlib=0.10.2",
                "jaxlib=0.9.2",
                "Python 3.11.7 has jaxlib 0.9.2, which is too old (needs 0.10)",
            ),
            ("bits=64", "bits=32", "32-bit program"),
            ("threads=gil", "threads=free", "free-threaded"),
            ("jaxlib=0.10.2\n", "", "has no jaxlib"),
            ("numpy=2.4.6\n", "", "has no numpy"),
            ("ml_dtypes=0.6.0\n", "", "has no ml_dtypes"),
            (
                "library=/l/libpython3.11.so.1.0\n",
                "",
                "lacks its shared library libpython3.11.so.1.0",
            ),
        ];
        for (from, to, want) in cases {
            let reply = answer(&GOOD.replace(from, to)).expect_err(want);
            assert!(reply.contains(want), "{reply}");
        }
        let static_build = GOOD
            .replace("library=/l/libpython3.11.so.1.0\n", "")
            .replace("shared=1", "shared=0");
        // Windows has none, whatever its Python says of how it was built.
        let want = ["static build", "lacks its shared library"][usize::from(cfg!(windows))];
        assert!(answer(&static_build).expect_err(want).contains(want));
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let old = |version: &str| old_jaxlib(version).is_some();
        assert!(["0.4.30", "0.9.99", "0.9rc1"].into_iter().all(old));
        for taken in ["0.10.0", "0.10rc1", "0.12.0.1", "1.0", "unknown", "", "0"] {
            assert!(!old(taken), "{taken}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_silent_program_is_not_waited_for_long() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("xlaffi-silent-{}", std::process::id()));
        std::fs::write(&path, "#!/bin/sh\nexec sleep 60\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
        let reply = ask(&path, Duration::from_millis(50)).expect_err("no answer");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(reply, "gave no answer within 0 s");
    }
}
