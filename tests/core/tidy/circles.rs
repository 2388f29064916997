//! Circular imports between the files of a crate. Cargo permits none between crates.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    File, expect, no_problems,
    source::{Named, module_of, names},
    sources,
};

#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = sources(&["src", "crates", "tools"]);
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in &files {
        if let Some((root, _)) = file.path.split_once("src/") {
            crates.entry(root).or_default().push(file);
        }
    }
    no_problems(crates.values().flat_map(|files| circles(files)));
}

/// What the files of circles import of one another.
fn circles(files: &[&File]) -> Vec<String> {
    let mut imports = imports(files);
    loop {
        let count = imports.len();
        let left: BTreeSet<&str> = imports.keys().copied().collect();
        imports.values_mut().for_each(|imported| imported.retain(|file| left.contains(file)));
        imports.retain(|_, imported| !imported.is_empty());
        let imported: BTreeSet<&str> = imports.values().flatten().copied().collect();
        imports.retain(|file, _| imported.contains(file));
        if imports.len() == count {
            let list = |imported| Vec::from_iter(imported).join(", ");
            return imports.into_iter().map(|(file, of)| format!("in a circle, {file} imports {}", list(of))).collect();
        }
    }
}

/// The paths that a file names outside of its tests.
struct Module<'a> {
    file: &'a str,
    names: Vec<Named>,
}

/// The files that each file imports, without its tests.
fn imports<'a>(files: &[&'a File]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let read = |file: &&'a File| {
        let module = module_of(&file.path);
        let names = names(&file.text, &module).into_iter().filter(|named| !named.in_test).collect();
        (module, Module { file: &file.path, names })
    };
    // In reverse: lib.rs takes the place of a main.rs beside it, which no file imports.
    let modules: BTreeMap<_, _> = files.iter().rev().map(read).collect();
    let imported = |module: &Module<'a>| {
        let defined = module.names.iter().filter_map(|named| defining_file(named, &modules));
        (module.file, defined.filter(|file| *file != module.file).collect())
    };
    modules.values().map(imported).collect()
}

/// The file of this crate that defines what is named, not a file that only re-exports it.
fn defining_file<'a>(named: &Named, modules: &BTreeMap<Vec<String>, Module<'a>>) -> Option<&'a str> {
    if !named.is_local {
        return None;
    }
    let path = &named.path;
    let depth = (0..=path.len()).rev().find(|depth| modules.contains_key(&path[..*depth]))?;
    let module = &modules[&path[..depth]];
    let imported = path.get(depth).and_then(|name| module.names.iter().find(|it| it.alias.as_ref() == Some(name)));
    imported.map_or(Some(module.file), |imported| defining_file(imported, modules))
}

#[test]
fn circles_through_re_exports_are_found() {
    let circles_of = |low: &str| {
        let files = [
            ("src/a/high.rs", "use crate::Low; use super::Status; #[cfg(test)] mod tests { use crate::a::high; }"),
            ("src/a/low.rs", low),
            ("src/a/mod.rs", "mod low; mod high; pub use low::Low; pub use high::High as Top; use tonic::Status;"),
            ("src/lib.rs", "mod a; pub use a::Low;"),
            ("src/main.rs", "fn main() { reversi::a::Top::run() }"),
        ];
        let files = files.map(|(path, text)| File { path: path.to_owned(), text: text.to_owned() });
        circles(&Vec::from_iter(&files))
    };
    expect(&circles_of("pub(in crate::a) struct Low;"), &[]);
    expect(
        &circles_of("fn low() { super::Top::high() }"),
        &["high.rs imports src/a/low.rs", "low.rs imports src/a/high.rs"],
    );
    expect(&circles_of("use super::*;"), &["high.rs", "low.rs imports src/a/mod.rs", "mod.rs imports src/a/high.rs, "]);
}
