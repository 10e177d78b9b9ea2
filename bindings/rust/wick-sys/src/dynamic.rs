//! Opening the library at run time.

use crate::Table;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}
const RTLD_NOW: c_int = 2;

/// Why the library could not be loaded.
#[derive(Clone, Debug)]
pub struct LoadError(String);

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

static TABLE: OnceLock<Table> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// Opens the library for the whole process: `path`, or without one what the environment's `WICK_LIB` names, or else
/// `libwick.so.0` and `libwick.so` where the system looks for libraries. Does nothing when it is open already. The
/// error names each file that was tried and why it failed, or a function that the library lacks.
pub fn load(path: Option<&Path>) -> Result<(), LoadError> {
    let _guard = LOADING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if TABLE.get().is_some() {
        return Ok(());
    }
    let named = path
        .map(Path::to_path_buf)
        .or_else(|| std::env::var_os("WICK_LIB").map(Into::into));
    let candidates = match named {
        Some(path) => vec![path],
        None => vec!["libwick.so.0".into(), "libwick.so".into()],
    };
    let mut reasons = Vec::new();
    for candidate in &candidates {
        let Ok(name) = CString::new(candidate.as_os_str().as_encoded_bytes()) else {
            reasons.push(format!("{}: the path holds a NUL", candidate.display()));
            continue;
        };
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if library.is_null() {
            reasons.push(last_error());
            continue;
        }
        let table = Table::new(|name| {
            let symbol = CString::new(name).unwrap_or_default();
            let address = unsafe { dlsym(library, symbol.as_ptr()) };
            if address.is_null() {
                return Err(LoadError(format!(
                    "{}: no function {name}: another version",
                    candidate.display()
                )));
            }
            Ok(address)
        })?;
        let _ = TABLE.set(table);
        return Ok(());
    }
    Err(LoadError(format!("libwick was not found: {}", reasons.join("; "))))
}

fn last_error() -> String {
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "unknown reason".into();
    }
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[inline]
pub(crate) fn table() -> &'static Table {
    match TABLE.get() {
        Some(table) => table,
        None => load_or_panic(),
    }
}

#[cold]
fn load_or_panic() -> &'static Table {
    if let Err(error) = load(None) {
        panic!("{error}");
    }
    TABLE.get().expect("load has just filled it")
}
