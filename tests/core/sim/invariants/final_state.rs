//! Once the disk works and the players are idle, every game ends; once all players are gone, every room closes. Then
//! the room list, the census and the rooms and seats of players agree with the journal.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use reversi::room::{Phase, Room, RoomId, Visibility};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Audit, LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

/// Maximum delay of an unloaded room.
const UNLOADED_DELAY: Duration = Duration::from_secs(10);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut rooms: BTreeMap<RoomId, &Room> = BTreeMap::new();
    let mut audits = 0;
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::Written { room: id, events } => {
                let room = events.last().and_then(|event| history.rooms[id].at(event.seq));
                rooms.extend(room.map(|room| (*id, room)));
                rooms.retain(|_, room| room.phase() != Phase::Closed);
            }
            SimEvent::Audited(audit) => {
                audits += 1;
                compare(audit, &rooms)?;
            }
            _ => {}
        }
    }
    ensure(audits == 2, || format!("{audits} audits"))
}

fn compare(audit: &Audit, rooms: &BTreeMap<RoomId, &Room>) -> CheckResult {
    for (id, room) in rooms {
        ensure(room.running().is_none(), || format!("a game in {id} does not end"))?;
        let overdue = room.deadline().is_some_and(|due| due.after(UNLOADED_DELAY) < audit.wall);
        ensure(!overdue, || format!("{id} missed its deadline"))?;
        ensure(!audit.players_gone, || format!("{id} is open without players: {room:?}"))?;
    }
    ensure(audit.games == 0, || format!("{} games are counted", audit.games))?;
    ensure(audit.rooms == rooms.len(), || format!("{} rooms are counted, and {} are open", audit.rooms, rooms.len()))?;
    let public = rooms.iter().filter(|(_, room)| room.settings().visibility == Visibility::Public);
    let public: BTreeSet<_> = public.map(|(id, _)| *id).collect();
    for list in &audit.lists {
        let listed: BTreeSet<_> = list.iter().map(|row| row.id).collect();
        ensure(listed == public, || format!("{listed:?} are listed, and {public:?} are public"))?;
        ensure(list.len() == listed.len(), || format!("a room is in the list twice: {list:?}"))?;
        for row in list {
            let seats = rooms[&row.id].seats();
            ensure(row.seats == *seats, || format!("the list has {row:?}, the seats are {seats:?}"))?;
        }
        if let Some(updated_list) = &audit.updated_list {
            ensure(updated_list == list, || format!("the list is {list:?}, its updates give {updated_list:?}"))?;
        }
    }
    for (player, member_of, sits_in) in &audit.holdings {
        let rooms_where = |holds: &dyn Fn(&Room) -> bool| -> Vec<_> {
            rooms.iter().filter(|(_, room)| holds(room)).map(|(id, _)| *id).collect()
        };
        let [member, seated] =
            [rooms_where(&|room| room.member(*player).is_some()), rooms_where(&|room| room.seat_of(*player).is_some())];
        ensure(*member_of == member, || format!("{player} is in {member:?}, not {member_of:?}"))?;
        ensure(*sits_in == seated, || format!("{player} sits in {seated:?}, not {sits_in:?}"))?;
    }
    Ok(())
}
