//! A player who requests a game against anyone gets one seat, in a room with the terms of its request, of a player who
//! accepts its rating and whose rating it accepts, and not in a new room while such a player waits. A refused player gets
//! none.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use reversi::{
    room::{Occupant, Phase, PlayerId, Room, RoomId, Settings, Visibility, Watching},
    rules::Color,
    runtime::{Opponent, RoomError},
};

use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

/// A search that takes longer may have given up on a room that did not answer.
const SEARCH: Duration = Duration::from_secs(2);

/// Within this time after the last one of a cluster's shards was taken, no room moves.
const MOVE: Duration = Duration::from_secs(3);

/// The rating of a player without a rated game.
const BEGINNER: u16 = 1_500;

/// Longer than a dropped request is still executed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request for a game against anyone.
struct Request<'a> {
    terms: &'a Settings,
    at: Duration,
    client: usize,
    player: PlayerId,
    /// Whether no other request of the client is executed at the same time.
    is_alone: bool,
    /// Where the player had a seat before.
    seats_before: BTreeSet<RoomId>,
    /// Where the player has had a seat since.
    seats: BTreeSet<RoomId>,
    /// The rooms that were open before.
    older: BTreeSet<RoomId>,
    /// Where an opponent has waited all the time.
    opponents: BTreeSet<RoomId>,
}

#[derive(Default)]
struct State<'a> {
    rooms: BTreeMap<RoomId, &'a Room>,
    /// The rooms of answered requests whose players have been alone there since.
    waiting: BTreeSet<RoomId>,
    /// Since when all servers can be reached.
    calm: Option<Duration>,
    players: BTreeMap<usize, PlayerId>,
    /// The calls under way of each client, and those that may go on, with their ends.
    calls: BTreeMap<usize, BTreeMap<u64, Option<Duration>>>,
    requests: BTreeMap<u64, Request<'a>>,
}

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut state, mut ids) = (State::default(), BTreeSet::new());
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::ServerBegan { .. } | SimEvent::DiskFaulty(false) => state.calm = Some(*at),
            SimEvent::DiskFaulty(true) => state.calm = None,
            SimEvent::ShardsTaken(..) => state.calm = state.calm.map(|_| *at + MOVE),
            SimEvent::Written { room: id, events } => {
                let room = events.last().and_then(|event| history.rooms[id].at(event.seq));
                room.into_iter().for_each(|room| state.write(*id, room));
            }
            SimEvent::Requested { action: Action::LogIn | Action::LogOut, .. } => {}
            SimEvent::Requested { call, client, action } => {
                // A repeated request returns the earlier room.
                let is_new = match action {
                    Action::Create(_, Some(id)) | Action::Quick(.., Some(id)) => ids.insert((client, id)),
                    _ => true,
                };
                let is_alone = state.begin(*call, *at, *client);
                if let Action::Quick(Opponent::Anyone | Opponent::AnyoneOrHouse(_), side, terms, _) = action
                    && is_new
                {
                    state.request(*call, *at, (*client, *side, terms), is_alone);
                }
            }
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                state.players.insert(history.call(*call).0, *player);
            }
            SimEvent::Answered { call, outcome } => {
                state.answer(*call, *at, outcome)?;
                state.end(*call, *at, history.call(*call).0, outcome);
            }
            _ => {}
        }
    }
    Ok(())
}

impl<'a> State<'a> {
    fn write(&mut self, id: RoomId, room: &'a Room) {
        self.rooms.insert(id, room);
        if alone(room).is_none() {
            self.waiting.remove(&id);
        }
        for request in self.requests.values_mut() {
            if room.seat_of(request.player).is_some() {
                request.seats.insert(id);
            }
            request.opponents.retain(|opponent| self.waiting.contains(opponent));
        }
    }

    /// A call begins. Returns whether no other call of its client is executed.
    fn begin(&mut self, call: u64, at: Duration, client: usize) -> bool {
        for request in self.requests.values_mut().filter(|request| request.client == client) {
            request.is_alone = false;
        }
        let calls = self.calls.entry(client).or_default();
        calls.retain(|_, end| end.is_none_or(|end| end + PATIENCE > at));
        calls.insert(call, None);
        calls.len() == 1
    }

    fn seats_of(&self, player: PlayerId) -> BTreeSet<RoomId> {
        let seats = self.rooms.iter().filter(|(_, room)| room.seat_of(player).is_some());
        seats.map(|(id, _)| *id).collect()
    }

    fn request(
        &mut self,
        call: u64,
        at: Duration,
        (client, side, terms): (usize, Option<Color>, &'a Settings),
        is_alone: bool,
    ) {
        let player = self.players[&client];
        let seats_before = self.seats_of(player);
        let seats = seats_before.clone();
        let is_calm = self.calm.is_some_and(|calm| calm <= at);
        let waits = |id: &&RoomId| {
            let room = self.rooms[*id];
            let is_fit = |(other, mine)| other != player && side.is_none_or(|side| side == mine);
            may_meet(room.settings(), terms) && alone(room).is_some_and(is_fit)
        };
        let opponents = self.waiting.iter().filter(|_| is_calm).filter(waits).copied().collect();
        let older = self.rooms.keys().copied().collect();
        let request = Request { terms, at, client, player, is_alone, seats_before, seats, older, opponents };
        self.requests.insert(call, request);
    }

    /// A call ends, or goes on without its caller.
    fn end(&mut self, call: u64, at: Duration, client: usize, outcome: &Outcome) {
        let calls = self.calls.entry(client).or_default();
        if goes_on(outcome) {
            calls.insert(call, Some(at));
        } else {
            calls.remove(&call);
        }
    }

    fn answer(&mut self, call: u64, at: Duration, outcome: &Outcome) -> CheckResult {
        let Some(request) = self.requests.remove(&call) else { return Ok(()) };
        let room = if let Outcome::RoomCreated(room, _) = outcome { Some(room) } else { None };
        if request.is_alone && !goes_on(outcome) && (room.is_some() || self.calm.is_some_and(|calm| calm <= request.at))
        {
            let seats = self.seats_of(request.player);
            let new = seats.difference(&request.seats_before).find(|seat| Some(*seat) != room);
            ensure(new.is_none(), || {
                format!("at {at:?} call {call} gives a seat in {new:?}, and is answered: {outcome:?}")
            })?;
        }
        let Some(room) = room else { return Ok(()) };
        ensure(request.seats.contains(room), || format!("at {at:?} call {call} gives no seat in {room}"))?;
        let settings = self.rooms[room].settings();
        let is_found = request.older.contains(room) && !request.seats_before.contains(room);
        let fits = if is_found { may_meet(settings, request.terms) } else { settings.has_terms_of(request.terms) };
        ensure(fits || !request.is_alone, || format!("at {at:?} call {call} gives a seat in {room} on other terms"))?;
        if !request.older.contains(room) {
            if alone(self.rooms[room]).is_some() {
                self.waiting.insert(*room);
            }
            let is_calm = self.calm.is_some_and(|calm| calm <= request.at) && at < request.at + SEARCH;
            let opponent = request.opponents.first().filter(|_| is_calm);
            ensure(opponent.is_none(), || {
                format!("at {at:?} call {call} creates {room}, and a player waits in {opponent:?}")
            })?;
        }
        Ok(())
    }
}

/// Whether a request may still be executed.
fn goes_on(outcome: &Outcome) -> bool {
    use RoomError::{Busy, Draining, Moved, StoreUnavailable, Unreachable};
    let Outcome::Refused(error) = outcome else { return matches!(outcome, Outcome::Dropped) };
    matches!(error, Busy | Draining | Moved | StoreUnavailable | Unreachable)
}

/// Whether two requests have the same terms, and each accepts the other's player: a range of ratings of the simulation has
/// all ratings or none.
fn may_meet(one: &Settings, other: &Settings) -> bool {
    let accepts_all = |settings: &Settings| settings.opponents.accept_rating(BEGINNER);
    one.has_terms_of(other) && accepts_all(one) && accepts_all(other)
}

/// The player who waits alone in a room for any opponent, and the side of the opponent.
fn alone(room: &Room) -> Option<(PlayerId, Color)> {
    let [member] = room.members() else { return None };
    let player = member.profile.id;
    let side = room.seat_of(player)?.opposite();
    let is_open = room.phase() == Phase::Lobby && room.seats()[side].occupant == Occupant::Open;
    let settings = room.settings();
    let is_for_anyone = settings.auto_start
        && settings.visibility == Visibility::Public
        && settings.watching == Watching::Everyone
        && settings.password.is_none();
    let is_ready = room.seats()[side.opposite()].ready() && room.is_present(side.opposite());
    (is_open && is_ready && is_for_anyone).then_some((player, side))
}
