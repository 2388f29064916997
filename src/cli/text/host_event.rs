//! Events and the state of a room as text for its host.

use super::{room_event, series_score};
use crate::{
    cli::{host::settings, terminal::draw_room},
    client::{Game, Occupant, Outcome, Phase, PlayerId, Ply, Room, RoomChange, Visibility},
};

/// `change` as text for the member `me`. `room` is the room before it.
pub(in crate::cli) fn describe(room: &Room, me: &PlayerId, change: &RoomChange) -> Option<String> {
    Some(match change {
        RoomChange::MovePlayed { ply, .. } | RoomChange::TurnPassed { ply, .. } => describe_ply(ply),
        RoomChange::GameStarted(game, ..) => {
            format!("{}{}", room_event::describe(room, change)?, describe_players(room, game))
        }
        RoomChange::GameEnded { game, outcome, score, .. } => {
            let (official, score) = (describe_score(outcome), room_event::describe_score(room, score.as_ref()));
            format!("game over: {outcome}{official}{score}; to see it again: reversi watch {game}")
        }
        RoomChange::SettingsChanged { settings, has_password } => {
            format!("the settings are now: {}", settings::describe(settings, *has_password))
        }
        RoomChange::OwnerChanged(owner) if owner == me => "you own the room now".into(),
        RoomChange::OwnerChanged(_) if room.owner.as_ref() == Some(me) => {
            format!("{}; you stay as a member until you `leave`", room_event::describe(room, change)?)
        }
        // The host's own connection loss is reported elsewhere.
        RoomChange::PresenceChanged(player, _) if player == me => return None,
        _ => return room_event::describe(room, change),
    })
}

fn describe_ply(ply: &Ply) -> String {
    let (number, side) = (ply.ply + 1, ply.side);
    match ply.square {
        Some(square) => format!("{number}. {side} {square} ({:.1} s)", ply.spent.as_secs_f32()),
        None => format!("{number}. {side} has no move and passes"),
    }
}

fn describe_players(room: &Room, game: &Game) -> String {
    let (black, white) = (&room.seats.black.occupant, &room.seats.white.occupant);
    let moves = room_event::squares(game.plies.iter().filter_map(|ply| ply.square));
    let opening = if moves.is_empty() { String::new() } else { format!(", after {moves}") };
    format!(": black is {black}, white is {white}{opening}")
}

/// The official score, if it differs from the discs.
fn describe_score(outcome: &Outcome) -> String {
    let score = outcome.score;
    if score == outcome.discs || score.black + score.white == 0 {
        return String::new();
    }
    format!(" (score {})", outcome.winner_first(score))
}

/// Commands with which others join the room. `server` is their `--server` option, if they need one.
pub(in crate::cli) fn invitation(room: &Room, server: Option<&str>) -> Vec<String> {
    let code = room.join_code.as_deref().unwrap_or_default();
    let private = room.settings.visibility == Visibility::Private;
    let key = if private { code.to_owned() } else { room.id.to_string() };
    let watch = if private { format!("{} --code {code}", room.id) } else { room.id.to_string() };
    let password = if room.has_password { " --password ..." } else { "" };
    let server = server.map(|url| format!(" --server {url}")).unwrap_or_default();
    vec![
        format!("room {}, join code {code}", room.id),
        format!("  to play:   reversi play --room {key}{password}{server}"),
        format!("  a bot:     reversi bot --room {key}{password}{server}"),
        format!("  to watch:  reversi watch {watch}{password}{server}"),
    ]
}

/// The room in lines: state, seats, members, score and settings.
pub(in crate::cli) fn survey(room: &Room, me: &PlayerId) -> Vec<String> {
    let seats = room.seats.iter().map(|(side, seat)| {
        let state = match (&seat.occupant, seat.ready, room.phase) {
            (Occupant::Player(_), true, Phase::Lobby) => ", ready",
            (Occupant::Player(_), false, Phase::Lobby) => ", not ready",
            _ => "",
        };
        format!("  {side}:     {}{state}", seat.occupant)
    });
    let members = room.members.iter().map(|member| {
        let player = &member.player;
        let marks = [
            (room.owner.as_ref() == Some(&player.id), "owner"),
            (room.co_owners.contains(&player.id), "co-owner"),
            (player.id == *me, "you"),
            (!member.present, "away"),
        ];
        let marks: Vec<&str> = marks.into_iter().filter_map(|(holds, mark)| holds.then_some(mark)).collect();
        if marks.is_empty() { player.name.clone() } else { format!("{} ({})", player.name, marks.join(", ")) }
    });
    let members = members.collect::<Vec<_>>().join(", ");
    let mut lines = vec![draw_room::headline(room)];
    lines.extend(seats);
    lines.push(format!("  members:   {members}"));
    lines.extend(room.score.map(|score| format!("  score:     {}", series_score::describe(room, &score))));
    lines.push(format!("  settings:  {}", settings::describe(&room.settings, room.has_password)));
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        client::{EndReason, GameResult, Member, Player, PlayerKind, fixture},
        rules::{ByColor, Color, Position},
    };

    fn me() -> PlayerId {
        "me".parse().unwrap()
    }

    fn room() -> Room {
        let mut room = fixture::room();
        for (id, name) in [("me", "ada"), ("you", "bob")] {
            let player = Player {
                id: id.parse().unwrap(),
                name: name.into(),
                kind: PlayerKind::Human,
                engine_version: String::new(),
            };
            room.members.push(Member { player, present: id == "me", joined_at: None });
        }
        room.owner = Some(me());
        room.join_code = Some("K7QX".into());
        room
    }

    #[test]
    fn moves_and_results_are_short() {
        let room = room();
        let text_of = |change| describe(&room, &me(), &change).unwrap();
        assert_eq!(text_of(fixture::move_event(&room, "d3").change), "1. black d3 (1.0 s)");
        let (discs, score) = (ByColor::new(40, 20), ByColor::new(44, 20));
        let outcome = Outcome { result: GameResult::Won(Color::Black), reason: EndReason::Discs, discs, score };
        let game = room.game.as_ref().unwrap().id.clone();
        assert_eq!(
            text_of(RoomChange::GameEnded { game, outcome, standing: Position::START.into(), score: None }),
            "game over: black wins 40-20 (score 44-20); to see it again: reversi watch game1"
        );
        let outcome = Outcome {
            result: GameResult::Won(Color::White),
            discs: ByColor::new(20, 40),
            score: ByColor::new(20, 44),
            ..outcome
        };
        assert_eq!(outcome.to_string() + &describe_score(&outcome), "white wins 40-20 (score 44-20)");
        let game = Box::new(room.game.clone().unwrap());
        assert_eq!(text_of(RoomChange::GameStarted(game, None)), "game 1 begins: black is open, white is open");
    }

    #[test]
    fn ownership_is_described_from_the_view_of_the_host() {
        let mut room = room();
        let to = |id: &str| RoomChange::OwnerChanged(id.parse().unwrap());
        assert_eq!(
            describe(&room, &me(), &to("you")).unwrap(),
            "bob owns the room now; you stay as a member until you `leave`"
        );
        room.owner = "you".parse().ok();
        assert_eq!(describe(&room, &me(), &to("me")).unwrap(), "you own the room now");
    }

    #[test]
    fn a_private_room_is_joined_by_its_code() {
        let mut room = room();
        assert_eq!(invitation(&room, None)[2], "  a bot:     reversi bot --room room1");
        room.settings.visibility = Visibility::Private;
        room.has_password = true;
        let lines = invitation(&room, Some("http://there:1"));
        assert_eq!(lines[2], "  a bot:     reversi bot --room K7QX --password ... --server http://there:1");
        assert_eq!(lines[3], "  to watch:  reversi watch room1 --code K7QX --password ... --server http://there:1");
    }

    #[test]
    fn the_room_is_summarized() {
        let mut room = room();
        room.settings.games = 3;
        room.settings.move_limit = Some(Duration::from_millis(2500));
        assert_eq!(
            survey(&room, &me())[1..],
            [
                "  black:     open",
                "  white:     open",
                "  members:   ada (owner, you), bob (away)",
                "  settings:  \"Study\", public, series of 3 games, 2.5 s for a move"
            ]
        );
    }
}
