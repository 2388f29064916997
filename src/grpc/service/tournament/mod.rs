//! Tournaments.

mod export;
mod settings;
mod view;

use std::{sync::Arc, time::Duration};

use tonic::{Request, Response, Status};

pub(super) use self::view::{cancel_reason, end_phase, fault};
use self::{
    export::Lines,
    settings::{read_ai, read_settings},
    view::{meeting, standing_rows, tournament, view},
};
use super::{
    Services,
    page_token::Listing,
    streaming::{End, HeartbeatSchedule, ResponseStream, Source, stream_of},
};
use crate::{
    grpc::layer::caller::{Reply, Role, caller_with_role, open},
    proto::{
        EncodedMessage,
        convert::{self, Malformed, read_id},
        generated_services::tournament_service_server::TournamentService,
        v1,
    },
    room::{ChatText, Issuer, Participant, TournamentId},
    runtime::{Clock, Player, RoomError, WatchedTournament},
    tournament::{Command, Control, EntrantId, Forfeiter, Meeting, Outcome, Stage, Tournament},
};

/// The least time between two messages of a stream.
const PACE: Duration = Duration::from_secs(1);

#[tonic::async_trait]
impl TournamentService for Services {
    async fn create_tournament(
        &self,
        request: Request<v1::CreateTournamentRequest>,
    ) -> Reply<v1::CreateTournamentResponse> {
        let (player, wire) = open(request)?;
        let mut settings = read_settings(&self.runtime.rooms, wire.settings, &player.name, self.runtime.clock().now())?;
        if let Some(password) = convert::read_password(&wire.password)? {
            settings.password = Some(self.runtime.rooms.hash_password(&player, password).await?);
        }
        let created = self.runtime.tournaments.create(&player, settings).await?;
        Ok(Response::new(v1::CreateTournamentResponse { tournament: Some(tournament(&created)) }))
    }

    async fn update_tournament(
        &self,
        request: Request<v1::UpdateTournamentRequest>,
    ) -> Reply<v1::UpdateTournamentResponse> {
        let (player, role) = caller_with_role(&request)?;
        let wire = request.into_inner();
        let id = tournament_id(&wire.tournament_id)?;
        let current = self.runtime.tournaments.get(id).await?;
        let mut settings = read_settings(&self.runtime.rooms, wire.settings, &player.name, self.runtime.clock().now())?;
        settings.password.clone_from(&current.settings().password);
        settings.seed = current.settings().seed;
        let changed = self.organise(&player, role, id, Command::Configure(Box::new(settings))).await?;
        Ok(Response::new(v1::UpdateTournamentResponse { tournament: Some(tournament(&changed)) }))
    }

    async fn list_tournaments(
        &self,
        request: Request<v1::ListTournamentsRequest>,
    ) -> Reply<v1::ListTournamentsResponse> {
        let (player, admin, wire) = open_to_see(request)?;
        let filter = v1::ListTournamentsRequest { page_token: String::new(), page_size: 0, ..wire.clone() };
        let listing = Listing::new("ListTournaments", &filter);
        let size = convert::read_page_size(wire.page_size)?;
        let before = listing.read(&wire.page_token)?;
        self.runtime.tournaments.charge(&player, size)?;
        let (page, next) = self.runtime.tournaments.page(wire.unfinished, before, size).await?;
        let next = next.map(|(created, id)| listing.write(created, id));
        Ok(Response::new(v1::ListTournamentsResponse {
            tournaments: page
                .into_iter()
                .map(|found| tournament(&self.runtime.tournaments.as_shown(&player, admin, found)))
                .collect(),
            next_page_token: next.unwrap_or_default(),
        }))
    }

    async fn get_tournament(&self, request: Request<v1::GetTournamentRequest>) -> Reply<v1::GetTournamentResponse> {
        let (player, admin, wire) = open_to_see(request)?;
        let found = self.runtime.tournaments.shown(&player, admin, tournament_id(&wire.tournament_id)?).await?;
        self.runtime.tournaments.charge(&player, found.tournament().entrants().len())?;
        let standings = self.runtime.tournaments.standings(&found).await?;
        Ok(Response::new(v1::GetTournamentResponse {
            tournament: Some(tournament(found.tournament())),
            standings: standing_rows(found.tournament(), &standings, self.runtime.clock().now()),
        }))
    }

    type WatchTournamentStream = ResponseStream<v1::WatchTournamentResponse>;

    async fn watch_tournament(
        &self,
        request: Request<v1::WatchTournamentRequest>,
    ) -> Reply<Self::WatchTournamentStream> {
        let ((player, role), schedule) = (caller_with_role(&request)?, HeartbeatSchedule::of(&request));
        let id = tournament_id(&request.into_inner().tournament_id)?;
        let watched = self.runtime.tournaments.watch(&player, role == Role::Admin, id, PACE).await?;
        let clock = self.runtime.clock();
        Ok(ResponseStream::new(clock, schedule, stream_of(Views { watched, clock, last: None })))
    }

    async fn list_meetings(&self, request: Request<v1::ListMeetingsRequest>) -> Reply<v1::ListMeetingsResponse> {
        let (player, admin, wire) = open_to_see(request)?;
        let filter = v1::ListMeetingsRequest { page_token: String::new(), page_size: 0, ..wire.clone() };
        let listing = Listing::new("ListMeetings", &filter);
        let size = convert::read_page_size(wire.page_size)?;
        let after: u32 = listing.read_id(&wire.page_token)?.unwrap_or(0);
        let entrant = read_entrant("entrant", wire.entrant)?;
        let round = u32::try_from(wire.round).map_err(|_| Malformed::argument("round", "must be that of a round"))?;
        let found = self.runtime.tournaments.shown(&player, admin, tournament_id(&wire.tournament_id)?).await?;
        self.runtime.tournaments.charge(&player, size)?;
        let is_of_round = |one: &Meeting| {
            let has_round = wire.round == 0 || one.round == round;
            has_round && (one.stage == Stage::Playoff) == wire.playoff || wire.round == 0 && !wire.playoff
        };
        let wanted = |one: &&Meeting| {
            one.pairing.number > after && is_of_round(one) && (entrant.0 == 0 || one.side_of(entrant).is_some())
        };
        let found = found.tournament();
        let meetings: Vec<_> = found.meetings().filter(wanted).take(size).map(|one| meeting(found, one)).collect();
        let next = meetings.last().filter(|_| meetings.len() == size).map(|last| listing.write_id(last.number));
        Ok(Response::new(v1::ListMeetingsResponse { meetings, next_page_token: next.unwrap_or_default() }))
    }

    type ExportTournamentStream = Lines;

    async fn export_tournament(
        &self,
        request: Request<v1::ExportTournamentRequest>,
    ) -> Reply<Self::ExportTournamentStream> {
        let (player, admin, wire) = open_to_see(request)?;
        let format = v1::TournamentFormat::try_from(wire.format)
            .map_err(|_| Malformed::argument("format", "must be a known format"))?;
        let found = self.runtime.tournaments.shown(&player, admin, tournament_id(&wire.tournament_id)?).await?;
        let of = found.tournament();
        self.runtime.tournaments.charge(&player, of.entrants().len() + of.meetings().len())?;
        Ok(Response::new(self.lines(player, found, format).await?))
    }

    async fn join_tournament(&self, request: Request<v1::JoinTournamentRequest>) -> Reply<v1::JoinTournamentResponse> {
        let (player, wire) = open(request)?;
        let password = convert::read_password(&wire.password)?;
        let id = match wire.pool.as_str() {
            "" => tournament_id(&wire.tournament_id)?,
            clock => self.runtime.tournaments.pool(clock, player.kind)?,
        };
        let joined = self.runtime.tournaments.join(&player, id, password).await?;
        let joined = self.runtime.tournaments.as_shown(&player, false, joined);
        Ok(Response::new(v1::JoinTournamentResponse { tournament: Some(tournament(&joined)) }))
    }

    async fn leave_tournament(
        &self,
        request: Request<v1::LeaveTournamentRequest>,
    ) -> Reply<v1::LeaveTournamentResponse> {
        let (player, wire) = open(request)?;
        let id = tournament_id(&wire.tournament_id)?;
        self.runtime.tournaments.command(id, Issuer::Player(player.id()), Command::Leave).await?;
        Ok(Response::new(v1::LeaveTournamentResponse {}))
    }

    async fn control_tournament(
        &self,
        request: Request<v1::ControlTournamentRequest>,
    ) -> Reply<v1::ControlTournamentResponse> {
        let (player, role) = caller_with_role(&request)?;
        let wire = request.into_inner();
        let control = match wire.control() {
            v1::TournamentControl::Start => Control::Start,
            v1::TournamentControl::Pause => Control::Pause,
            v1::TournamentControl::Resume => Control::Resume,
            v1::TournamentControl::End => Control::End,
            v1::TournamentControl::Cancel => Control::Cancel,
            v1::TournamentControl::Unspecified => {
                return Err(Malformed::argument("control", "must be start, pause, resume, end or cancel").into());
            }
        };
        let id = tournament_id(&wire.tournament_id)?;
        let changed = self.organise(&player, role, id, Command::Control(control)).await?;
        Ok(Response::new(v1::ControlTournamentResponse { tournament: Some(tournament(&changed)) }))
    }

    async fn set_entrant(&self, request: Request<v1::SetEntrantRequest>) -> Reply<v1::SetEntrantResponse> {
        use v1::set_entrant_request::Change;

        let (player, role) = caller_with_role(&request)?;
        let wire = request.into_inner();
        let command = match wire.change {
            Some(Change::Enter(ai)) => {
                let who = Participant::Ai(read_ai(&self.runtime.rooms, ai)?);
                let rating = self.runtime.tournaments.rating(&who).await?;
                Command::Join { who, rating, password: None }
            }
            Some(Change::Exclude(entrant)) => Command::Exclude(read_entrant("exclude", entrant)?),
            Some(Change::Admit(entrant)) => Command::Admit(read_entrant("admit", entrant)?),
            None => return Err(Malformed::argument("change", "must be enter, exclude or admit").into()),
        };
        let changed = self.organise(&player, role, tournament_id(&wire.tournament_id)?, command).await?;
        Ok(Response::new(v1::SetEntrantResponse { tournament: Some(tournament(&changed)) }))
    }

    async fn decide_meeting(&self, request: Request<v1::DecideMeetingRequest>) -> Reply<v1::DecideMeetingResponse> {
        let (player, role) = caller_with_role(&request)?;
        let wire = request.into_inner();
        let forfeit = |by| Outcome::Forfeit { by, fault: false };
        let outcome = match wire.verdict() {
            v1::MeetingVerdict::First => forfeit(Forfeiter::Second),
            v1::MeetingVerdict::Second => forfeit(Forfeiter::First),
            v1::MeetingVerdict::Neither => forfeit(Forfeiter::Both),
            v1::MeetingVerdict::Void => Outcome::Void,
            v1::MeetingVerdict::Unspecified => {
                return Err(Malformed::argument("verdict", "must be first, second, neither or void").into());
            }
        };
        let number =
            u32::try_from(wire.number).map_err(|_| Malformed::argument("number", "must be that of a meeting"))?;
        let why = ChatText::parse(&wire.why).map_err(|error| Malformed::argument("why", error.to_string()))?;
        let id = tournament_id(&wire.tournament_id)?;
        let changed = self.organise(&player, role, id, Command::Adjudicate { number, outcome, why }).await?;
        let decided = changed.meeting(number).map(|one| meeting(&changed, one));
        Ok(Response::new(v1::DecideMeetingResponse { meeting: decided }))
    }
}

impl Services {
    /// Executes a command of the organiser, or of an administrator.
    async fn organise(
        &self,
        player: &Player,
        role: Role,
        id: TournamentId,
        command: Command,
    ) -> Result<Arc<Tournament>, RoomError> {
        let issuer = match role {
            Role::Admin => Issuer::Admin,
            Role::Player => Issuer::Player(player.id()),
        };
        self.runtime.tournaments.command(id, issuer, command).await
    }
}

/// The caller, whether it is an administrator, and its request.
fn open_to_see<T>(request: Request<T>) -> Result<(Arc<Player>, bool, T), Status> {
    let (player, role) = caller_with_role(&request)?;
    Ok((player, role == Role::Admin, request.into_inner()))
}

fn tournament_id(text: &str) -> Result<TournamentId, Status> {
    Ok(read_id("tournament_id", text)?)
}

fn read_entrant(field: &str, wire: i32) -> Result<EntrantId, Malformed> {
    u32::try_from(wire).map(EntrantId).map_err(|_| Malformed::argument(field, "must be the number of an entrant"))
}

/// The messages of a stream.
struct Views {
    watched: WatchedTournament,
    clock: Clock,
    last: Option<v1::TournamentView>,
}

impl Source for Views {
    async fn next(&mut self) -> Result<EncodedMessage, End> {
        loop {
            let changed = self.watched.next().await?.ok_or(End::Done)?;
            // The next state is looked at when this cannot be computed.
            let Ok(standings) = self.watched.standings(&changed).await else { continue };
            let view = view(changed.tournament(), &standings, self.clock.now());
            // An equal one would tell when something hidden has happened.
            if self.last.as_ref() != Some(&view) {
                self.last = Some(view.clone());
                let message = v1::watch_tournament_response::Message::View(view);
                return Ok(EncodedMessage::new(&v1::WatchTournamentResponse { message: Some(message) }));
            }
        }
    }
}
