//! The host of rooms, which starts their actors, and finds the node of a room.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    actor::{self, ActorContext, Origin},
    counted_places::CountedPlaces,
    game_rate,
    message::{Audience, Snapshot, Subscribed, WatchAccess, WatchError},
    mirror::{self, mirror},
    registry::RoomHandle,
};
use crate::{
    room::{
        Command, Creation, DisplayName, Event, Fact, Issuer, PlayerId, Rejection, Request, Room, RoomId, Seq,
        TournamentId,
    },
    runtime::{
        cluster::{
            cluster::MoveWait,
            peers::{Ask, Question, Reply},
        },
        limit::limits::STORE_RETRY,
        lobby::listing::{Listing, Lobby},
        outcome::{Accepted, RoomError},
        player::player::Player,
    },
    store::{Append, AppendError, PlayerKey, StoreError},
};

/// How often the node of a room is asked again if it has fewer events than a watcher. This takes longer than a node
/// needs to learn that it has lost the room.
const NODE_CHECKS: u32 = 3;

/// The most players and former players of one name that are looked through for the one who has it now: the last seen come
/// first.
const NAMESAKES: usize = 8;

/// Gives rooms their actors. Clones are handles to the same rooms.
#[derive(Clone)]
pub(crate) struct RoomHost {
    pub(crate) context: Arc<ActorContext>,
    pub(crate) lobby: Arc<Lobby>,
}

impl RoomHost {
    /// The actor of an open room of this node, started from the journal if it has none.
    ///
    /// # Errors
    /// [`RoomError::Moved`] when another node has the room.
    pub(crate) async fn room(&self, id: RoomId) -> Result<RoomHandle, RoomError> {
        match self.context.registry.live(id) {
            Some(handle) => Ok(handle),
            // It is written, and its actor is about to start. Asked again a moment later.
            None if self.context.registry.is_being_created(id) => Err(RoomError::Moved),
            None => self.load(id, Origin::Journal).await,
        }
    }

    async fn load(&self, id: RoomId, origin: Origin) -> Result<RoomHandle, RoomError> {
        self.require_served(id)?;
        let history = self.context.journal.recover(id).await.map_err(|error| {
            tracing::error!(room = %id, "a room cannot be read");
            RoomError::from(error)
        })?;
        let room = history.ok_or(Rejection::RoomNotFound)?.latest();
        self.know_members(std::slice::from_ref(&room)).await?;
        self.start_served(room, origin)
    }

    /// Starts the actor of a room, which may have moved meanwhile.
    fn start_served(&self, room: Room, origin: Origin) -> Result<RoomHandle, RoomError> {
        let id = room.id();
        self.require_served(id)?;
        let handle = self.start(room, origin);
        // Again, so that either this finds that the room has moved, or the node that gives it up finds the actor.
        self.require_served(id).inspect_err(|_| self.context.registry.release_one(id))?;
        Ok(handle)
    }

    fn require_served(&self, id: RoomId) -> Result<(), RoomError> {
        if self.context.cluster.serves(id) { Ok(()) } else { Err(RoomError::Moved) }
    }

    /// True if this node knows no node that serves the room now.
    pub(super) fn is_moving(&self, id: RoomId) -> bool {
        let cluster = &self.context.cluster;
        cluster.node_of(id).is_none_or(|assigned| assigned.node == cluster.me() && !cluster.serves(id))
    }

    /// Executes a command of a player or an administrator, on whichever node the room is.
    pub(crate) async fn command(&self, id: RoomId, issuer: Issuer, command: Command) -> Result<Accepted, RoomError> {
        self.ask(Ask { room: id, what: Question::Command(issuer, command) }).await?.accepted()
    }

    /// The current state of a room, on whichever node it is.
    pub(crate) async fn snapshot(&self, id: RoomId) -> Result<Snapshot, RoomError> {
        self.ask(Ask { room: id, what: Question::Snapshot }).await?.snapshot()
    }

    /// Creates a room, and executes the owner's first command in the same write: on this node, or on another one if
    /// this one has no rooms.
    pub(crate) async fn create(&self, creation: Creation, first: Option<Command>) -> Result<Snapshot, RoomError> {
        if self.context.cluster.serves(creation.id) {
            match self.create_here(creation.clone(), first.clone()).await {
                Err(RoomError::Moved) => {}
                created => return created,
            }
        }
        // By its id, the creation is done once, though it may be asked for again after the room has closed.
        let (room, request) = (creation.id, creation.request);
        let of_room = Request { key: room.bits(), digest: room.bits() };
        let creation = Creation { request: request.or(Some(of_room)), ..creation };
        let ask = Ask { room, what: Question::Create(Box::new(creation), first) };
        match self.ask(ask).await?.snapshot() {
            Err(RoomError::RequestIdReused) if request.is_none() => Err(Rejection::RoomClosed.into()),
            created => created,
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Reply, RoomError> {
        let cluster = &self.context.cluster;
        let mut wait = MoveWait::new(cluster);
        loop {
            // Boxed, so that the tasks of calls are small.
            let answer = match cluster.serves(ask.room) {
                true => Some(Box::pin(self.answer(ask.clone())).await).filter(Reply::is_by_serving_node),
                false => Box::pin(cluster.ask(&ask)).await?,
            };
            match answer {
                Some(answer) => return Ok(answer),
                None => wait.wait().await?,
            }
        }
    }

    /// Does what is asked of a room of this node.
    pub(crate) async fn answer(&self, Ask { room, what }: Ask) -> Reply {
        let done = async {
            Ok(match what {
                Question::Command(issuer, command) => {
                    Reply::Accepted(self.room(room).await?.command(issuer, command).await?)
                }
                Question::Snapshot => Reply::Snapshot(self.room(room).await?.snapshot(Audience::Live).await?),
                Question::Create(creation, first) => {
                    self.require_served(creation.id)?;
                    Reply::Snapshot(self.create_once(*creation, first).await?)
                }
                Question::Tournament(player, command) => {
                    let issuer = player.map_or(Issuer::Admin, Issuer::Player);
                    let id = TournamentId::from_random(room.bits());
                    let after = self.context.tournaments.command(id, issuer, *command).await?;
                    Reply::Accepted(Accepted { seq: after.seq(), changed: true, game: None })
                }
            })
        };
        match done.await {
            Ok(answer) => answer,
            Err(RoomError::Moved) => Reply::Moved(self.context.cluster.node_of(room)),
            Err(error) => Reply::Refused(error),
        }
    }

    /// Subscribes a watcher who has the events up to `after` to the room, or to its mirror.
    pub(crate) async fn subscribe(
        &self,
        id: RoomId,
        access: &WatchAccess,
        after: Option<Seq>,
    ) -> Result<Subscribed, WatchError> {
        let cluster = &self.context.cluster;
        let mut wait = MoveWait::new(cluster);
        let mut checks = if cluster.shares_store() { NODE_CHECKS } else { 0 };
        loop {
            match Box::pin(self.subscribe_now(id, access, after, &mut checks)).await {
                Err(WatchError::Outdated | WatchError::Room(RoomError::Moved)) => wait.wait().await?,
                subscribed => return subscribed,
            }
        }
    }

    async fn subscribe_now(
        &self,
        id: RoomId,
        access: &WatchAccess,
        after: Option<Seq>,
        checks: &mut u32,
    ) -> Result<Subscribed, WatchError> {
        let handle = self.watched_now(id, access.audience()).await?;
        match self.subscribe_at(&handle, id, access, after).await {
            Err(WatchError::Outdated) => {}
            subscribed => return subscribed,
        }
        let newest = self.snapshot(id).await?.room;
        access.check(&newest).map_err(WatchError::Access)?;
        let known = after.filter(|after| *after <= newest.seq());
        // Either the node has lost the room and does not know it yet, or the watcher asks for an event that does not
        // exist.
        if known != after && *checks > 0 {
            *checks -= 1;
            return Err(WatchError::Outdated);
        }
        mirror::catch_up(&handle, newest.seq()).await?;
        self.subscribe_at(&handle, id, access, known).await
    }

    /// Subscribes a watcher to the room or mirror of `handle`, or instead to what spectators see of the room.
    async fn subscribe_at(
        &self,
        handle: &RoomHandle,
        id: RoomId,
        access: &WatchAccess,
        after: Option<Seq>,
    ) -> Result<Subscribed, WatchError> {
        let live = handle.subscribe(access.clone(), after).await?;
        if !live.is_delayed {
            return Ok(live);
        }
        let delayed = self.watched_now(id, Audience::Delayed).await?.subscribe(WatchAccess::Delayed, after).await?;
        Ok(Subscribed { live: Some(live.events), ..delayed })
    }

    /// The state of a room as a watcher has it, of the room itself or of its mirror, and whether that is delayed.
    pub(crate) async fn watched(&self, id: RoomId, access: &WatchAccess) -> Result<(Snapshot, Audience), WatchError> {
        let mut wait = MoveWait::new(&self.context.cluster);
        loop {
            let watched = async {
                let audience = access.audience();
                let found = self.watched_now(id, audience).await?.snapshot(audience).await?;
                access.check(&found.room).map_err(WatchError::Access)?;
                if !access.is_delayed(&found.room) {
                    return Ok((found, audience));
                }
                let delayed = self.watched_now(id, Audience::Delayed).await?.snapshot(Audience::Delayed).await?;
                Ok((delayed.with_delayed_clocks(), Audience::Delayed))
            };
            match Box::pin(watched).await {
                Err(WatchError::Room(RoomError::Moved)) => wait.wait().await?,
                found => return found,
            }
        }
    }

    /// The room, or its mirror if another node has it.
    async fn watched_now(&self, id: RoomId, audience: Audience) -> Result<RoomHandle, RoomError> {
        match self.context.cluster.serves(id) {
            true => self.room(id).await,
            false => mirror(&self.context, id, audience).await,
        }
    }

    /// Fails if this node has as many rooms as it can.
    pub(in crate::runtime) fn require_capacity(&self) -> Result<(), RoomError> {
        let is_full = self.context.registry.count() >= self.context.limits.get().rooms;
        if is_full { Err(RoomError::QuotaRooms("the server has as many as it can")) } else { Ok(()) }
    }

    /// Writes a new room to the journal, then starts its actor.
    async fn create_here(&self, creation: Creation, first: Option<Command>) -> Result<Snapshot, RoomError> {
        let context = &self.context;
        let at = context.clock.now();
        let id = creation.id;
        let mut room = Room::new(creation.clone(), at);
        let owner = if creation.meeting.is_some() { Issuer::Server } else { Issuer::Player(creation.owner.id) };
        let later = first.map_or_else(|| Ok(Vec::new()), |first| room.decide(at, owner, first))?;
        self.lobby.require_no_rated_game_at_start(&room, &later)?;
        let created = Event { seq: Seq(1), at, fact: Fact::Created(Box::new(creation)) };
        let events = std::iter::once(created).chain(later).collect();
        let events = game_rate::admit(&context.players, &room, owner, events)?;
        // The same ask, which was repeated, is writing it.
        let creating = context.registry.create(id).ok_or(RoomError::Moved)?;
        events.iter().skip(1).for_each(|event| room.apply(event));
        match context.append(Append { room: id, expected: Seq(0), events: &events, games: &[] }).await.0 {
            Ok(()) => {
                let new = Snapshot { room: Arc::new(room.clone()), watchers: 0 };
                match self.start_served(room, Origin::New(events)) {
                    // The next node has it.
                    Ok(_) | Err(RoomError::Moved) => Ok(new),
                    Err(error) => Err(error),
                }
            }
            // The same ask, which was repeated, has written it.
            Err(AppendError::Conflict(_)) => {
                drop(creating);
                self.room(id).await?.snapshot(Audience::Live).await
            }
            Err(AppendError::Fenced) => Err(context.cluster.moved()),
            Err(AppendError::Repeated) => Err(RoomError::RequestIdReused),
            Err(error @ AppendError::Unknown(_)) => {
                tracing::error!(room = %id, %error, "whether a room was created is looked up");
                self.look_up(id, events).await
            }
            Err(error) => {
                tracing::error!(room = %id, %error, "a room could not be created");
                let is_damaged = matches!(error, AppendError::Damaged(_));
                Err(if is_damaged { RoomError::Damaged } else { RoomError::StoreUnavailable })
            }
        }
    }

    /// As [`RoomHost::create_here`], for another node, which asks again where it had no answer.
    async fn create_once(&self, creation: Creation, first: Option<Command>) -> Result<Snapshot, RoomError> {
        self.player(creation.owner.id).await?;
        for occupant in [&creation.seats.black, &creation.seats.white] {
            if let Some(guest) = occupant.guest() {
                self.player(guest.id).await?;
            }
        }
        let id = creation.id;
        match self.room(id).await {
            Err(RoomError::Rejected(Rejection::RoomNotFound)) => {
                self.require_capacity()?;
                self.create_here(creation, first).await
            }
            found => found?.snapshot(Audience::Live).await,
        }
    }

    /// Starts a new room if it was written after all. Retries until the store answers.
    async fn look_up(&self, id: RoomId, events: Vec<Event>) -> Result<Snapshot, RoomError> {
        loop {
            match self.load(id, Origin::New(events.clone())).await {
                Ok(room) => return room.snapshot(Audience::Live).await,
                Err(RoomError::Moved) => return Err(RoomError::Moved),
                Err(RoomError::Rejected(_) | RoomError::Damaged) => return Err(RoomError::StoreUnavailable),
                Err(_) => tokio::select! {
                    biased;
                    () = self.context.lifecycle.stop.cancelled() => return Err(RoomError::Draining),
                    () = tokio::time::sleep(STORE_RETRY) => {}
                },
            }
        }
    }

    /// Starts the actor of a room.
    pub(crate) fn start(&self, room: Room, origin: Origin) -> RoomHandle {
        // A separate token, so that rooms do not contend when they poll it.
        let stop = self.context.lifecycle.stop.child_token();
        let listing = || Listing::of_new_actor(&self.lobby, &room);
        let (handle, new) = self.context.registry.register(&room, stop, listing);
        if let Some(new) = new {
            let origin =
                if new.was_dormant && !matches!(origin, Origin::Start { .. }) { Origin::Dormant } else { origin };
            actor::spawn(Arc::clone(&self.context), room, origin, new);
        }
        handle
    }

    pub(crate) fn register_dormant(&self, room: &Room) {
        CountedPlaces::note(&self.context.players, room, false);
        self.context.registry.register_dormant(room, Listing::new(&self.lobby, room));
    }

    /// Starts the actor of a dormant room in the background, so that it handles its deadline. Tries once.
    pub(crate) fn wake(&self, room: RoomId) {
        let host = self.clone();
        self.context.lifecycle.spawn(async move {
            // Logs a failure.
            let _ = host.room(room).await;
        });
    }

    /// As [`RoomHost::wake`], until the store can be read: for what is noticed only once.
    pub(crate) fn wake_surely(&self, room: RoomId) {
        let host = self.clone();
        self.context.lifecycle.spawn(async move {
            while let Err(RoomError::StoreUnavailable) = host.room(room).await {
                tokio::select! {
                    biased;
                    () = host.context.lifecycle.stop.cancelled() => return,
                    () = tokio::time::sleep(STORE_RETRY) => {}
                }
            }
        });
    }

    /// A player who is logged in, on whichever node.
    pub(crate) async fn player(&self, id: PlayerId) -> Result<Option<Arc<Player>>, RoomError> {
        let known = self.context.players.get(id);
        if known.is_some() {
            return Ok(known);
        }
        let changes = self.context.players.account_changes();
        let found = self.context.player_store.find(PlayerKey::Id(id)).await?;
        Ok(found.map(|found| self.context.players.adopt(found, changes)))
    }

    /// The player who has a name now, in any case.
    pub(crate) async fn player_named(&self, name: DisplayName) -> Result<Option<Arc<Player>>, RoomError> {
        let known = self.context.players.named(&name);
        if known.is_some() || !self.context.cluster.shares_store() {
            return Ok(known);
        }
        for profile in self.context.player_store.named(name, NAMESAKES).await? {
            // Former players of the name have no account.
            if let Some(player) = self.player(profile.id).await? {
                return Ok(Some(player));
            }
        }
        Ok(None)
    }

    /// Looks up the members whom this node does not know, before their rooms are started.
    pub(crate) async fn know_members(&self, rooms: &[Room]) -> Result<(), StoreError> {
        let members = rooms.iter().flat_map(|room| room.members()).map(|member| member.profile.id);
        let unknown: BTreeSet<_> = members.filter(|member| self.context.players.get(*member).is_none()).collect();
        if !unknown.is_empty() {
            let changes = self.context.players.account_changes();
            let found = self.context.player_store.find_all(unknown.into_iter().collect()).await?;
            found.into_iter().for_each(|found| drop(self.context.players.adopt(found, changes)));
        }
        Ok(())
    }
}
