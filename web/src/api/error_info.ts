import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";

// The details of a refusal, which are not among the generated messages.

/** The number of ErrorInfo's `metadata`, a map: its entries have a key in field 1 and a value in field 2. */
const METADATA = 3;

/** The number of BadRequest's `field_violations`, each with the name of a field in field 1. */
const VIOLATIONS = 1;

type Details = Pick<ConnectError, "details">;

export function errorMetadata(error: Details): ReadonlyMap<string, string> {
  const entries = partsOf(error, "google.rpc.ErrorInfo", METADATA);
  return new Map(entries.map((texts) => [texts.get(1) ?? "", texts.get(2) ?? ""]));
}

/** The first field of the request that is refused. */
export function refusedField(error: Details): string | undefined {
  return partsOf(error, "google.rpc.BadRequest", VIOLATIONS)[0]?.get(1);
}

/** The texts of the messages in one field of a detail. */
function partsOf({ details }: Details, type: string, number: number): ReadonlyMap<number, string>[] {
  const info = details.find((detail) => "type" in detail && detail.type === type);
  if (!info || !("value" in info) || !(info.value instanceof Uint8Array)) return [];
  const parts = fieldsOf(info.value).filter(([field]) => field === number);
  return parts.map(
    ([, part]) => new Map(fieldsOf(part).map(([field, bytes]) => [field, new TextDecoder().decode(bytes)])),
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
