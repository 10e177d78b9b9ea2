//! The crate against the C headers: the C compiler checks every size, offset, number and signature that Rust believes in.
//!
//! The headers are those of the folders in WICK_INCLUDE (separated by colons), or what pkg-config says.

use std::fmt::Write;
use std::process::Command;

/// `*const *mut wick_tensor` as `struct wick_tensor *const *`. The other direction from the generator, written apart.
fn c_type(rust: &str) -> String {
    let rust = rust.trim();
    for (prefix, constant) in [("*const ", "const "), ("*mut ", "")] {
        if let Some(rest) = rust.strip_prefix(prefix) {
            let inner = c_type(rest);
            return match rest.starts_with('*') {
                true => format!("{inner} {constant}*"),
                false => format!("{constant}{inner} *"),
            };
        }
    }
    if let Some(inner) = rust.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("{inner} *");
    }
    let plain = match rust {
        "" => "void",
        "c_void" => "void",
        "c_char" => "char",
        "c_int" => "int",
        "c_uint" => "unsigned",
        "i64" => "int64_t",
        "i32" => "int32_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "f32" => "float",
        "f64" => "double",
        "bool" => "bool",
        _ => "",
    };
    match plain {
        "" if is_struct(rust) => format!("struct {rust}"),
        "" => format!("enum {rust}"),
        plain => plain.to_owned(),
    }
}

fn is_struct(name: &str) -> bool {
    wick_sys::OPAQUE.contains(&name) || wick_sys::STRUCTS.iter().any(|layout| layout.name == name)
}

fn program() -> String {
    let mut c = String::from("#include <wick/wick.h>\n");
    for layout in wick_sys::STRUCTS {
        let name = layout.name;
        writeln!(
            c,
            "_Static_assert(sizeof(struct {name}) == {}, \"size of {name}\");",
            layout.size
        )
        .unwrap();
        writeln!(
            c,
            "_Static_assert(_Alignof(struct {name}) == {}, \"alignment of {name}\");",
            layout.align
        )
        .unwrap();
        for (field, offset) in layout.fields {
            let field = field.trim_start_matches("r#");
            writeln!(
                c,
                "_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"{name}.{field}\");"
            )
            .unwrap();
        }
    }
    for (name, value) in wick_sys::ENUMERATORS {
        writeln!(c, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    }
    writeln!(
        c,
        "_Static_assert(WICK_MAX_RANK == {}, \"WICK_MAX_RANK\");",
        wick_sys::WICK_MAX_RANK
    )
    .unwrap();
    writeln!(c, "_Static_assert(WICK_ALL == {}, \"WICK_ALL\");", wick_sys::WICK_ALL).unwrap();
    for (name, arguments, result) in wick_sys::SIGNATURES {
        let arguments: Vec<String> = arguments.iter().map(|argument| c_type(argument)).collect();
        let arguments = if arguments.is_empty() {
            "void".to_owned()
        } else {
            arguments.join(", ")
        };
        writeln!(c, "{} (*const check_{name})({arguments}) = {name};", c_type(result)).unwrap();
    }
    c
}

fn include_flags() -> Option<Vec<String>> {
    if let Some(folders) = std::env::var_os("WICK_INCLUDE") {
        return Some(
            std::env::split_paths(&folders)
                .map(|path| format!("-I{}", path.display()))
                .collect(),
        );
    }
    let output = Command::new("pkg-config").args(["--cflags", "wick"]).output().ok()?;
    output.status.success().then(|| {
        String::from_utf8_lossy(&output.stdout)
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    })
}

fn compile(text: &str, flags: &[String]) -> Result<(), String> {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("headers-{}.c", text.len()));
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only"])
        .args(flags)
        .arg(&path)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn agrees_with_the_headers() {
    let flags = include_flags().expect("set WICK_INCLUDE to the folders of the headers");
    let text = program();
    assert!(wick_sys::SIGNATURES.len() > 300 && wick_sys::STRUCTS.len() > 15 && wick_sys::ENUMERATORS.len() > 250);
    compile(&text, &flags).unwrap();
    // The compiler must see what is wrong: a size, a number, a signature.
    for (good, bad) in [
        ("sizeof(struct wick_number) == 24", "sizeof(struct wick_number) == 32"),
        ("WICK_DTYPE_f32 == 7", "WICK_DTYPE_f32 == 8"),
        (
            "(*const check_wick_seed)(const struct wick_device *)",
            "(*const check_wick_seed)(struct wick_tensor *)",
        ),
    ] {
        assert!(text.contains(good), "{good}");
        assert!(compile(&text.replace(good, bad), &flags).is_err(), "{bad}");
    }
}

#[test]
fn the_library_is_this_version() {
    let version = unsafe { std::ffi::CStr::from_ptr(wick_sys::wick_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
