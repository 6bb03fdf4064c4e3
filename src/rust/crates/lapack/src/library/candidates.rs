//! Where a LAPACK is looked for, the best place first.

use super::loaded::Loaded;
use crate::error::VARIABLE;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The words that [`VARIABLE`] may have, and what they mean.
const PLACES: [(&str, &str); 5] = [
    ("scipy", "beside jaxlib"),
    ("mkl", "MKL"),
    ("openblas", "the system's OpenBLAS"),
    ("accelerate", "Accelerate"),
    ("r", "R's"),
];

/// What a program without R is linked to, in R's place.
const PLAIN_PLACE: &str = "the system's";

#[cfg(windows)]
const MKL: &[&str] = &["mkl_rt.3.dll", "mkl_rt.2.dll", "mkl_rt.1.dll"];
#[cfg(windows)]
const OPENBLAS: &[&str] = &["libopenblas.dll"];
#[cfg(target_os = "macos")]
const MKL: &[&str] = &["libmkl_rt.2.dylib", "libmkl_rt.1.dylib"];
#[cfg(target_os = "macos")]
const OPENBLAS: &[&str] = &[
    "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
    "/usr/local/opt/openblas/lib/libopenblas.dylib",
];
#[cfg(not(any(windows, target_os = "macos")))]
const MKL: &[&str] = &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1"];
#[cfg(not(any(windows, target_os = "macos")))]
const OPENBLAS: &[&str] = &["libopenblas.so.0"];

#[cfg(target_os = "macos")]
const ACCELERATE: &[&str] = &["/System/Library/Frameworks/Accelerate.framework/Accelerate"];
#[cfg(not(target_os = "macos"))]
const ACCELERATE: &[&str] = &[];

#[cfg(any(windows, target_os = "macos"))]
const PLAIN: &[&str] = &[];
#[cfg(not(any(windows, target_os = "macos")))]
const PLAIN: &[&str] = &["liblapack.so.3"];

/// Tells Python's folders of packages.
pub type Sites = fn() -> Vec<PathBuf>;

static SITES: OnceLock<Sites> = OnceLock::new();

/// Has `sites` asked, when a LAPACK is looked for, where the packages of the jaxlib in use are. What
/// is said first stands.
pub fn look_in(sites: Sites) {
    SITES.get_or_init(|| sites);
}

/// What to look for.
pub(super) struct Search {
    asked: Option<OsString>,
    sites: Vec<PathBuf>,
}

/// A library that may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub place: &'static str,
    way: Way,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// A file that is there or was asked for.
    File(PathBuf),
    /// A name that the system may know.
    Name(&'static str),
    /// What R is linked to.
    Linked,
}

impl Search {
    /// As the environment says now.
    pub(super) fn from_environment() -> Self {
        let asked = std::env::var_os(VARIABLE).filter(|asked| !asked.is_empty());
        Search {
            asked,
            sites: SITES.get().map_or_else(Vec::new, |sites| sites()),
        }
    }

    /// What the variable asks for.
    pub(super) fn asked(&self) -> Option<&str> {
        self.asked
            .as_deref()
            .map(|asked| asked.to_str().unwrap_or("a file"))
    }

    /// In the order in which they are tried; of the place that the variable names, if it does.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let asked = match &self.asked {
            None => None,
            Some(asked) => match PLACES.iter().find(|(word, _)| asked == word) {
                None => {
                    return vec![Candidate {
                        place: VARIABLE,
                        way: Way::File(asked.into()),
                    }]
                }
                Some((_, place)) => Some(*place),
            },
        };
        let [(_, beside), (_, mkl), (_, openblas), (_, accelerate), (_, r)] = PLACES;
        let of = |place, ways: Vec<Way>| ways.into_iter().map(move |way| Candidate { place, way });
        let names = |names: &[&'static str]| names.iter().copied().map(Way::Name).collect();
        let files = |find: fn(&Path) -> Vec<PathBuf>| {
            let found = self.sites.iter().flat_map(|site| find(site));
            found.map(Way::File).collect::<Vec<_>>()
        };
        of(beside, files(wheels))
            .chain(of(mkl, files(mkl_beside)))
            .chain(of(mkl, names(MKL)))
            .chain(of(openblas, names(OPENBLAS)))
            .chain(of(accelerate, names(ACCELERATE)))
            .chain(of(r, vec![Way::Linked]))
            .chain(of(PLAIN_PLACE, names(PLAIN)))
            .filter(|candidate| {
                let place = candidate.place;
                asked.map_or(true, |asked| {
                    place == asked || asked == r && place == PLAIN_PLACE
                })
            })
            .collect()
    }
}

impl Candidate {
    /// Loads it and tells its path; nothing where the system does not know its name.
    pub(super) fn open(&self) -> Option<(String, Result<Loaded, String>)> {
        match &self.way {
            Way::File(path) => Some((path.display().to_string(), Loaded::open(path))),
            Way::Name(name) => {
                let loaded = Loaded::open(Path::new(name)).ok()?;
                Some((
                    loaded.path().unwrap_or_else(|| (*name).to_owned()),
                    Ok(loaded),
                ))
            }
            Way::Linked => {
                let loaded = Loaded::linked()?;
                let path = loaded.path().unwrap_or_else(|| "linked".to_owned());
                Some((path, Ok(loaded)))
            }
        }
    }
}

/// OpenBLAS in a folder of Python's packages: made to be linked by others, or SciPy's own.
fn wheels(site: &Path) -> Vec<PathBuf> {
    let made = [
        "libscipy_openblas.so",
        "libscipy_openblas.dylib",
        "libscipy_openblas.dll",
    ];
    let made = made
        .iter()
        .map(|name| site.join("scipy_openblas32/lib").join(name));
    let own = ["scipy.libs", "scipy/.dylibs", "numpy.libs", "numpy/.dylibs"];
    let own = own.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(site.join(folder)).into_iter().flatten();
        let files = entries.flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = files.filter(|path| is_openblas(path)).collect();
        files.sort_unstable();
        files
    });
    made.filter(|path| path.exists()).chain(own).collect()
}

fn is_openblas(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("libscipy_openblas"))
}

/// MKL of the Python that has the packages: `lib/libmkl_rt.so.2` beside `lib/python3.11`.
fn mkl_beside(site: &Path) -> Vec<PathBuf> {
    let folders = [site.join("../.."), site.join("../../Library/bin")];
    let files = MKL
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.filter(|path| path.exists()).collect()
}
