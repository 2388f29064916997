import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { RecordService } from "../gen/reversi/v1/record_pb";

/** Without a token, unlike the page's: the other site's reader must not act, or be seen, as a player. */
const transport = createGrpcWebTransport({ baseUrl: location.origin, defaultTimeoutMs: 10_000 });

export const records = createClient(RecordService, transport);
