//! The `reversi` command.

fn main() -> std::process::ExitCode {
    reversi::cli::main()
}
