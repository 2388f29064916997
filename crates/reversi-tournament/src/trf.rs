//! The Tournament Report File of FIDE (TRF16), which programs for pairing and rating read.

use std::{collections::BTreeMap, fmt::Write as _};

use reversi_engine::rules::Color;
use reversi_room::{Participant, Timestamp, ggf};

use super::{
    entrant::EntrantId,
    meeting::{Meeting, Outcome, Stage},
    points::HalfPoints,
    settings::Format,
    standings::standings,
    state::{Phase, Tournament},
};

/// The number of rounds up to which all points fit in their columns.
const MAX_ROUNDS: u32 = 99;

/// The columns of a round in which an entrant had no meeting that counts.
const NOT_PAIRED: &str = "0000 - Z";

/// A round of one entrant.
struct Entry {
    columns: String,
    points: HalfPoints,
}

/// The lines of the report; `None` for a tournament without rounds, as an arena, or with more than 99.
///
/// A meeting is 1, ½ or 0 points, also one of several games, as the format has no other results. Entrants are numbered
/// from 1 without gaps, in the order of joining. The rank is that of the standings, which count the points of games.
/// Rounds from the first with an unfinished meeting on, meetings that give no points and the play-off are left out.
#[must_use]
pub fn trf(tournament: &Tournament) -> Option<Vec<String>> {
    let kind = match tournament.settings().format {
        Format::Swiss { .. } => "Swiss",
        Format::AllPlayAll { .. } => "Round robin",
        Format::Arena { .. } => return None,
    };
    let mut unfinished = tournament.unfinished().filter(|meeting| meeting.stage == Stage::Main);
    let rounds = unfinished.next().map_or(tournament.round(Stage::Main), |meeting| meeting.round.saturating_sub(1));
    if rounds > MAX_ROUNDS {
        return None;
    }
    let numbers: BTreeMap<EntrantId, usize> = tournament.entrants().keys().copied().zip(1..).collect();
    let mut entries: BTreeMap<(EntrantId, u32), Entry> = BTreeMap::new();
    let is_shown = |meeting: &&Meeting| meeting.stage == Stage::Main && meeting.round <= rounds;
    for meeting in tournament.meetings().filter(is_shown) {
        for (side, entrant) in meeting.sides().enumerate() {
            let opponent = meeting.sides().find(|other| *other != entrant);
            let opponent = opponent.and_then(|other| numbers.get(&other).copied());
            let entry = entry(meeting, side, opponent, tournament.games());
            entries.extend(entry.map(|entry| ((entrant, meeting.round), entry)));
        }
    }
    let settings = tournament.settings();
    let mut lines = vec![format!("012 {}", settings.name)];
    lines.extend(tournament.started().map(|at| format!("042 {}", date(at))));
    if let Phase::Ended(_) = tournament.phase() {
        lines.push(format!("052 {}", date(tournament.changed())));
    }
    lines.push(format!("062 {}", numbers.len()));
    lines.push(format!("092 {kind}"));
    let ranks: BTreeMap<EntrantId, u32> = standings(tournament).iter().map(|row| (row.entrant, row.rank)).collect();
    for (id, entrant) in tournament.entrants() {
        let points: HalfPoints = (1..=rounds).filter_map(|round| Some(entries.get(&(*id, round))?.points)).sum();
        let mut line = format!(
            "001 {:>4}      {:33} {:>4} {:27}{:>2}.{} {:>4}",
            numbers.get(id)?,
            name(&entrant.who),
            entrant.rating.min(9999),
            "",
            points.0 / 2,
            5 * (points.0 % 2),
            ranks.get(id)?,
        );
        for round in 1..=rounds {
            let columns = entries.get(&(*id, round)).map_or(NOT_PAIRED, |entry| &entry.columns);
            // Writing to a string cannot fail.
            let _ = write!(line, "  {columns}");
        }
        lines.push(line);
    }
    lines.push(format!("XXR {}", rounds.max(tournament.rounds())));
    Some(lines)
}

/// The round of one side of a meeting; `None` if it does not count.
fn entry(meeting: &Meeting, side: usize, opponent: Option<usize>, games: u32) -> Option<Entry> {
    let Some(opponent) = opponent else {
        return Some(Entry { columns: "0000 - U".to_owned(), points: HalfPoints(2) });
    };
    let own = meeting.points(games);
    let [mine, theirs] = if side == 0 { own } else { [own[1], own[0]] };
    let (points, result) = match (meeting.outcome?, mine.cmp(&theirs)) {
        (Outcome::Void, _) => return None,
        (Outcome::Forfeit { .. }, order) if order.is_gt() => (2, '+'),
        (Outcome::Forfeit { .. }, _) => (0, '-'),
        (Outcome::Played { .. }, order) if order.is_gt() => (2, '1'),
        (Outcome::Played { .. }, order) if order.is_lt() => (0, '0'),
        (Outcome::Played { .. }, _) => (1, '='),
    };
    let colour = if Color::ALL.get(side) == Some(&Color::Black) { 'b' } else { 'w' };
    Some(Entry { columns: format!("{opponent:>4} {colour} {result}"), points: HalfPoints(points) })
}

/// As `2026/01/02`.
fn date(at: Timestamp) -> String {
    ggf::write_date(at).replace('-', "/").chars().take("2026/01/02".len()).collect()
}

fn name(who: &Participant) -> String {
    let name = match who {
        Participant::Player(profile) => profile.name.to_string(),
        Participant::Ai(ai) => format!("{}:{}", ai.kind, ai.level),
    };
    name.chars().take(33).collect()
}
