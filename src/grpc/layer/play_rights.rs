//! What a play token permits.

use tonic::Status;

use crate::grpc::status;

/// The methods that a play token permits: all that is needed to find, arrange, play, watch and study games. Any other
/// method, and so each new one, needs the player's token.
const FOR_PLAY_TOKENS: [&str; 56] = [
    "AnalysisService/AnalyzeGame",
    "AnalysisService/AnalyzePosition",
    "GameService/AbortGame",
    "GameService/AnswerOffer",
    "GameService/ClaimGame",
    "GameService/MakeOffer",
    "GameService/Play",
    "GameService/PlayMove",
    "GameService/Resign",
    "GameService/WatchTurns",
    "LobbyService/CreateRoom",
    "LobbyService/GetServerInfo",
    "LobbyService/ListPlayers",
    "LobbyService/ListRooms",
    "LobbyService/QuickStart",
    "LobbyService/SetAvailability",
    "LobbyService/WatchRooms",
    "RecordService/ExplorePosition",
    "RecordService/ExportGames",
    "RecordService/GetAiStats",
    "RecordService/GetGame",
    "RecordService/GetPlayerStats",
    "RecordService/ListGames",
    "RecordService/ListRatings",
    "RoomService/CloseRoom",
    "RoomService/DeclineInvitation",
    "RoomService/EndSeries",
    "RoomService/GetRoom",
    "RoomService/JoinRoom",
    "RoomService/KickMember",
    "RoomService/LeaveRoom",
    "RoomService/LeaveSeat",
    "RoomService/PostChat",
    "RoomService/SetCoOwner",
    "RoomService/SetReady",
    "RoomService/SetSeat",
    "RoomService/StartGame",
    "RoomService/SwapSeats",
    "RoomService/TakeSeat",
    "RoomService/TransferOwnership",
    "RoomService/UpdateSettings",
    "RoomService/WatchRoom",
    "SessionService/GetMe",
    "SessionService/SetEngineVersion",
    "TournamentService/ControlTournament",
    "TournamentService/CreateTournament",
    "TournamentService/DecideMeeting",
    "TournamentService/ExportTournament",
    "TournamentService/GetTournament",
    "TournamentService/JoinTournament",
    "TournamentService/LeaveTournament",
    "TournamentService/ListMeetings",
    "TournamentService/ListTournaments",
    "TournamentService/SetEntrant",
    "TournamentService/UpdateTournament",
    "TournamentService/WatchTournament",
];

/// Refuses a call with a play token that needs the player's token, as any call with an administrator's secret does: a
/// machine that has a play token needs no such rights, and one that has both by mistake is told.
pub(super) fn check(method: &str, has_admin_secret: bool) -> Result<(), Status> {
    if FOR_PLAY_TOKENS.contains(&method) && !has_admin_secret { Ok(()) } else { Err(status::full_token_needed()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::POOL;

    /// The methods that decide over the account or the server.
    const FOR_FULL_TOKENS: [&str; 7] = [
        "RoomService/RemoveChat",
        "SessionService/AddBan",
        "SessionService/ClaimName",
        "SessionService/ListBans",
        "SessionService/LogOut",
        "SessionService/RemoveBan",
        "SessionService/ReplaceToken",
    ];

    #[test]
    fn each_method_is_for_play_tokens_or_not() {
        let services: Vec<_> = POOL.services().filter(|service| service.package_name() == "reversi.v1").collect();
        let methods = services.iter().flat_map(|service| service.methods());
        let methods = methods.map(|method| format!("{}/{}", method.parent_service().name(), method.name()));
        // It needs no token.
        let mut methods: Vec<_> = methods.filter(|method| method != "SessionService/LogIn").collect();
        let mut decided = [&FOR_PLAY_TOKENS[..], &FOR_FULL_TOKENS].concat();
        methods.sort_unstable();
        decided.sort_unstable();
        assert_eq!(methods, decided);
    }

    #[test]
    fn a_play_token_permits_these_methods_without_an_administrator() {
        for method in FOR_PLAY_TOKENS {
            assert!(check(method, false).is_ok() && check(method, true).is_err(), "{method}");
        }
        assert!(FOR_FULL_TOKENS.iter().all(|method| check(method, false).is_err()));
    }
}
