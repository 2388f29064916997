use super::*;
use super::cpu::Cpu;
use super::table::Table;
use super::pattern::PATTERNS;
use std::sync::Arc;
pub fn ffo(lines: &str, lo: usize, hi: usize) {
    let modern = cpu::Modern::detect().unwrap();
    if std::env::var("PORT").is_ok() { run(cpu::Portable, lines, lo, hi) } else { run(modern, lines, lo, hi) }
}
fn run<C: Cpu>(cpu: C, lines: &str, _: usize, hi: usize) {
    let table = Table::with_bytes(64<<20);
    let stop = crate::search::Stop::new();
    let (mut tn, mut tt) = (0, 0.0);
    let weights = Weights::read(&std::fs::read(std::env::var("W").unwrap()).unwrap()).unwrap();
    for l in lines.lines().filter(|l| l.starts_with("ffo")) {
        let f: Vec<_> = l.split('\t').collect();
        let e: usize = f[1].parse().unwrap();
        if e > hi { continue }
        let p: crate::rules::Position = format!("{} {}", f[2], f[3]).parse().unwrap();
        let want: i32 = f[4].parse().unwrap();
        let mut s = searcher::Searcher { cpu, table: &table, patterns: &PATTERNS, weights: &weights, stop: &stop, nodes: 0, most_nodes: u64::MAX, stopped: false, cuts: 0 };
        let t = cpu_time();
        let b: board::Board = p.into();
        let lo = s.solve(b, want - 1);
        let hi = s.solve(b, want);
        let dt = (cpu_time() - t);
        tn += s.nodes; tt += dt;
        if lo < want || hi > want { println!("{}  lo {lo} hi {hi}", f[0]); }
    }
    println!("total {tt:.2}s {tn} nodes {:.1} Mn/s", tn as f64/tt/1e6);
}
pub fn ffo_engine(lines: &str, lo: usize, hi: usize, verbose: bool) {
    let weights = Arc::new(Weights::read(&std::fs::read(std::env::var("W").unwrap()).unwrap()).unwrap());
    let mut e = Engine::new(weights, 128 << 20);
    let (mut tn, mut tt) = (0, 0.0);
    for l in lines.lines().filter(|l| l.starts_with("ffo")) {
        let f: Vec<_> = l.split('\t').collect();
        let id: usize = f[0][4..].parse().unwrap();
        if id < lo || id > hi { continue }
        let p: crate::rules::Position = format!("{} {}", f[2], f[3]).parse().unwrap();
        let want: i32 = f[4].parse().unwrap();
        let t = cpu_time();
        let r = e.search(p, &Limits::default(), &crate::search::Stop::new(), &mut |r| { if verbose { println!("   {:.3} d{} {}% {:+.2} {} {:?}", (cpu_time() - t), r.depth, r.certainty, r.discs, r.nodes, r.line); } std::ops::ControlFlow::Continue(()) }).unwrap();
        let dt = (cpu_time() - t);
        tn += r.nodes; tt += dt;
        let ok = r.discs == want as f32 && f[5].split(',').any(|m| m == r.best.to_string());
        println!("{} {} {want} {} {:.3}s {} nodes {:.1} Mn/s {} {}", f[0], f[1], if ok {"ok"} else {"BAD"}, dt, r.nodes, r.nodes as f64/dt/1e6, r.discs, r.best);
    }
    println!("total {tt:.2}s {tn} nodes {:.1} Mn/s", tn as f64/tt/1e6);
}

pub fn cpu_time() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
