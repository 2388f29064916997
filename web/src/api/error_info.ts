import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";

const TYPE = "google.rpc.ErrorInfo";

/** The number of `metadata`, a map: its entries have a key in field 1 and a value in field 2. */
const METADATA = 3;

/** The metadata of a refusal's google.rpc.ErrorInfo, which is not among the generated messages. */
export function errorMetadata({ details }: Pick<ConnectError, "details">): ReadonlyMap<string, string> {
  const info = details.find((detail) => "type" in detail && detail.type === TYPE);
  if (!info || !("value" in info) || !(info.value instanceof Uint8Array)) return new Map();
  return new Map(
    fieldsOf(info.value).flatMap(([number, entry]) => {
      if (number !== METADATA) return [];
      const texts = new Map(fieldsOf(entry).map(([field, bytes]) => [field, new TextDecoder().decode(bytes)]));
      return [[texts.get(1) ?? "", texts.get(2) ?? ""] as const];
    }),
  );
}

/** The strings and messages of a message, by field number. */
function fieldsOf(bytes: Uint8Array): (readonly [number, Uint8Array])[] {
  const fields: (readonly [number, Uint8Array])[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) fields.push([number, reader.bytes()]);
    else reader.skip(type, number);
  }
  return fields;
}
