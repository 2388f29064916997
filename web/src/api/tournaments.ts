import { createClient } from "@connectrpc/connect";
import { TournamentService } from "../gen/reversi/v1/tournament_pb";
import { transport } from "./client";

/** Apart from the other clients, since the first screen does not need it. */
export const tournaments = createClient(TournamentService, transport);
