//! Finds libwick: in the folder WICK_LIB_DIR, or by pkg-config. With the feature `dlopen` nothing is linked.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=WICK_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_DLOPEN").is_some() || env::var_os("DOCS_RS").is_some() {
        return;
    }
    if let Some(folder) = env::var_os("WICK_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder.to_string_lossy());
        println!("cargo:rustc-link-lib=dylib=wick");
        println!("cargo:lib_dir={}", folder.to_string_lossy());
        return;
    }
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let found = Command::new(&program).args(["--libs", "wick"]).output();
    let flags = match &found {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => fail(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => fail(&format!("{program}: {error}")),
    };
    for flag in flags.split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:lib_dir={folder}");
        } else if let Some(name) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        }
    }
}

fn fail(reason: &str) -> ! {
    eprintln!("libwick was not found: {reason}");
    eprintln!("Install Wick, set WICK_LIB_DIR to the folder of libwick.so, or use the feature `dlopen`.");
    std::process::exit(1)
}
