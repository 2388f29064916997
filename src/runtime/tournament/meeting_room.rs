//! The room of one meeting: whether it runs, its creation, and the outcome of its series.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::{
    match_statistics::{Points, Score},
    room::{
        Command, Creation, DisplayName, EndReason, GameId, GameRecord, Issuer, JoinCode, MeetingRef, Occupant,
        Participant, PlayerId, PlayerKind, Policy, Profile, Rejection, Room, RoomId, Settings,
    },
    rules::{self, ByColor, Color},
    runtime::{
        limit::limits::{DAMAGE_RETRY, STORE_RETRY},
        outcome::RoomError,
        room::{host::RoomHost, rooms::Rooms},
    },
    store::Archive,
    tournament::{Fault, Forfeiter, Meeting, Outcome, Tournament},
};

/// The time after the end of a series is shown at which its room closes. Until then the board can be looked at.
const BOARD_SHOWN: Duration = Duration::from_secs(10 * 60);

/// The name in the place of an owner.
const OWNER: &str = "tournament";

/// The newest state of a tournament.
type LatestState = watch::Receiver<Arc<Tournament>>;

/// Creates the room of a meeting unless it was there before, or the meeting is decided. Returns the outcome of the
/// meeting if that is known, and none while its series runs. Tries again until the store and the room answer.
pub(super) async fn look(rooms: Rooms, mut state: LatestState, number: u32) -> (u32, Option<Outcome>) {
    let mut is_told = false;
    loop {
        let tournament = Arc::clone(&state.borrow());
        let Some(meeting) = tournament.meeting(number).filter(|meeting| !meeting.is_finished()) else {
            return (number, None);
        };
        let error = match look_once(&rooms, &tournament, meeting, &state).await {
            Ok(found) => return (number, found),
            Err(error) => error,
        };
        if !std::mem::replace(&mut is_told, true) {
            tracing::warn!(tournament = %tournament.id(), number, %error, "the room of a meeting is tried again");
        }
        let pause = match error {
            RoomError::TooFast(pause) => pause,
            RoomError::Damaged => DAMAGE_RETRY,
            _ => STORE_RETRY,
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = state.wait_for(|now| now.meeting(number).is_none_or(Meeting::is_finished)) => {}
        }
    }
}

async fn look_once(
    rooms: &Rooms,
    tournament: &Tournament,
    meeting: &Meeting,
    state: &LatestState,
) -> Result<Option<Outcome>, RoomError> {
    let Some(sides) = sides(tournament, meeting) else { return Ok(Some(Outcome::Void)) };
    let room = meeting.pairing.room;
    let open = match rooms.snapshot_as_admin(room).await {
        Ok(snapshot) if snapshot.room.series().is_some() => return Ok(None),
        Ok(snapshot) => Some(snapshot.room),
        Err(RoomError::Rejected(Rejection::RoomNotFound)) => None,
        Err(error) => return Err(error),
    };
    let games = games_of(&*rooms.archive, room, tournament.settings().game.games).await?;
    if open.is_some() || !games.is_empty() {
        return Ok(Some(outcome(&sides, &games, tournament.settings().game.games, open.as_deref())));
    }
    match create(rooms, tournament, meeting, &sides).await {
        Ok(()) => {
            if state.borrow().meeting(meeting.pairing.number).is_none_or(Meeting::is_finished) {
                // It was decided meanwhile, and a side may have left before its game began.
                let _ = rooms.host.command(room, Issuer::Admin, Command::Close).await;
            }
            Ok(None)
        }
        // It was there, and has closed without a game.
        Err(RoomError::Rejected(Rejection::RoomClosed)) => Ok(Some(Outcome::Void)),
        Err(error) => Err(error),
    }
}

/// Both sides; none for a bye, which has no room.
fn sides(tournament: &Tournament, meeting: &Meeting) -> Option<[Participant; 2]> {
    let who = |id| tournament.entrants().get(&id).map(|entrant| entrant.who.clone());
    Some([who(meeting.pairing.first)?, who(meeting.pairing.second?)?])
}

/// The stored games of a room, at most `most`.
async fn games_of(archive: &dyn Archive, room: RoomId, most: u16) -> Result<Vec<Arc<GameRecord>>, RoomError> {
    let mut games = Vec::new();
    for number in 1..=u32::from(most) {
        match archive.game(GameId { room, number }).await? {
            Some(game) => games.push(game),
            None => break,
        }
    }
    Ok(games)
}

async fn create(
    rooms: &Rooms,
    tournament: &Tournament,
    meeting: &Meeting,
    sides: &[Participant; 2],
) -> Result<(), RoomError> {
    let context = &rooms.host.context;
    rooms.host.require_capacity()?;
    let id = meeting.pairing.room;
    let mut occupants = Vec::with_capacity(sides.len());
    for side in sides {
        occupants.push(match side {
            Participant::Ai(ai) => {
                let mut ai = ai.clone();
                // Otherwise it would play the same game in each meeting.
                ai.seed ^= meeting.pairing.opening;
                Occupant::Ai(ai)
            }
            Participant::Player(profile) => match rooms.host.player(profile.id).await? {
                Some(player) => {
                    // The player leaves a room in which it only waits. A seat of a meeting needs no free one.
                    let _ = rooms.free_seat(&player, id, None).await;
                    Occupant::Player(player.profile())
                }
                None => Occupant::Player(profile.clone()),
            },
        });
    }
    let limits = context.limits.get();
    let [black, white] = <[Occupant; 2]>::try_from(occupants).unwrap_or([Occupant::Open, Occupant::Open]);
    let creation = Creation {
        id,
        code: JoinCode::from_random(rooms.random.bits()),
        owner: owner(tournament.organiser()),
        settings: Settings { name: tournament.settings().name.clone(), ..tournament.room_settings(meeting) },
        policy: Policy {
            grace: limits.presence_grace,
            idle_close: limits.idle_close.min(BOARD_SHOWN + tournament.settings().game.spectator_delay),
            members: limits.members_per_room,
        },
        seats: ByColor::new(black, white),
        request: None,
        meeting: Some(MeetingRef { tournament: tournament.id(), number: meeting.pairing.number, round: meeting.round }),
    };
    rooms.host.create(creation, Some(Command::Start(None))).await.map(drop)
}

/// Ends the series of a meeting that is decided. A side that has left the tournament loses the running game. Otherwise a
/// rated game is played to its end, since a decision would be a way out of a lost one; an unrated one is aborted.
pub(super) async fn settle(host: RoomHost, tournament: Arc<Tournament>, number: u32) {
    let Some(meeting) = tournament.meeting(number) else { return };
    let entrants = meeting.sides().filter_map(|side| tournament.entrants().get(&side));
    let left = entrants.filter(|entrant| entrant.left.is_some()).filter_map(|entrant| entrant.who.id());
    let mut commands: Vec<_> = left.map(|player| (Issuer::Player(player), Command::Leave)).collect();
    if commands.is_empty() {
        let is_rated = tournament.settings().game.rated;
        commands.push((Issuer::Admin, if is_rated { Command::EndSeries } else { Command::Close }));
    }
    for (issuer, command) in commands {
        // A room that is not there needs no end; one that does not answer ends by itself.
        let _ = host.command(meeting.pairing.room, issuer, command).await;
    }
}

/// The organiser in the place of the owner, who answers for the games of AIs and has no rights in the room.
fn owner(organiser: PlayerId) -> Profile {
    let name = DisplayName::from_stored(OWNER).unwrap_or_else(|_| unreachable!("a name"));
    Profile { id: organiser, name, kind: PlayerKind::Bot, engine_version: None }
}

/// The outcome of a series of at most `wanted` games, of which these were played. An open room shows who has left it.
fn outcome(sides: &[Participant; 2], games: &[Arc<GameRecord>], wanted: u16, open: Option<&Room>) -> Outcome {
    let (mut score, mut discs, mut faults) = (Score::default(), [0; 2], [None; 2]);
    for (index, game) in (0..).zip(games).filter(|(_, game)| game.end.counts()) {
        let first = if game.players.black.is_same(&sides[0]) { Color::Black } else { Color::White };
        score.count(index, points(game, first));
        for (side, color) in [first, first.opposite()].into_iter().enumerate() {
            discs[side] += u32::from(discs_of(game)[color]);
            let fault = match game.end.reason {
                EndReason::Timeout => Some(Fault::Timeout),
                EndReason::Kicked => Some(Fault::IllegalMoves),
                EndReason::Left => Some(Fault::Absence),
                _ => None,
            };
            faults[side] = fault.filter(|_| game.end.winner == Some(color.opposite())).or(faults[side]);
        }
    }
    let is_cut = games.len() < usize::from(wanted);
    if let Some(room) = open.filter(|_| is_cut) {
        let stays = |side: &Participant| side.id().is_none_or(|player| room.seat_of(player).is_some());
        // Also one who has lost the last game in another way, and then did not come back.
        match [stays(&sides[0]), stays(&sides[1])] {
            [true, false] => faults[1] = Some(Fault::Absence),
            [false, true] => faults[0] = Some(Fault::Absence),
            [true, true] | [false, false] => {}
        }
    }
    match faults {
        _ if score.games() > 0 => Outcome::Played { score, discs, faults },
        [Some(_), None] => Outcome::Forfeit { by: Forfeiter::First, fault: true },
        [None, Some(_)] => Outcome::Forfeit { by: Forfeiter::Second, fault: true },
        [Some(_), Some(_)] | [None, None] => Outcome::Void,
    }
}

fn points(game: &GameRecord, of: Color) -> Points {
    match game.end.winner {
        None => Points::Draw,
        Some(winner) if winner == of => Points::Win,
        Some(_) => Points::Loss,
    }
}

/// The discs of both sides, 64 together: of a game that did not end on the board, those of the loser at its end.
fn discs_of(game: &GameRecord) -> ByColor<u8> {
    let board = game.position.board();
    match (game.end.reason, game.end.winner) {
        (EndReason::Discs, _) => rules::Outcome::of(board).official(),
        (_, Some(winner)) => {
            let lost = board.count(winner.opposite()).min(31);
            ByColor::from_fn(|color| if color == winner { 64 - lost } else { lost })
        }
        (_, None) => ByColor::new(32, 32),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::room::{RoomName, Timestamp, TournamentId};

    #[test]
    fn a_game_lost_on_time_is_a_fault_of_its_loser_on_whichever_side() {
        let profile = |number: u32| Profile {
            id: PlayerId::from_random(number.into()),
            name: DisplayName::parse(&format!("p{number}")).unwrap(),
            kind: PlayerKind::Bot,
            engine_version: None,
        };
        let [one, two] = [profile(1), profile(2)];
        let sides = [&one, &two].map(|side| Participant::Player(side.clone()));
        let lost_on_time = |[black, white]: [&Profile; 2]| {
            let creation = Creation {
                id: RoomId::from_random(1),
                code: JoinCode::from_random(1),
                owner: owner(PlayerId::from_random(3)),
                settings: Settings::named(RoomName::parse("Cup").unwrap()),
                policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(60), members: 8 },
                seats: ByColor::new(Occupant::Player(black.clone()), Occupant::Player(white.clone())),
                request: None,
                meeting: Some(MeetingRef { tournament: TournamentId::from_random(1), number: 1, round: 1 }),
            };
            let mut room = Room::new(creation, Timestamp(0));
            let started = room.decide(Timestamp(0), Issuer::Server, Command::Start(None)).unwrap();
            started.iter().for_each(|event| room.apply(event));
            let over = room.decide(room.flag_falls().unwrap(), Issuer::Server, Command::Tick).unwrap();
            room.records(&over).into_iter().map(Arc::new).collect::<Vec<_>>()
        };
        let outcome = |games: &[Arc<GameRecord>]| outcome(&sides, games, 1, None);
        for (players, points, faults) in [
            ([&one, &two], Points::Loss, [Some(Fault::Timeout), None]),
            ([&two, &one], Points::Win, [None, Some(Fault::Timeout)]),
        ] {
            let mut score = Score::default();
            score.count(0, points);
            let Outcome::Played { score: found, faults: found_faults, .. } = outcome(&lost_on_time(players)) else {
                panic!("it was played")
            };
            assert_eq!((found, found_faults), (score, faults));
        }
    }
}
