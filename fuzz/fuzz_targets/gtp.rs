//! Any lines are answered by the engine's GTP side.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|lines: &[u8]| reversi::cli::answer_gtp(lines));
