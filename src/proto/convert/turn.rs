//! The two messages that a player gets for every move, encoded directly: the generated messages allocated a dozen
//! strings, a fifth of the instructions of a move.

use prost::encoding::{WireType, encode_varint, encoded_len_varint};

use super::{WireEnum as _, duration, timestamp};
use crate::{
    proto::{EncodedMessage, v1},
    room::{Clocks, GameId, TurnRequest},
    rules::{Color, Position, Square},
};

/// Encodes a `PlayResponse` with `TurnRequested`. A `WatchTurnsResponse` with it has the same bytes.
#[must_use]
pub fn turn_requested(request: &TurnRequest) -> EncodedMessage {
    let room = request.game.room.digits();
    play_event(1, 320, Length::Long, |wire| {
        game_id(1, &room, request.game.number, wire);
        text(2, &room, wire);
        number(3, request.ply.into(), wire);
        number(4, i32::from(request.position.turn().wire()).into(), wire);
        nested(5, Length::Long, wire, |wire| position(request.position, wire));
        if let Some(square) = request.last_move {
            text(6, square.letters(), wire);
        }
        nested(7, Length::Short, wire, |wire| clocks(&request.clocks, wire));
        number(8, request.is_repeat.into(), wire);
    })
}

/// As [`turn_requested`], with `TurnClosed`, and the move if one was made.
#[must_use]
pub fn turn_closed(game: GameId, ply: u16, reason: v1::TurnCloseReason, square: Option<Square>) -> EncodedMessage {
    play_event(2, 48, Length::Short, |wire| {
        game_id(1, &game.room.digits(), game.number, wire);
        number(2, ply.into(), wire);
        number(3, i32::from(reason).into(), wire);
        if let Some(square) = square {
            text(4, square.letters(), wire);
        }
    })
}

/// A `PlayResponse` of about `size` bytes.
fn play_event(kind: u8, size: usize, length: Length, fill: impl FnOnce(&mut Vec<u8>)) -> EncodedMessage {
    let mut wire = Vec::with_capacity(size);
    nested(1, length, &mut wire, |wire| nested(kind, length, wire, fill));
    EncodedMessage(wire.into())
}

/// As `convert::position`, of a running game.
fn position(position: Position, wire: &mut Vec<u8>) {
    let board = position.board();
    text(1, &board.letters(), wire);
    for (tag, color) in [(2, Color::Black), (3, Color::White)] {
        if !board.discs(color).is_empty() {
            wire.push(key(tag, WireType::SixtyFourBit));
            wire.extend_from_slice(&board.discs(color).0.to_le_bytes());
        }
    }
    number(4, i32::from(position.turn().wire()).into(), wire);
    for square in position.legal_moves().iter() {
        let [letter, digit] = *square.letters();
        wire.extend_from_slice(&[key(5, WireType::LengthDelimited), 2, letter, digit]);
    }
    number(6, board.count(Color::Black).into(), wire);
    number(7, board.count(Color::White).into(), wire);
    nested(8, Length::Long, wire, |wire| {
        for square in position.legal_moves().iter() {
            wire.extend_from_slice(&board.flips(position.turn(), square).0.to_le_bytes());
        }
    });
}

/// As `convert::clocks`.
fn clocks(clocks: &Clocks, wire: &mut Vec<u8>) {
    let totals = [(1, clocks.totals.black), (2, clocks.totals.white), (3, Some(clocks.left))];
    for (tag, time) in totals.into_iter().filter_map(|(tag, time)| Some((tag, time?))) {
        let time = duration(time);
        seconds(tag, time.seconds, time.nanos, wire);
    }
    let deadline = timestamp(clocks.deadline);
    seconds(4, deadline.seconds, deadline.nanos, wire);
}

/// A `Duration` or a `Timestamp`.
fn seconds(tag: u8, seconds: i64, nanos: i32, wire: &mut Vec<u8>) {
    nested(tag, Length::Short, wire, |wire| {
        number(1, seconds, wire);
        number(2, nanos.into(), wire);
    });
}

fn game_id(tag: u8, room: &[u8], number: u32, wire: &mut Vec<u8>) {
    nested(tag, Length::Short, wire, |wire| {
        wire.extend_from_slice(room);
        wire.push(b'-');
        decimal(number, wire);
    });
}

fn decimal(number: u32, wire: &mut Vec<u8>) {
    if number >= 10 {
        decimal(number / 10, wire);
    }
    wire.push(b'0' + (number % 10) as u8);
}

/// The key of a field with a number below 16.
const fn key(tag: u8, kind: WireType) -> u8 {
    tag << 3 | kind as u8
}

/// A text of less than 128 bytes.
fn text(tag: u8, text: &[u8], wire: &mut Vec<u8>) {
    wire.extend_from_slice(&[key(tag, WireType::LengthDelimited), text.len() as u8]);
    wire.extend_from_slice(text);
}

/// A number of any type except the zigzag ones; the default 0 is not written.
fn number(tag: u8, number: i64, wire: &mut Vec<u8>) {
    match number {
        0 => {}
        1..128 => wire.extend_from_slice(&[key(tag, WireType::Varint), number as u8]),
        _ => {
            wire.push(key(tag, WireType::Varint));
            encode_varint(number.cast_unsigned(), wire);
        }
    }
}

/// The expected size of a message, by which space for its length is reserved; corrected if the size differs.
#[derive(Clone, Copy)]
enum Length {
    /// Less than 128 bytes.
    Short = 1,
    /// Up to 16 KiB.
    Long = 2,
}

/// A nested message: its length, then the bytes that `fill` writes.
fn nested(tag: u8, usual: Length, wire: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    wire.push(key(tag, WireType::LengthDelimited));
    let begin = wire.len();
    wire.extend_from_slice(&[0; 2][..usual as usize]);
    let end = wire.len();
    fill(wire);
    let length = wire.len() - end;
    match (usual, length) {
        (Length::Short, ..128) => wire[begin] = length as u8,
        (Length::Long, ..128) => {
            wire.remove(begin);
            wire[begin] = length as u8;
        }
        (Length::Long, 128..16_384) => {
            wire[begin] = length as u8 | 128;
            wire[begin + 1] = (length >> 7) as u8;
        }
        _ => {
            let mut digits = [0; 10];
            encode_varint(length as u64, &mut &mut digits[..]);
            wire.splice(begin..end, digits.into_iter().take(encoded_len_varint(length as u64)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;
    use crate::{
        proto::convert::{self, fixture},
        room::{Clocks, RoomId, Timestamp},
        rules::{Bitboard, Board, ByColor},
    };

    fn event(frame: &EncodedMessage) -> v1::play_event::Event {
        let wire = &frame.0;
        let down = v1::PlayResponse::decode(wire.clone()).unwrap();
        let calls = v1::WatchTurnsResponse::decode(wire.clone()).unwrap();
        assert_eq!(
            (down.encode_to_vec(), calls.encode_to_vec()),
            (wire.to_vec(), wire.to_vec()),
            "the same bytes as the generated encoder"
        );
        down.event.unwrap().event.unwrap()
    }

    fn decoded(request: &TurnRequest) -> v1::TurnRequested {
        match event(&turn_requested(request)) {
            v1::play_event::Event::TurnRequested(decoded) => decoded,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_turn_request_has_everything_for_the_answer() {
        let mut room = fixture::playing(fixture::settings());
        let first = decoded(&room.turn_request(fixture::NOW).unwrap());
        assert_eq!((first.ply, first.side(), first.last_move.as_str()), (0, v1::Side::Black, ""));
        assert_eq!(first.position.unwrap().legal_moves.len(), 4);

        fixture::play(&mut room, fixture::NOW, 0);
        let second = decoded(&room.turn_request(fixture::NOW).unwrap());
        assert_eq!((second.ply, second.side(), second.last_move.as_str()), (1, v1::Side::White, "d3"));
        assert_eq!(second.game_id, format!("{}-1", second.room_id));
    }

    #[test]
    fn a_length_has_the_minimal_number_of_bytes() {
        for usual in [Length::Short, Length::Long] {
            for length in [0, 1, 127, 128, 129, 16_383, 16_384, 16_385] {
                let text = vec![b'x'; length];
                let (mut ours, mut theirs) = (vec![1], vec![1]);
                nested(5, usual, &mut ours, |wire| wire.extend_from_slice(&text));
                prost::encoding::bytes::encode(5, &text, &mut theirs);
                assert_eq!(ours, theirs, "{length}");
            }
        }
    }

    fn games() -> impl Strategy<Value = GameId> {
        (any::<u64>(), 1_u32..).prop_map(|(room, number)| GameId { room: RoomId::from_random(room), number })
    }

    fn squares() -> impl Strategy<Value = Option<Square>> {
        proptest::option::of((0_u8..64).prop_map(|index| Square::new(index).unwrap()))
    }

    fn times() -> impl Strategy<Value = Duration> {
        any::<u64>().prop_map(Duration::from_micros)
    }

    proptest! {
        #[test]
        fn a_turn_request_matches_the_room(
            game in games(),
            ply in any::<u16>(),
            (black, white, blacks_turn) in any::<(u64, u64, bool)>(),
            last_move in squares(),
            (left, deadline) in (times(), any::<i64>()),
            totals in proptest::option::of((times(), times())),
            is_repeat in any::<bool>(),
        ) {
            let board = Board::new(Bitboard(black & !white), Bitboard(white)).unwrap();
            let position = Position::new(board, if blacks_turn { Color::Black } else { Color::White });
            prop_assume!(!position.legal_moves().is_empty());
            let totals = ByColor::new(totals.map(|both| both.0), totals.map(|both| both.1));
            let clocks = Clocks { totals, left, deadline: Timestamp(deadline) };
            let request = TurnRequest { game, ply, position, last_move, clocks, is_repeat };
            prop_assert_eq!(decoded(&request), v1::TurnRequested {
                game_id: game.to_string(),
                room_id: game.room.to_string(),
                ply: ply.into(),
                side: position.turn().wire().into(),
                position: Some(convert::position(position)),
                last_move: last_move.map(|square| square.to_string()).unwrap_or_default(),
                clocks: Some(convert::clocks(&request.clocks)),
                repeat: is_repeat,
            });
        }

        #[test]
        fn a_closed_turn_matches_the_room(game in games(), ply in any::<u16>(), reason in 0_i32..4, square in squares()) {
            let why = v1::TurnCloseReason::try_from(reason).unwrap();
            let closed = event(&turn_closed(game, ply, why, square));
            let square = square.map(|square| square.to_string()).unwrap_or_default();
            let expected = v1::TurnClosed { game_id: game.to_string(), ply: ply.into(), reason, square };
            prop_assert_eq!(closed, v1::play_event::Event::TurnClosed(expected));
        }
    }
}
