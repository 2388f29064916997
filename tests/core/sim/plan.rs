//! The parameters of a world, determined by its seed before it starts.

use std::time::Duration;

use reversi::{room::PlayerKind, runtime::Limits};

use crate::sim::dice::Dice;

/// One server, from start to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) length: Duration,
    /// Whether it is asked to stop; otherwise it crashes.
    pub(crate) clean: bool,
    /// When the disk starts to fail, and for how long.
    pub(crate) storm: Option<(Duration, Duration)>,
    /// How long a storm that outlasts its server continues.
    pub(crate) clearing: Duration,
    /// Wall time until the next server starts, in microseconds; negative if the clock was set back.
    pub(crate) away: i64,
    /// The number of appends of the storm that crash the server, per thousand.
    pub(crate) deadly: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) kind: PlayerKind,
    pub(crate) seats: u16,
}

pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) cast: Vec<Part>,
    /// The last one ends cleanly, without a storm.
    pub(crate) lives: Vec<Life>,
    pub(crate) limits: Limits,
}

/// Low enough that players reach the quota.
const ROOMS_PER_PLAYER: usize = 3;

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed, 1);
        let cast = (0..3 + dice.below(5)).map(|_| part(&mut dice)).collect();
        let mut lives: Vec<_> = (0..1 + dice.below(4)).map(|_| life(&mut dice)).collect();
        if let Some(last) = lives.last_mut() {
            (last.storm, last.deadly) = (None, 0);
        }
        let seconds = |dice: &mut Dice, from: &[u64]| Duration::from_secs(dice.pick(from));
        let limits = Limits {
            rooms_per_player: ROOMS_PER_PLAYER,
            // Rate limits use real time, which would make a seed unrepeatable.
            requests_per_second: 1_000_000,
            request_burst: 1_000_000,
            chats_per_second: 1_000_000,
            chat_burst: 1_000_000,
            presence_grace: seconds(&mut dice, &[4, 10, 20]),
            idle_close: seconds(&mut dice, &[40, 120, 3_000]),
            room_sleep: seconds(&mut dice, &[1, 3, 10]),
            player_idle: seconds(&mut dice, &[20, 1_000_000, 1_000_000]),
            members_per_room: dice.pick(&[3, 16]),
            streams_per_player: dice.pick(&[4, 16]),
            ..Limits::default()
        };
        Self { seed, cast, lives, limits }
    }
}

fn part(dice: &mut Dice) -> Part {
    match dice.below(3) {
        0 => Part { kind: PlayerKind::Bot, seats: dice.pick(&[1, 2]) },
        _ => Part { kind: PlayerKind::Human, seats: 0 },
    }
}

fn life(dice: &mut Dice) -> Life {
    let storm = dice.percent(60).then(|| (dice.millis(0..20_000), dice.millis(500..15_000)));
    let away = match dice.below(6) {
        0 => 0,
        1 => -i64::try_from(dice.below(100_000_000)).unwrap_or(0),
        2 => i64::try_from(dice.below(3_000_000_000)).unwrap_or(0),
        _ => i64::try_from(dice.below(30_000_000)).unwrap_or(0),
    };
    Life {
        length: dice.millis(2_000..40_000),
        clean: dice.percent(50),
        storm,
        clearing: dice.millis(0..6_000),
        away,
        deadly: if dice.percent(30) { 20 } else { 0 },
    }
}
