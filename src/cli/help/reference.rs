//! The reference in `docs/reference.md`, made of what the program itself has: its options, limits, statuses, metrics,
//! errors and tables.

#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::Mutex,
};

use clap::{Arg, Command, CommandFactory as _};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use super::{EXIT_STATUSES, GROUPS, with_help};
use crate::{
    cli::{Cli, connect::server_address::CONNECTION, serve},
    proto::POOL,
    room::Timestamp,
    runtime::{Limit, Limits, server_metrics},
};

const INTRODUCTION: &str = "# Reference\n\nMade by the program, from the sources that it runs by: change those, then run \
    `cargo test --lib the_reference -- --ignored`.\n\n\
    [Limits](#limits) · [Options](#options) · [Exit status](#exit-status) · [Metrics](#metrics) · [Errors](#errors) · \
    [Errors by call](#errors-by-call) · [Tables](#tables)\n";

const ABOUT_LIMITS: &str = "Options of `reversi serve`. The variable of `--max-rooms` is `REVERSI_MAX_ROOMS`, and so for \
    all. 0 is no limit only where the text says so; elsewhere it is the number 0. Reload: SIGHUP applies a new value; \
    restart: it waits for the next start.";

const ABOUT_OPTIONS: &str = "An option takes precedence over its variable, and that over the file of `--settings`, which \
    only `serve` has. Every option of `serve` has a variable; of other commands only those for the connection, for secrets \
    and for the data of a server. `serve` refuses a variable `REVERSI_*` that seems to be a misspelled one, and warns of \
    others that no option has, unless Kubernetes sets them for a service.";

const ABOUT_ERRORS: &str = "By the code of the status, which says what to do next; [types.proto](../proto/reversi/v1/types.proto) says where the \
    reason stands in an answer.";

const ABOUT_CALLS: &str = "A call that is not in the table gives only these. `MoveRejected` on the stream of `Play` has the \
    reasons of `PlayMove`. Only a call that is under way while its room closes gets `ROOM_CLOSED`; later ones do not find the \
    room or game.";

/// The files of the API; the first has the enum of the reasons.
const PROTOS: [&str; 8] = [
    include_str!("../../../proto/reversi/v1/types.proto"),
    include_str!("../../../proto/reversi/v1/session.proto"),
    include_str!("../../../proto/reversi/v1/lobby.proto"),
    include_str!("../../../proto/reversi/v1/room.proto"),
    include_str!("../../../proto/reversi/v1/game.proto"),
    include_str!("../../../proto/reversi/v1/record.proto"),
    include_str!("../../../proto/reversi/v1/analysis.proto"),
    include_str!("../../../proto/reversi/v1/tournament.proto"),
];

const ABOUT_TABLES: &str = "Columns that end in `_us` are microseconds: times since 1970-01-01 UTC, and the durations \
    `move_limit_us`, `total_time_us`, `increment_us` and `ahead_us`. Programs other than the server may read the tables, and \
    must not write them.";

#[test]
fn the_reference_is_that_of_this_program() {
    let written = fs::read_to_string(path()).unwrap();
    let differing = generated()
        .lines()
        .zip(written.lines())
        .find(|(new, old)| new != old)
        .map(|(new, old)| format!("it is\n{old}\nand would be\n{new}"));
    assert!(
        written == generated(),
        "docs/reference.md is not up to date; `cargo test --lib the_reference -- --ignored` writes it: {}",
        differing.unwrap_or_else(|| "a part is missing".to_owned())
    );
}

#[test]
#[ignore = "writes the file that the other test reads"]
fn write_the_reference() {
    fs::write(path(), generated()).unwrap();
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md")
}

fn generated() -> String {
    let statuses = EXIT_STATUSES.map(|(status, meaning)| [status.to_string(), meaning.to_owned()]);
    let parts = [
        format!("## Limits\n\n{ABOUT_LIMITS}\n\n{}", limits()),
        format!("## Options\n\n{ABOUT_OPTIONS}\n{}", options(&with_help(Cli::command()))),
        format!("## Exit status\n\nThe same for all commands.\n\n{}", table(["status", "meaning"], statuses)),
        format!("## Metrics\n\nOf `reversi serve --metrics HOST:PORT`, at `/metrics`.\n\n{}", metrics()),
        format!("## Errors\n\n{ABOUT_ERRORS}\n\n{}", errors()),
        format!("## Errors by call\n\n{}", errors_by_call()),
        format!("## Tables\n\n{ABOUT_TABLES}\n\n{}", stores()),
    ];
    format!("{INTRODUCTION}\n{}", parts.join("\n"))
}

fn table<const N: usize>(headings: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: [String; N]| format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let rows: String = rows.into_iter().map(line).collect();
    format!("{}|{}\n{rows}", line(headings.map(str::to_owned)), "---|".repeat(N))
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

/// In one line, without the full stop at its end.
fn sentence(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

fn limits() -> String {
    let defaults = Limits::default();
    let row = |limit: &Limit| {
        let values = match (*limit.range.start(), *limit.range.end()) {
            (least, most) if most >= u32::MAX.into() => format!("from {least}"),
            (least, most) => format!("{least} to {most}"),
        };
        let name = code(format!("--{} {}", limit.flag, limit.unit));
        [name, values, (limit.get)(&defaults).to_string(), applies_at(limit.is_fixed()), sentence(limit.help)]
    };
    table(["limit", "values", "default", "applies at", "meaning"], Limits::TABLE.iter().map(row))
}

/// The options of all commands, in the order of the help.
fn options(program: &Command) -> String {
    let player = program.find_subcommand("play").unwrap();
    let shared = player.get_arguments().filter(|option| option.get_help_heading() == Some(CONNECTION));
    let mut text = format!("\n### The connection\n\nOf the commands that call a server.\n\n{}", option_table(shared));
    for name in GROUPS.iter().flat_map(|(_, names)| names.iter().copied()) {
        if let Some(command) = program.find_subcommand(name) {
            describe(&mut text, command, &format!("reversi {name}"));
        }
    }
    text
}

fn describe(text: &mut String, command: &Command, name: &str) {
    let about = sentence(&command.get_about().map(ToString::to_string).unwrap_or_default());
    text.push_str(&format!("\n### {name}\n\n{about}.\n"));
    let is_server = name == "reversi serve";
    let is_shared = |option: &&Arg| option.get_help_heading() == Some(CONNECTION) && !is_server;
    let is_limit = |option: &Arg| Limits::TABLE.iter().any(|limit| limit.name == option.get_id().as_str());
    // The reference is that of the default features.
    let is_own = |option: &&Arg| !(is_server && is_limit(option)) && option.get_id() != "otlp" && !is_shared(option);
    let own: Vec<&Arg> = command.get_arguments().filter(is_own).collect();
    if is_server {
        let row = |option: &&Arg| {
            let [name, default, variable, meaning] = describe_option(option);
            [
                name,
                default,
                variable,
                applies_at(!serve::is_reloaded(&option.get_id().as_str().replace('_', "-"))),
                meaning,
            ]
        };
        text.push_str(&format!(
            "\n{}",
            table(["option", "default", "variable", "applies at", "meaning"], own.iter().map(row))
        ));
    } else if !own.is_empty() {
        text.push_str(&format!("\n{}", option_table(own)));
    }
    let shared: Vec<_> = command.get_arguments().filter(is_shared).filter_map(Arg::get_long).collect();
    if !shared.is_empty() {
        let names = shared.iter().map(|name| code(format!("--{name}"))).collect::<Vec<_>>().join(", ");
        text.push_str(&format!("\nOf the [connection](#the-connection): {names}.\n"));
    }
    for inner in command.get_subcommands() {
        describe(text, inner, &format!("{name} {}", inner.get_name()));
    }
}

fn option_table<'a>(options: impl IntoIterator<Item = &'a Arg>) -> String {
    table(["option", "default", "variable", "meaning"], options.into_iter().map(describe_option))
}

fn applies_at(is_fixed: bool) -> String {
    if is_fixed { "restart" } else { "reload" }.to_owned()
}

fn describe_option(option: &Arg) -> [String; 4] {
    let value = option.get_value_names().unwrap_or_default().join(" ");
    let name = match option.get_long() {
        Some(long) if option.get_action().takes_values() => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None => value,
    };
    let help = option.get_long_help().or(option.get_help()).map(ToString::to_string).unwrap_or_default();
    let (help, stated) = match help.split_once(" [default: ") {
        Some((before, rest)) => {
            let (default, after) = rest.split_once(']').unwrap_or((rest, ""));
            (format!("{before}{after}"), default.to_owned())
        }
        None => (help, String::new()),
    };
    let defaults = option.get_default_values().iter().map(|value| value.to_string_lossy());
    let default = defaults.filter(|value| !value.is_empty()).map(code).collect::<Vec<_>>().join(" ");
    let values: Vec<_> = option.get_possible_values().iter().map(|value| code(value.get_name())).collect();
    let mut meaning = help.split("\n\n").map(sentence).collect::<Vec<_>>().join(". ");
    if option.get_action().takes_values() && !values.is_empty() {
        meaning = format!("{meaning}: {}", values.join(", "));
    }
    let variable = option.get_env().map(|name| code(name.to_string_lossy())).unwrap_or_default();
    [code(name), if default.is_empty() { stated } else { default }, variable, meaning]
}

/// The kind, unit and description of metrics, by their names.
#[derive(Default)]
struct Descriptions(Mutex<BTreeMap<String, [String; 3]>>);

impl Descriptions {
    fn add(&self, kind: &str, key: &KeyName, unit: Option<Unit>, help: &SharedString) {
        let unit = unit.map(|unit| unit.as_str().to_owned()).unwrap_or_default();
        self.0.lock().unwrap().insert(key.as_str().to_owned(), [kind.to_owned(), unit, sentence(help)]);
    }
}

impl Recorder for Descriptions {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, help: SharedString) {
        self.add("counter", &key, unit, &help);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, help: SharedString) {
        self.add("gauge", &key, unit, &help);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, help: SharedString) {
        self.add("histogram", &key, unit, &help);
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn metrics() -> String {
    let descriptions = Descriptions::default();
    metrics::with_local_recorder(&descriptions, || {
        server_metrics::describe();
        server_metrics::describe_process(Timestamp(0));
    });
    let rows = descriptions.0.into_inner().unwrap().into_iter();
    let rows = rows.map(|(name, [kind, unit, help])| [code(&name), kind, unit, labels(&name), help]);
    table(["metric", "kind", "unit", "labels", "meaning"], rows)
}

/// The labels of a metric, which its description does not have, from the source: `gauge!(ROOMS, "phase" => ...)`.
fn labels(metric: &str) -> String {
    let source = include_str!("../../runtime/server_metrics.rs");
    let named = |line: &&str| line.contains(&format!("= \"{metric}\";"));
    let Some(constant) = source.lines().find(named).and_then(|line| line.split([' ', ':']).nth(1)) else {
        return String::new();
    };
    let of_call = |rest: &str| {
        let mut parts: Vec<&str> = rest.lines().next()?.split("\" =>").collect();
        parts.pop();
        let mut names: Vec<String> = parts.iter().filter_map(|part| part.rsplit('"').next()).map(code).collect();
        names.dedup();
        (!names.is_empty()).then(|| names.join(", "))
    };
    source.split(&format!("!({constant},")).skip(1).find_map(of_call).unwrap_or_default()
}

/// The reasons of errors by their codes: the values of an enum of the proto, with its comments.
fn errors() -> String {
    let (values, _) = PROTOS[0].split_once("enum ErrorReason {").unwrap().1.split_once("\n}").unwrap();
    let (mut rows, mut comment, mut parts) = (Vec::new(), String::new(), Vec::new());
    for line in values.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix("//") {
            comment.push_str(more);
        } else if let Some((name, _)) = line.strip_prefix("ERROR_REASON_").and_then(|line| line.split_once(" = ")) {
            rows.push([code(name), sentence(&std::mem::take(&mut comment))]);
        } else if let Some((name, advice)) = std::mem::take(&mut comment).split_once(':') {
            parts.push((format!("{}: {}", code(name.trim()), sentence(advice)), std::mem::take(&mut rows)));
        }
    }
    // A code is followed by its reasons.
    let headings = parts.iter().map(|(heading, _)| heading);
    let reasons = parts.iter().skip(1).map(|(_, rows)| rows.clone()).chain([rows.clone()]);
    let part = |(heading, rows)| format!("{heading}.\n\n{}", table(["reason", "meaning"], rows));
    headings.zip(reasons).map(part).collect::<Vec<_>>().join("\n")
}

fn errors_by_call() -> String {
    let mut calls = reasons_of_calls();
    let list = |reasons: Vec<&str>| reasons.into_iter().map(code).collect::<Vec<_>>().join(", ");
    let (_, of_all) = calls.remove(0);
    let rows = calls.into_iter().map(|(call, reasons)| [code(call), list(reasons)]);
    format!("Every call may give {}. {ABOUT_CALLS}\n\n{}", list(of_all), table(["call", "its own reasons"], rows))
}

/// The reasons that comments name at their end, as in `// Errors: NOT_OWNER, ROOM_IN_GAME.`: first those of every call,
/// at the enum of the reasons, then those of each call that has its own.
fn reasons_of_calls() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut calls = Vec::new();
    for comment in PROTOS.iter().flat_map(|proto| proto.split("// Errors").skip(1)) {
        let (reasons, rest) = comment.split_once(".\n").unwrap();
        let (_, reasons) = reasons.split_once(':').unwrap();
        let reasons = reasons.split([',', '/', ' ', '\n']).filter(|reason| !reason.is_empty()).collect();
        let call = rest.trim_start().split(['(', ' ']).nth(1).unwrap();
        calls.push((call, reasons));
    }
    calls
}

#[test]
fn every_reason_is_that_of_a_call() {
    let reasons = POOL.get_enum_by_name("reversi.v1.ErrorReason").unwrap();
    let of_enum = reasons.values().filter(|reason| reason.number() != 0);
    let of_enum: BTreeSet<_> = of_enum.map(|reason| reason.name().replace("ERROR_REASON_", "")).collect();
    let calls = reasons_of_calls();
    let of_calls: BTreeSet<_> = calls.iter().flat_map(|(_, reasons)| reasons).map(ToString::to_string).collect();
    assert_eq!(of_calls, of_enum);
    assert_eq!(calls[0].0, "ErrorReason");
    let is_method = |name: &str| POOL.services().any(|service| service.methods().any(|method| method.name() == name));
    assert!(calls[1..].iter().all(|(call, _)| is_method(call)), "{calls:?}");
}

fn stores() -> String {
    let requests = include_str!("../../../crates/reversi-store/src/done_requests.sql");
    let tournaments = include_str!("../../../crates/reversi-store/src/tournaments.sql");
    let schema = include_str!("../../../crates/reversi-store/src/sqlite/schema.sql");
    let mark = include_str!("../../../crates/reversi-store/src/sqlite/wal/mark.rs");
    let mark = statement(mark, "CREATE TABLE IF NOT EXISTS wal_mark (").trim_end_matches(')').replace(", ", ",\n");
    let mark =
        format!("-- By which a write-ahead log of another file is recognised.\nCREATE TABLE wal_mark (\n{mark}\n);\n");
    let of_players = added_player_columns();
    let added = [("games", later_columns()), ("players", of_players.clone())];
    let file = tables(&[schema, &mark, requests, tournaments].concat(), &added);
    let schema = include_str!("../../../crates/reversi-store/src/postgres/schema.sql");
    let links = include_str!("../../../crates/reversi-store/src/postgres/cluster/links.sql");
    let upgrades = include_str!("../../../crates/reversi-store/src/postgres/schema.rs");
    let queue =
        column(statement(upgrades, "ALTER TABLE games ADD COLUMN IF NOT EXISTS "), "of a game to settle, else null");
    let of_games = [vec![queue], later_columns()].concat();
    let added = [("games", of_games), ("players", of_players)];
    let database = tables(&[schema, links, requests, tournaments].concat(), &added);
    format!("### SQLite\n{file}\n### PostgreSQL\n{database}")
}

/// The rest of a statement in Rust code.
fn statement<'a>(source: &'a str, begin: &str) -> &'a str {
    source.split_once(begin).and_then(|(_, rest)| rest.split(['"', ';']).next()).unwrap()
}

/// The tables that these statements create, some with columns that were added later.
fn tables(sql: &str, added: &[(&str, Vec<[String; 3]>)]) -> String {
    let (mut text, mut comment, mut lines) = (String::new(), String::new(), sql.lines());
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("CREATE TABLE ").and_then(|line| line.strip_suffix(" (")) {
            let mut rows = columns(&mut lines);
            let of_table = added.iter().filter(|(table, _)| *table == name);
            rows.extend(of_table.flat_map(|(_, columns)| columns.iter().cloned()));
            let about = if comment.is_empty() { String::new() } else { format!(": {}", sentence(&comment)) };
            text.push_str(&format!("\n{}{about}\n\n{}", code(name), table(["column", "type", "meaning"], rows)));
        }
        match line.strip_prefix("-- ") {
            Some(more) => comment.push_str(&format!("{more} ")),
            None => comment.clear(),
        }
    }
    text
}

/// The columns of a table, up to its end.
fn columns<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<[String; 3]> {
    let mut columns: Vec<[String; 3]> = Vec::new();
    for line in lines.take_while(|line| !line.starts_with(')')) {
        let (definition, comment) = line.split_once("--").unwrap_or((line, ""));
        match (definition.trim(), columns.last_mut()) {
            ("", Some([.., meaning])) => *meaning = format!("{meaning} {}", comment.trim()),
            (definition, _) if definition.starts_with("PRIMARY KEY") => {}
            (definition, _) => columns.push(column(definition, comment)),
        }
    }
    columns
}

fn column(definition: &str, comment: &str) -> [String; 3] {
    let (name, kind) = definition.trim().trim_end_matches(',').split_once(' ').unwrap();
    [code(name), kind.to_owned(), sentence(comment)]
}

/// The columns of games that only later versions of the tables have, as `game_row!` declares them.
fn later_columns() -> Vec<[String; 3]> {
    let source = include_str!("../../../crates/reversi-store/src/game_row.rs").split("#[cfg(test)]").next().unwrap();
    let (mut columns, mut comment, mut is_new) = (Vec::new(), String::new(), true);
    for line in source.lines().map(str::trim) {
        let declared = line.split_once(", since ").and_then(|(column, _)| column.split_once(": Option<"));
        if let Some(text) = line.strip_prefix("/// ") {
            // The columns of both sides share a comment.
            comment = if is_new { text.to_owned() } else { format!("{comment} {text}") };
            is_new = false;
            continue;
        }
        is_new = true;
        if let Some((name, kind)) = declared {
            let kind = if kind == "String>" { "text" } else { kind.trim_end_matches('>') };
            columns.push([code(name), kind.to_owned(), sentence(comment.trim())]);
        } else {
            comment.clear();
        }
    }
    columns
}

/// The columns of players that only later versions of the tables have.
fn added_player_columns() -> Vec<[String; 3]> {
    let source = include_str!("../../../crates/reversi-store/src/player_store.rs");
    let declared = source.split("ADDED_COLUMNS").nth(1).unwrap().split("];").next().unwrap().split("// ").skip(1);
    let read = |declared: &str| {
        let (comment, column) = declared.split_once('\n').unwrap();
        let kind = if column.contains("<Vec<u8> as") { "bytea" } else { "text" };
        [code(column.split('"').nth(1).unwrap()), kind.to_owned(), sentence(comment)]
    };
    declared.map(read).collect()
}
