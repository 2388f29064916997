//! The NBoard protocol, version 2: a position is set as a game in GGF, `go` asks for a move, and unknown lines are
//! ignored.

use super::{
    error::{EngineFault, quoted},
    process::{EngineProcess, Wait},
    protocol::ProtocolClient,
    time::MoveTime,
};
use crate::{
    room::ggf,
    rules::{Square, Transcript},
};

#[derive(Debug, Default)]
pub(super) struct NboardClient {
    /// The number of the last ping.
    pings: u32,
}

impl ProtocolClient for NboardClient {
    fn handshake(&mut self, process: &EngineProcess, wait: Wait<'_>) -> Result<(), EngineFault> {
        process.send("nboard 2")?;
        self.ping(process, wait)
    }

    fn choose(
        &mut self,
        process: &EngineProcess,
        game: &Transcript,
        time: MoveTime,
        wait: Wait<'_>,
    ) -> Result<Square, EngineFault> {
        process.send(format!("set game {}", ggf::write_running(game, time.clock())))?;
        // Output before the pong belongs to earlier commands.
        self.ping(process, wait)?;
        process.send("go")?;
        loop {
            if let Some(answer) = read_move(&process.line(wait)?) {
                return answer;
            }
        }
    }
}

impl NboardClient {
    fn ping(&mut self, process: &EngineProcess, wait: Wait<'_>) -> Result<(), EngineFault> {
        self.pings += 1;
        process.send(format!("ping {}", self.pings))?;
        while read_pong(&process.line(wait)?) != Some(self.pings) {}
        Ok(())
    }
}

fn read_pong(line: &str) -> Option<u32> {
    let mut words = line.split_whitespace();
    words.next().filter(|word| word.eq_ignore_ascii_case("pong"))?;
    words.next()?.parse().ok()
}

/// Parses `=== F5/eval/seconds` or `=== f5 eval seconds`.
fn read_move(line: &str) -> Option<Result<Square, EngineFault>> {
    let answer = line.strip_prefix("===")?.trim();
    let name = answer.split(|letter: char| letter == '/' || letter.is_whitespace()).next().unwrap_or_default();
    Some(name.parse().map_err(|_| EngineFault::Illegal(quoted(answer))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moves_are_read_as_programs_write_them() {
        let d6 = "d6".parse().unwrap();
        for line in ["=== D6", "=== D6/1.20/3.5", "=== d6 -1.00 0.0", "===D6", "===  d6//0.1"] {
            assert_eq!(read_move(line), Some(Ok(d6)), "{line}");
        }
        for line in ["=== PA", "===", "=== z9/1", "=== d66"] {
            assert!(matches!(read_move(line), Some(Err(EngineFault::Illegal(_)))), "{line}");
        }
        for line in ["search D6 1.00 0 12", "status thinking", "== d6", ""] {
            assert_eq!(read_move(line), None, "{line}");
        }
    }

    #[test]
    fn a_pong_has_its_number() {
        assert_eq!(read_pong("pong 3"), Some(3));
        assert_eq!(read_pong("Pong  3 "), Some(3));
        assert_eq!(read_pong("pong"), None);
        assert_eq!(read_pong("ping 3"), None);
        assert_eq!(read_pong("pong 99999999999"), None);
    }

    proptest! {
        #[test]
        fn no_line_panics(line in r"(===|pong|search)?[ /]?.{0,40}") {
            let _ = (read_move(&line), read_pong(&line));
        }
    }
}
