//! The parameters of a simulation, determined by its seed before it starts.

use std::time::Duration;

use reversi::{room::PlayerKind, runtime::Limits};

use crate::sim::rng::Rng;

/// One server, from start to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerPlan {
    pub(crate) length: Duration,
    /// Whether it is asked to stop; otherwise it crashes.
    pub(crate) clean: bool,
    /// When the disk starts to fail, and for how long.
    pub(crate) fault_period: Option<(Duration, Duration)>,
    /// How long the next server has faults, if this one ends during a fault period.
    pub(crate) remaining_faults: Duration,
    /// Wall time until the next server starts, in microseconds; negative if the clock was set back.
    pub(crate) away: i64,
    /// The number of appends in the fault period that crash the server, per thousand.
    pub(crate) crashes_per_thousand: usize,
    /// Whether the power fails while it runs, with [`Storage::Sqlite`].
    pub(crate) power_fails: bool,
}

/// What is below the faults of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Memory,
    /// SQLite, with a power cut after each server.
    Sqlite {
        ignores_syncs: bool,
    },
}

/// How the clients call the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// As functions of the runtime.
    Direct,
    /// Over gRPC, on connections in memory.
    Grpc,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientPlan {
    pub(crate) kind: PlayerKind,
    pub(crate) seats: u16,
}

pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) clients: Vec<ClientPlan>,
    /// The last one ends cleanly, without a fault period.
    pub(crate) servers: Vec<ServerPlan>,
    pub(crate) limits: Limits,
    pub(crate) storage: Storage,
    pub(crate) transport: Transport,
}

/// Low enough that players reach the quota.
const ROOMS_PER_PLAYER: usize = 3;

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = Rng::seeded(seed, 1);
        let clients = (0..3 + rng.below(5)).map(|_| client_plan(&mut rng)).collect();
        let mut servers: Vec<_> = (0..1 + rng.below(4)).map(|_| server_plan(&mut rng)).collect();
        if let Some(last) = servers.last_mut() {
            (last.fault_period, last.crashes_per_thousand, last.power_fails) = (None, 0, false);
        }
        let seconds = |rng: &mut Rng, from: &[u64]| Duration::from_secs(rng.pick(from));
        let limits = Limits {
            rooms_per_player: ROOMS_PER_PLAYER,
            // Rate limits use real time, which would make runs of a seed differ.
            requests_per_second: 1_000_000,
            request_burst: 1_000_000,
            chats_per_second: 1_000_000,
            chat_burst: 1_000_000,
            // All clients over gRPC have one address.
            requests_per_second_per_address: 0,
            chats_per_second_per_address: 0,
            log_ins_per_minute: 0,
            wrong_guesses_per_address: 0,
            presence_grace: seconds(&mut rng, &[4, 10, 20]),
            idle_close: seconds(&mut rng, &[40, 120, 3_000]),
            room_sleep: seconds(&mut rng, &[1, 3, 10]),
            player_idle: seconds(&mut rng, &[20, 1_000_000, 1_000_000]),
            guest_idle: Duration::from_secs(1_000_000),
            members_per_room: rng.pick(&[3, 16]),
            streams_per_player: rng.pick(&[4, 16]),
            ..Limits::default()
        };
        Self { seed, clients, servers, limits, storage: Storage::Memory, transport: Transport::Direct }
    }
}

fn client_plan(rng: &mut Rng) -> ClientPlan {
    match rng.below(3) {
        0 => ClientPlan { kind: PlayerKind::Bot, seats: rng.pick(&[1, 2]) },
        _ => ClientPlan { kind: PlayerKind::Human, seats: 0 },
    }
}

fn server_plan(rng: &mut Rng) -> ServerPlan {
    let fault_period = rng.percent(60).then(|| (rng.millis(0..20_000), rng.millis(500..15_000)));
    let away = match rng.below(6) {
        0 => 0,
        1 => -i64::try_from(rng.below(100_000_000)).unwrap_or(0),
        2 => i64::try_from(rng.below(3_000_000_000)).unwrap_or(0),
        _ => i64::try_from(rng.below(30_000_000)).unwrap_or(0),
    };
    ServerPlan {
        length: rng.millis(2_000..40_000),
        clean: rng.percent(50),
        fault_period,
        remaining_faults: rng.millis(0..6_000),
        away,
        crashes_per_thousand: if rng.percent(30) { 20 } else { 0 },
        power_fails: rng.percent(60),
    }
}
