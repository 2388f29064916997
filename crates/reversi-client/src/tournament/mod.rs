//! The calls about tournaments. Their messages are those of the API: see `proto/reversi/v1/tournament.proto` for units
//! and bounds. Texts in them may have any characters.

use super::{
    ClientError, Incoming, Malformed, Page, Reader, Session, TournamentControl, TournamentId, event::StreamMessage,
    parse, reader::Transport, stream::HEARTBEAT,
};
use crate::v1::{
    self, set_entrant_request::Change, tournament_service_client::TournamentServiceClient,
    watch_tournament_response::Message,
};

impl StreamMessage for v1::TournamentView {}

/// A filter of meetings; the default matches all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeetingFilter {
    /// Only those of this entrant; 0 for all.
    pub entrant: i32,
    /// Only those of this round, of the play-off if that is set, and else before it; 0 for all.
    pub round: i32,
    /// Only those of the play-off.
    pub playoff: bool,
}

impl Reader {
    fn tournament_calls(&self) -> TournamentServiceClient<Transport> {
        TournamentServiceClient::new(self.transport())
    }

    /// A page of all tournaments, or of those that have not ended, the newest first; `page` is [`Page::next`] of the last
    /// page.
    pub async fn tournaments(
        &self,
        unfinished: bool,
        page: Option<String>,
    ) -> Result<Page<v1::Tournament>, ClientError> {
        let page_token = page.unwrap_or_default();
        let request = v1::ListTournamentsRequest { page_size: 200, page_token, unfinished };
        let answer = self.tournament_calls().list_tournaments(request).await?.into_inner();
        Ok(Page::new(answer.tournaments, answer.next_page_token))
    }

    /// A tournament with its standings, best first.
    pub async fn tournament(&self, id: &TournamentId) -> Result<v1::GetTournamentResponse, ClientError> {
        let request = v1::GetTournamentRequest { tournament_id: id.to_string() };
        Ok(self.tournament_calls().get_tournament(request).await?.into_inner())
    }

    /// A tournament now and after its changes, until it ends.
    pub async fn watch_tournament(&self, id: &TournamentId) -> Result<Incoming<v1::TournamentView>, ClientError> {
        let request = v1::WatchTournamentRequest { tournament_id: id.to_string() };
        let views = self.tournament_calls().watch_tournament(request).await?;
        let parse = |response: v1::WatchTournamentResponse| match response.message {
            Some(Message::View(view)) => Ok::<_, Malformed>(Some(view)),
            Some(Message::Heartbeat(_) | Message::Closing(_)) | None => Ok(None),
        };
        Ok(Incoming::with_heartbeats(views, HEARTBEAT, parse))
    }

    /// All of a tournament, a line of text in each message.
    pub async fn export_tournament(
        &self,
        id: &TournamentId,
        format: v1::TournamentFormat,
    ) -> Result<Incoming<String>, ClientError> {
        let request = v1::ExportTournamentRequest { tournament_id: id.to_string(), format: format.into() };
        let lines = self.tournament_calls().export_tournament(request).await?.into_inner();
        Ok(Incoming::new(lines, |response: v1::ExportTournamentResponse| Ok::<_, Malformed>(Some(response.line))))
    }

    /// A page of the meetings by number; `page` is [`Page::next`] of the last page.
    pub async fn meetings(
        &self,
        id: &TournamentId,
        MeetingFilter { entrant, round, playoff }: MeetingFilter,
        page: Option<String>,
    ) -> Result<Page<v1::Meeting>, ClientError> {
        let (tournament_id, page_token) = (id.to_string(), page.unwrap_or_default());
        let request = v1::ListMeetingsRequest { tournament_id, entrant, page_size: 200, page_token, round, playoff };
        let answer = self.tournament_calls().list_meetings(request).await?.into_inner();
        Ok(Page::new(answer.meetings, answer.next_page_token))
    }
}

impl Session {
    /// Creates a tournament that the player organises; with a password unless that is empty.
    pub async fn create_tournament(
        &self,
        settings: v1::TournamentSettings,
        password: &str,
    ) -> Result<v1::Tournament, ClientError> {
        let request = v1::CreateTournamentRequest { settings: Some(settings), password: password.to_owned() };
        let answer = self.tournament_calls().create_tournament(request).await?.into_inner();
        Ok(parse::required(answer.tournament, "tournament")?)
    }

    /// Replaces all settings of a tournament, before its start.
    pub async fn update_tournament(
        &self,
        id: &TournamentId,
        settings: v1::TournamentSettings,
    ) -> Result<v1::Tournament, ClientError> {
        let request = v1::UpdateTournamentRequest { tournament_id: id.to_string(), settings: Some(settings) };
        let answer = self.tournament_calls().update_tournament(request).await?.into_inner();
        Ok(parse::required(answer.tournament, "tournament")?)
    }

    /// Enters the player.
    pub async fn join_tournament(&self, id: &TournamentId, password: &str) -> Result<v1::Tournament, ClientError> {
        let (tournament_id, password) = (id.to_string(), password.to_owned());
        self.join_tournament_by(v1::JoinTournamentRequest { tournament_id, password, ..Default::default() }).await
    }

    /// Enters the player in the server's pool with this clock, such as "60+1".
    pub async fn join_pool(&self, clock: &str) -> Result<v1::Tournament, ClientError> {
        self.join_tournament_by(v1::JoinTournamentRequest { pool: clock.to_owned(), ..Default::default() }).await
    }

    async fn join_tournament_by(&self, request: v1::JoinTournamentRequest) -> Result<v1::Tournament, ClientError> {
        let answer = self.tournament_calls().join_tournament(request).await?.into_inner();
        Ok(parse::required(answer.tournament, "tournament")?)
    }

    /// The player takes part no more.
    pub async fn leave_tournament(&self, id: &TournamentId) -> Result<(), ClientError> {
        let request = v1::LeaveTournamentRequest { tournament_id: id.to_string() };
        self.tournament_calls().leave_tournament(request).await?;
        Ok(())
    }

    /// Starts, pauses, resumes, ends or cancels a tournament.
    pub async fn control_tournament(
        &self,
        id: &TournamentId,
        control: TournamentControl,
    ) -> Result<v1::Tournament, ClientError> {
        let request = v1::ControlTournamentRequest { tournament_id: id.to_string(), control: control.into() };
        let answer = self.tournament_calls().control_tournament(request).await?.into_inner();
        Ok(parse::required(answer.tournament, "tournament")?)
    }

    /// Enters an AI, or excludes or admits an entrant.
    pub async fn set_entrant(&self, id: &TournamentId, change: Change) -> Result<v1::Tournament, ClientError> {
        let request = v1::SetEntrantRequest { tournament_id: id.to_string(), change: Some(change) };
        let answer = self.tournament_calls().set_entrant(request).await?.into_inner();
        Ok(parse::required(answer.tournament, "tournament")?)
    }

    /// Sets the outcome of a meeting.
    pub async fn decide_meeting(
        &self,
        id: &TournamentId,
        number: i32,
        verdict: v1::MeetingVerdict,
        why: &str,
    ) -> Result<v1::Meeting, ClientError> {
        let request = v1::DecideMeetingRequest {
            tournament_id: id.to_string(),
            number,
            verdict: verdict.into(),
            why: why.to_owned(),
        };
        let answer = self.tournament_calls().decide_meeting(request).await?.into_inner();
        Ok(parse::required(answer.meeting, "meeting")?)
    }
}
