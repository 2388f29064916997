import { createClient } from "@connectrpc/connect";
import { RecordService } from "../gen/reversi/v1/record_pb";
import { transport } from "./client";

/** Apart from the other clients, since the first screen does not need it. */
export const records = createClient(RecordService, transport);
