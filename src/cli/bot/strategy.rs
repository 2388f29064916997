//! What a bot does about rooms: judgements over their state, and nothing else.

use std::collections::HashSet;

use crate::{
    client::{Occupant, Offer, Phase, PlayerId, Room, RoomId, RoomList, RoomRow},
    rules::Color,
};

/// A step of a bot in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Sit down there.
    Sit(Color),
    /// Be ready.
    Ready,
    /// Begin the game, as the room's owner.
    Start,
    /// Take this offer.
    Accept(Offer),
    /// Refuse it.
    Decline(Offer),
    /// There is nothing to do here.
    Leave,
}

/// The next thing to do in a room; nothing while the others must act.
pub(super) fn next_step(room: &Room, me: &PlayerId) -> Option<Step> {
    if room.phase == Phase::Closed {
        return Some(Step::Leave);
    }
    let Some(side) = room.side_of(me) else {
        let free = Color::ALL.into_iter().find(|&side| room.seats[side].is_free_for(me));
        return match (room.phase, free) {
            (Phase::Lobby, Some(side)) => Some(Step::Sit(side)),
            _ => Some(Step::Leave),
        };
    };
    if let Some(game) = room.running() {
        // Bots play to the end.
        return (game.draw_offered_by == Some(side.opposite())).then_some(Step::Decline(Offer::Draw));
    }
    if room.phase != Phase::Lobby {
        return None;
    }
    if room.rematch_offered_by == Some(side.opposite()) {
        return Some(Step::Accept(Offer::Rematch));
    }
    if !room.seats[side].ready {
        return Some(Step::Ready);
    }
    // Who has become the owner of a room must not let the opponent wait.
    let opponent = &room.seats[side.opposite()];
    let meets = matches!(opponent.occupant, Occupant::Player(_) | Occupant::Ai(_)) && opponent.ready;
    (meets && room.owner.as_ref() == Some(me)).then_some(Step::Start)
}

/// A room to sit down in: one without a password that was not tried in vain, where somebody waits if there is one.
pub(super) fn choose(list: &RoomList, tried: &HashSet<RoomId>) -> Option<RoomId> {
    let open = list.rows().iter().filter(|row| row.has_open_seat() && !row.has_password && !tried.contains(&row.id));
    let waiting = |row: &&RoomRow| row.seats.iter().any(|(_, seat)| !matches!(seat.occupant, Occupant::Open));
    open.clone().find(waiting).or_else(|| open.clone().next()).map(|row| row.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{
        Ai, EndReason, GameResult, ListUpdate, Outcome, Player, PlayerKind,
        fixture::{self, row},
    };
    use crate::rules::ByColor;

    fn me() -> PlayerId {
        "me".parse().unwrap()
    }

    fn seated() -> Room {
        let mut room = fixture::room();
        let player = Player { id: me(), name: "me".into(), kind: PlayerKind::Bot };
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
    fn a_bot_sits_down_gets_ready_and_then_waits() {
        assert_eq!(next_step(&lobby(fixture::room()), &me()), Some(Step::Sit(Color::Black)));
        let mut room = lobby(seated());
        assert_eq!(next_step(&room, &me()), Some(Step::Ready));
        room.seats.white.ready = true;
        assert_eq!(next_step(&room, &me()), None);
        room.rematch_offered_by = Some(Color::Black);
        assert_eq!(next_step(&room, &me()), Some(Step::Accept(Offer::Rematch)));
        room.rematch_offered_by = None;
        room.seats.black.occupant = Occupant::Ai(Ai::new("greedy"));
        room.seats.black.ready = true;
        assert_eq!(next_step(&room, &me()), None);
        room.owner = Some(me());
        assert_eq!(next_step(&room, &me()), Some(Step::Start));
        room.phase = Phase::Closed;
        assert_eq!(next_step(&room, &me()), Some(Step::Leave));
    }

    #[test]
    fn a_bot_leaves_where_it_cannot_play_and_plays_on_where_it_does() {
        assert_eq!(next_step(&fixture::room(), &me()), Some(Step::Leave));
        let mut room = seated();
        assert_eq!(next_step(&room, &me()), None);
        if let Some(game) = &mut room.game {
            game.draw_offered_by = Some(Color::Black);
        }
        assert_eq!(next_step(&room, &me()), Some(Step::Decline(Offer::Draw)));
    }

    #[test]
    fn rooms_with_somebody_in_them_come_first() {
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
