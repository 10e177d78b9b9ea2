//! all-MiniLM-L6-v2 of tools/fetch-model through candle-transformers: on Wick as on candle's own CPU, and as by
//! `wick embed`. Nothing is tested where it has not been fetched.

use candle_core::{Device, Result, Tensor};
use candle_on_wick_models::{distance, fetched, report, MiniLm};
use candle_on_wick_proof::{close, device};
use std::io::Write;
use std::process::{Command, Stdio};

const LINES: [&str; 5] = [
    "A wick draws fuel to the flame.",
    "The cat sat on the mat, and the dog beside it.",
    "Was kostet ein Kilo Kartoffeln?",
    "",
    "Eager tensors on processors and GPUs: one text of each kernel, compiled for both, and checked against references \
     in double precision on every layout that a program may hand over.",
];

/// The vectors by the command that WICK_COMMAND names, Wick's own.
fn embedded(command: &str, model: &std::path::Path) -> Result<Tensor> {
    let output = std::env::temp_dir().join(format!("candle-on-wick-{}.safetensors", std::process::id()));
    let mut run = Command::new(command)
        .args(["embed", "--device", "cpu", "--model"])
        .arg(model)
        .arg("--output")
        .arg(&output)
        .stdin(Stdio::piped())
        .spawn()?;
    run.stdin
        .take()
        .unwrap()
        .write_all((LINES.join("\n") + "\n").as_bytes())?;
    assert!(run.wait()?.success());
    let found = candle_core::safetensors::load(&output, &Device::Cpu)?;
    std::fs::remove_file(&output)?;
    assert_eq!(found.len(), 1, "{found:?}");
    Ok(found.into_values().next().unwrap())
}

#[test]
fn whole_minilm_agrees() -> Result<()> {
    let Some(folder) = fetched("all-MiniLM-L6-v2") else {
        return Ok(());
    };
    let made = MiniLm::load(&folder, &device())?.embed(&LINES)?;
    let expected = MiniLm::load(&folder, &Device::Cpu)?.embed(&LINES)?;
    report("BERT, all-MiniLM-L6-v2", distance(&made, &expected)?);
    close(&made, &expected, 1e-5)?;
    if let Ok(command) = std::env::var("WICK_COMMAND") {
        let expected = embedded(&command, &folder)?;
        report("BERT, beside `wick embed`", distance(&made, &expected)?);
        close(&made, &expected, 1e-5)?;
    }
    Ok(())
}
