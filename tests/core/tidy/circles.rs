//! Circular imports between the files of a folder.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    File, no_problems,
    source::{module_of, names},
    sources,
};

/// Folders whose files import each other in one direction only.
const ONE_WAY: [&str; 2] = ["src/runtime", "src/grpc"];

#[test]
fn no_files_import_each_other_in_a_circle() {
    no_problems(ONE_WAY.iter().flat_map(|folder| circles(&sources(&[folder]))));
}

/// Groups of files in which each file reaches all others by imports.
fn circles(files: &[File]) -> Vec<String> {
    let imports = imports(files);
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|path| (path.as_str(), reachable(path, &imports))).collect();
    let group = |path: &str| -> BTreeSet<&str> {
        reached[path].iter().copied().filter(|other| reached[other].contains(path)).collect()
    };
    let groups: BTreeSet<_> = reached.keys().map(|path| group(path)).filter(|group| group.len() > 1).collect();
    groups.into_iter().map(|group| format!("a circle: {}", Vec::from_iter(group).join(", "))).collect()
}

fn reachable<'a>(from: &str, imports: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = imports[from].iter().map(String::as_str).collect();
    while let Some(path) = open.pop() {
        if reached.insert(path) {
            open.extend(imports[path].iter().map(String::as_str));
        }
    }
    reached
}

/// The paths that a file names outside of its tests.
struct Module<'a> {
    file: &'a str,
    names: Vec<Vec<String>>,
}

/// The files that each file imports, without its tests.
fn imports(files: &[File]) -> BTreeMap<String, BTreeSet<String>> {
    fn read(file: &File) -> (Vec<String>, Module<'_>) {
        let File { path, text } = file;
        let module = module_of(path);
        let named = names(text, &module).into_iter().filter(|named| !named.in_test).map(|named| named.path);
        (module, Module { file: path, names: named.collect() })
    }
    let modules: BTreeMap<Vec<String>, Module<'_>> = files.iter().map(read).collect();
    let imported = |module: &Module<'_>| {
        let defined = module.names.iter().filter_map(|path| defining_file(path, &modules));
        (module.file.to_owned(), defined.filter(|path| *path != module.file).map(str::to_owned).collect())
    };
    modules.values().map(imported).collect()
}

/// The file that defines the item at a path, not a file that only re-exports it.
fn defining_file<'a>(path: &[String], modules: &BTreeMap<Vec<String>, Module<'a>>) -> Option<&'a str> {
    let depth = (1..=path.len()).rev().find(|depth| modules.contains_key(&path[..*depth]))?;
    let module = &modules[&path[..depth]];
    let exported = path
        .get(depth)
        .and_then(|name| module.names.iter().find(|full| full.len() > depth + 1 && full.last() == Some(name)));
    match exported {
        Some(full) if module.file.ends_with("/mod.rs") => defining_file(full, modules),
        _ => Some(module.file),
    }
}

#[test]
fn circles_through_re_exports_are_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let folder = |low: &str| {
        [
            file("src/a/mod.rs", "mod low; mod high; pub use low::Low; pub use high::High;"),
            file("src/a/low.rs", low),
            file("src/a/high.rs", "use super::Low; #[cfg(test)] mod tests { use crate::a::high; }"),
        ]
    };
    assert_eq!(circles(&folder("pub struct Low;")), [""; 0]);
    assert_eq!(circles(&folder("use crate::a::High;")), ["a circle: src/a/high.rs, src/a/low.rs"]);
}
