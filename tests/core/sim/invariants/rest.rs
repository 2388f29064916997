//! Once the disk works and the players are idle, every game ends; once all players are gone, every room closes. Then
//! the room list, the census and the rooms and seats of players agree with the journal.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use reversi::room::{Phase, Room, RoomId, Visibility};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Audit, Moment, What},
};

/// How late an unloaded room may be.
const BEAT: Duration = Duration::from_secs(10);

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let mut rooms: BTreeMap<RoomId, &Room> = BTreeMap::new();
    let mut audits = 0;
    for Moment { what, .. } in &evidence.moments {
        match what {
            What::Wrote { room: id, events } => {
                let room = events.last().and_then(|event| evidence.pasts[id].at(event.seq));
                rooms.extend(room.map(|room| (*id, room)));
                rooms.retain(|_, room| room.phase() != Phase::Closed);
            }
            What::Audited(audit) => {
                audits += 1;
                compare(audit, &rooms)?;
            }
            _ => {}
        }
    }
    ensure(audits == 2, || format!("{audits} audits"))
}

fn compare(audit: &Audit, rooms: &BTreeMap<RoomId, &Room>) -> Verdict {
    for (id, room) in rooms {
        ensure(room.running().is_none(), || format!("a game in {id} does not end"))?;
        let overdue = room.deadline().is_some_and(|due| due.after(BEAT) < audit.wall);
        ensure(!overdue, || format!("{id} has something due that is not done"))?;
        ensure(!audit.deserted, || format!("{id} is open, and nobody is there: {room:?}"))?;
    }
    ensure(audit.games == 0, || format!("{} games are counted", audit.games))?;
    ensure(audit.rooms == rooms.len(), || format!("{} rooms live, and {} are open", audit.rooms, rooms.len()))?;
    let listed: BTreeSet<_> = audit.list.iter().map(|row| row.id).collect();
    let public = rooms.iter().filter(|(_, room)| room.settings().visibility == Visibility::Public);
    let public: BTreeSet<_> = public.map(|(id, _)| *id).collect();
    ensure(listed == public, || format!("{listed:?} are listed, and {public:?} are public"))?;
    if let Some(followed) = &audit.followed {
        ensure(*followed == audit.list, || format!("the list is {:?}, and was told as {followed:?}", audit.list))?;
    }
    for row in &audit.list {
        let seats = rooms[&row.id].seats();
        ensure(row.seats == *seats, || format!("the list says {row:?} where the seats are {seats:?}"))?;
    }
    for (player, member_of, sits_in) in &audit.books {
        let truly = |holds: &dyn Fn(&Room) -> bool| -> Vec<_> {
            rooms.iter().filter(|(_, room)| holds(room)).map(|(id, _)| *id).collect()
        };
        let [member, seated] =
            [truly(&|room| room.member(*player).is_some()), truly(&|room| room.seat_of(*player).is_some())];
        ensure(*member_of == member, || format!("{player} is in {member:?}, not {member_of:?}"))?;
        ensure(*sits_in == seated, || format!("{player} sits in {seated:?}, not {sits_in:?}"))?;
    }
    Ok(())
}
