//! An attribute for tests that need what not every machine has: without it they are reported as ignored, with the
//! reason.
//!
//! It looks when the test is compiled, since the test runner cannot ignore a test while it runs. A build script would
//! have to compile the tested library again as well whenever a variable changes; with this Cargo compiles only the
//! tests.

use std::{env, fs, path::Path};

use proc_macro::TokenStream;

/// Ignores a test if this was missing when the test was compiled. Stands before `#[test]`.
///
/// | what | is there if |
/// |---|---|
/// | `postgres` | it is installed, or `REVERSI_REQUIRE_POSTGRES` is set: then the test fails without it |
/// | `python` | `REVERSI_PYTHON` names a Python interpreter with `grpcio`, `grpcio-tools` and `py4swiss` |
/// | `go_bot` | `REVERSI_GO_BOT` names the program of `clients/go` |
/// | `node_bot` | `REVERSI_NODE_BOT` names `clients/node/bot.mjs`, with its packages beside it |
/// | `buf` | `REVERSI_BUF` names the program `buf` |
/// | `pgbouncer`, `nginx`, `caddy`, `openssl`, `sqlite3` | the program is in `/usr/sbin` or `/usr/bin`, or `REVERSI_REQUIRE_PROGRAMS` is set |
/// | `faketime` | its library is installed, or `REVERSI_REQUIRE_FAKETIME` is set |
/// | `git` | the package is in a Git checkout |
/// | `permissions` | they apply to the user, who is not root |
#[proc_macro_attribute]
pub fn needs(what: TokenStream, test: TokenStream) -> TokenStream {
    match what.to_string().as_str() {
        "postgres" if is_postgres_installed() => test,
        "postgres" => needs_variable("REVERSI_REQUIRE_POSTGRES", "PostgreSQL was not in /usr/lib/postgresql", test),
        "python" => needs_variable("REVERSI_PYTHON", "REVERSI_PYTHON, which .ci/run sets, was not set", test),
        "node_bot" => needs_variable("REVERSI_NODE_BOT", "REVERSI_NODE_BOT, which .ci/run sets, was not set", test),
        "buf" => needs_variable("REVERSI_BUF", "REVERSI_BUF, which .ci/run sets, was not set", test),
        "go_bot" => needs_variable("REVERSI_GO_BOT", "REVERSI_GO_BOT, which .ci/run sets, was not set", test),
        program @ ("pgbouncer" | "nginx" | "caddy" | "openssl" | "sqlite3") if is_program_installed(program) => test,
        program @ ("pgbouncer" | "nginx" | "caddy" | "openssl" | "sqlite3") => {
            needs_variable("REVERSI_REQUIRE_PROGRAMS", &format!("{program} was not installed"), test)
        }
        "faketime" if is_faketime_installed() => test,
        "faketime" => needs_variable("REVERSI_REQUIRE_FAKETIME", "libfaketime was not in /usr/lib", test),
        "git" => ignored_unless(is_git_checkout(), "this was no Git checkout", test),
        "permissions" => ignored_unless(!is_root(), "permissions did not apply to the user, root,", test),
        other => panic!("no test can need {other}"),
    }
}

/// Also has Cargo compile the test again when the variable changes.
fn needs_variable(variable: &str, missing: &str, test: TokenStream) -> TokenStream {
    let watched = format!("const _: Option<&str> = option_env!({variable:?});");
    let test = ignored_unless(env::var_os(variable).is_some(), missing, test);
    TokenStream::from_iter([watched.parse().expect("an item"), test])
}

fn ignored_unless(is_there: bool, missing: &str, test: TokenStream) -> TokenStream {
    if is_there {
        return test;
    }
    let ignore = format!("#[ignore = \"{missing} when this was compiled\"]");
    TokenStream::from_iter([ignore.parse().expect("an attribute"), test])
}

fn is_postgres_installed() -> bool {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.map(|version| version.path()).any(|version| version.join("bin/initdb").exists())
}

fn is_program_installed(program: &str) -> bool {
    ["/usr/sbin", "/usr/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
}

fn is_faketime_installed() -> bool {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.map(|folder| folder.path()).any(|folder| folder.join("faketime/libfaketimeMT.so.1").exists())
}

fn is_git_checkout() -> bool {
    env::var_os("CARGO_MANIFEST_DIR").is_some_and(|package| Path::new(&package).join(".git").exists())
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("\nUid:\t0\t"))
}
