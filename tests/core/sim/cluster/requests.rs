//! The last requests of players that carried an id, as PostgreSQL keeps them.

use reversi::{
    room::{PlayerId, RoomId},
    store::{ForgetWhen, RequestTarget},
};

/// Requests of a player that are kept.
const KEPT: usize = 64;

/// The oldest first.
#[derive(Default)]
pub(super) struct NotedRequests(Vec<NotedRequest>);

struct NotedRequest {
    player: PlayerId,
    id: String,
    target: RequestTarget,
}

impl NotedRequests {
    /// Records a request, unless one with that id is recorded. Returns whether it did.
    pub(super) fn note(&mut self, player: PlayerId, id: &str, target: RequestTarget) -> bool {
        let is_new = self.get(player, id).is_none();
        if is_new {
            self.0.push(NotedRequest { player, id: id.to_owned(), target });
            let is_of_player = |request: &&NotedRequest| request.player == player;
            if self.0.iter().filter(is_of_player).count() > KEPT
                && let Some(oldest) = self.0.iter().position(|request| is_of_player(&request))
            {
                self.0.remove(oldest);
            }
        }
        is_new
    }

    pub(super) fn get(&self, player: PlayerId, id: &str) -> Option<RequestTarget> {
        self.0.iter().find(|request| request.is(player, id)).map(|request| request.target)
    }

    /// Records that a request is about another room, which was open.
    pub(super) fn set_room(&mut self, player: PlayerId, id: &str, room: RoomId) {
        for request in self.0.iter_mut().filter(|request| request.is(player, id)) {
            request.target = RequestTarget { room, was_open: true, ..request.target };
        }
    }

    /// Forgets a request that has failed.
    pub(super) fn forget(&mut self, player: PlayerId, id: &str, when: ForgetWhen, is_open: impl Fn(RoomId) -> bool) {
        let ends = |target: &RequestTarget| match when {
            ForgetWhen::Always => true,
            ForgetWhen::NotOpen => !is_open(target.room),
            ForgetWhen::Closed => target.was_open && !is_open(target.room),
        };
        self.0.retain(|request| !request.is(player, id) || !ends(&request.target));
    }

    /// Records that a room has closed.
    pub(super) fn note_closed(&mut self, room: RoomId) {
        for request in self.0.iter_mut().filter(|request| request.target.room == room) {
            request.target.was_open = true;
        }
    }

    /// Removes the requests of a player.
    pub(super) fn remove(&mut self, player: PlayerId) {
        self.0.retain(|request| request.player != player);
    }
}

impl NotedRequest {
    fn is(&self, player: PlayerId, id: &str) -> bool {
        self.player == player && self.id == id
    }
}
