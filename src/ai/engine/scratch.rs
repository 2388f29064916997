use super::*;
use super::cpu::Cpu;
pub fn ffo(lines: &str, hi: usize) {
    let modern = cpu::Modern::detect().unwrap();
    if std::env::var("PORT").is_ok() { run(cpu::Portable, lines, hi) } else { run(modern, lines, hi) }
}
fn run<C: Cpu>(cpu: C, lines: &str, hi: usize) {
    let table = Table::with_bytes(64<<20);
    let stop = crate::search::Stop::new();
    let (mut tn, mut tt) = (0, 0.0);
    for l in lines.lines().filter(|l| l.starts_with("ffo")) {
        let f: Vec<_> = l.split('\t').collect();
        let e: usize = f[1].parse().unwrap();
        if e > hi { continue }
        let p: crate::rules::Position = format!("{} {}", f[2], f[3]).parse().unwrap();
        let want: i32 = f[4].parse().unwrap();
        let mut s = searcher::Searcher { cpu, table: &table, stop: &stop, nodes: 0, most_nodes: u64::MAX, stopped: false };
        let t = std::time::Instant::now();
        let b: board::Board = p.into();
        let lo = s.solve(b, want - 1);
        let hi = s.solve(b, want);
        let dt = t.elapsed().as_secs_f64();
        tn += s.nodes; tt += dt;
        println!("{} {e} {want} {} {:.3}s {} nodes {:.1} Mn/s", f[0], if lo >= want && hi <= want {"ok"} else {"BAD"}, dt, s.nodes, s.nodes as f64/dt/1e6);
        if lo < want || hi > want { println!("   lo {lo} hi {hi}"); }
    }
    println!("total {tt:.2}s {tn} nodes {:.1} Mn/s", tn as f64/tt/1e6);
}
