import { createClient } from "@connectrpc/connect";
import { AnalysisService } from "../gen/reversi/v1/analysis_pb";
import { transport } from "./client";

/** Apart from the other clients, since the first screen does not need it. */
export const analyses = createClient(AnalysisService, transport);
