//! A bot's decisions about rooms, as pure functions of their state, and how they are carried out.

use std::collections::HashSet;

use crate::{
    cli::connect::{leave, reconnecting_stream::ReconnectingStream},
    client::{
        ClientError, GameId, ListUpdate, Occupant, Offer, Phase, PlayerId, PlayerKind, Room, RoomFilter, RoomId,
        RoomList, RoomRow, Session,
    },
    rules::Color,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoomAction {
    Sit(Color),
    Ready,
    /// Accepts or declines an offer.
    Answer(Offer, bool),
    /// Nothing to do in this room.
    Leave,
}

/// What a bot wants in its room once no game runs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// More games here.
    Stay,
    /// One game here, and others if the opponent offers them.
    ChangeRooms,
    /// No more games here.
    Leave,
}

/// The next action in a room; `None` while others must act. A seat is left only between series: in one the next game
/// may begin at the same time, and would be lost.
pub(super) fn next_action(room: &Room, me: &PlayerId, wish: Wish) -> Option<RoomAction> {
    if room.phase == Phase::Closed {
        return Some(RoomAction::Leave);
    }
    let Some(side) = room.side_of(me) else {
        let free = Color::ALL.into_iter().find(|&side| room.seats[side].is_free_for(me));
        return match (room.phase, free) {
            (Phase::Lobby, Some(side)) if wish != Wish::Leave => Some(RoomAction::Sit(side)),
            _ => Some(RoomAction::Leave),
        };
    };
    if let Some(game) = room.running() {
        // Bots play to the end.
        return game.offer_of(side.opposite()).map(|offer| RoomAction::Answer(offer, false));
    }
    if room.phase != Phase::Lobby {
        return None;
    }
    let opponent = &room.seats[side.opposite()];
    if wish == Wish::Leave {
        return Some(RoomAction::Leave);
    }
    if room.rematch_offered_by == Some(side.opposite()) {
        return Some(RoomAction::Answer(Offer::Rematch, true));
    }
    if wish == Wish::ChangeRooms && room.game.is_some() {
        // It does not get ready while it waits for an offer, so that it can leave at any time.
        let is_person = matches!(&opponent.occupant, Occupant::Player(player) if player.kind == PlayerKind::Human);
        return (!is_person).then_some(RoomAction::Leave);
    }
    // It starts no game: a bot that stands in for an owner who has gone would play on without end.
    (!room.seats[side].ready).then_some(RoomAction::Ready)
}

/// The rooms with an open seat. The stream is opened when it is first read.
pub(super) fn open_rooms(session: &Session) -> ReconnectingStream<ListUpdate> {
    let session = session.clone();
    ReconnectingStream::new(move || {
        let session = session.clone();
        async move { session.watch_rooms(RoomFilter { open_seat: true, ..RoomFilter::default() }).await }
    })
}

/// An untried room with an open seat and no password, preferably with a waiting opponent.
pub(super) fn choose(list: &RoomList, tried: &HashSet<RoomId>) -> Option<RoomId> {
    let open = list.rows().iter().filter(|row| row.has_open_seat() && !row.has_password && !tried.contains(&row.id));
    let waiting = |row: &&RoomRow| row.seats.iter().any(|(_, seat)| !matches!(seat.occupant, Occupant::Open));
    open.clone().find(waiting).or_else(|| open.clone().next()).map(|row| row.id.clone())
}

/// `game` is the running or last game of the room.
pub(super) async fn perform(
    session: &Session,
    room: &RoomId,
    game: Option<GameId>,
    action: RoomAction,
) -> Result<(), ClientError> {
    match action {
        RoomAction::Sit(side) => session.take_seat(room, side).await,
        RoomAction::Ready => session.set_ready(room, true).await,
        RoomAction::Answer(offer, accept) => match game {
            Some(game) => session.answer(&game, offer, accept).await,
            None => Ok(0),
        },
        RoomAction::Leave => leave::unless_playing(session, room).await,
    }
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{
        Ai, EndReason, GameResult, ListUpdate, Outcome, Player,
        fixture::{self, row},
    };
    use crate::rules::ByColor;

    fn me() -> PlayerId {
        "me".parse().unwrap()
    }

    fn seated() -> Room {
        let mut room = fixture::room();
        let player = Player { id: me(), name: "me".into(), kind: PlayerKind::Bot, engine_version: String::new() };
        room.seats.white.occupant = Occupant::Player(player);
        room
    }

    fn lobby(mut room: Room) -> Room {
        room.phase = Phase::Lobby;
        if let Some(game) = &mut room.game {
            game.outcome = Some(Outcome {
                result: GameResult::Draw,
                reason: EndReason::Agreed,
                discs: ByColor::default(),
                score: ByColor::default(),
            });
        }
        room
    }

    #[test]
    fn a_bot_takes_a_seat_gets_ready_and_then_waits() {
        assert_eq!(next_action(&lobby(fixture::room()), &me(), Wish::Stay), Some(RoomAction::Sit(Color::Black)));
        let mut room = lobby(seated());
        assert_eq!(next_action(&room, &me(), Wish::Stay), Some(RoomAction::Ready));
        room.seats.white.ready = true;
        assert_eq!(next_action(&room, &me(), Wish::Stay), None);
        room.rematch_offered_by = Some(Color::Black);
        assert_eq!(next_action(&room, &me(), Wish::Stay), Some(RoomAction::Answer(Offer::Rematch, true)));
        room.rematch_offered_by = None;
        room.seats.black.occupant = Occupant::Ai(Ai::new("greedy"));
        room.seats.black.ready = true;
        assert_eq!(next_action(&room, &me(), Wish::Stay), None);
        room.owner = Some(me());
        assert_eq!(next_action(&room, &me(), Wish::Stay), None);
        room.phase = Phase::Closed;
        assert_eq!(next_action(&room, &me(), Wish::Stay), Some(RoomAction::Leave));
    }

    #[test]
    fn a_bot_leaves_rooms_where_it_cannot_play_and_stays_where_it_plays() {
        assert_eq!(next_action(&fixture::room(), &me(), Wish::Stay), Some(RoomAction::Leave));
        let mut room = seated();
        assert_eq!(next_action(&room, &me(), Wish::Stay), None);
        if let Some(game) = &mut room.game {
            game.draw_offered_by = Some(Color::Black);
        }
        assert_eq!(next_action(&room, &me(), Wish::Stay), Some(RoomAction::Answer(Offer::Draw, false)));
    }

    #[test]
    fn a_bot_that_has_played_its_games_leaves_between_series_and_is_never_ready() {
        let playing = seated();
        assert_eq!(next_action(&playing, &me(), Wish::Leave), None, "a running game");
        let between_games = Room { phase: Phase::Playing, ..lobby(seated()) };
        assert_eq!(next_action(&between_games, &me(), Wish::Leave), None, "the next game of the series begins");
        let mut over = lobby(seated());
        assert_eq!(next_action(&over, &me(), Wish::Leave), Some(RoomAction::Leave));
        over.rematch_offered_by = Some(Color::Black);
        assert_eq!(next_action(&over, &me(), Wish::Leave), Some(RoomAction::Leave));
        assert_eq!(next_action(&lobby(fixture::room()), &me(), Wish::Leave), Some(RoomAction::Leave));
    }

    #[test]
    fn a_bot_that_changes_rooms_waits_only_for_a_person() {
        let mut room = lobby(seated());
        let player = |kind| {
            Occupant::Player(Player {
                id: "other".parse().unwrap(),
                name: "other".into(),
                kind,
                engine_version: String::new(),
            })
        };
        for occupant in [Occupant::Open, Occupant::Ai(Ai::new("greedy")), player(PlayerKind::Bot)] {
            room.seats.black.occupant = occupant;
            assert_eq!(next_action(&room, &me(), Wish::ChangeRooms), Some(RoomAction::Leave));
        }
        room.seats.black.occupant = player(PlayerKind::Human);
        assert_eq!(next_action(&room, &me(), Wish::ChangeRooms), None);
        room.rematch_offered_by = Some(Color::Black);
        assert_eq!(next_action(&room, &me(), Wish::ChangeRooms), Some(RoomAction::Answer(Offer::Rematch, true)));
        room = Room { game: None, ..room };
        room.rematch_offered_by = None;
        assert_eq!(next_action(&room, &me(), Wish::ChangeRooms), Some(RoomAction::Ready), "before the first game");
    }

    #[test]
    fn occupied_rooms_come_first() {
        let mut waiting = row("b");
        waiting.seats.black.occupant = Occupant::Ai(Ai::new("greedy"));
        let locked = RoomRow { has_password: true, ..waiting.clone() };
        let mut list = RoomList::default();
        list.apply(ListUpdate::Snapshot(vec![row("a"), RoomRow { id: "c".parse().unwrap(), ..locked }, waiting]));
        let mut tried = HashSet::new();
        for expected in ["b", "a"] {
            let chosen = choose(&list, &tried).unwrap();
            assert_eq!(chosen.to_string(), expected);
            tried.insert(chosen);
        }
        assert_eq!(choose(&list, &tried), None);
    }
}
