import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { expect, it } from "vitest";
import { errorMetadata } from "./error_info";

it("reads the metadata of an ErrorInfo", () => {
  const entry = new BinaryWriter()
    .uint32((1 << 3) | 2)
    .string("room_id")
    .uint32((2 << 3) | 2)
    .string("r7")
    .finish();
  const value = new BinaryWriter()
    .uint32((1 << 3) | 2)
    .string("QUOTA_SEATS")
    .uint32((3 << 3) | 2)
    .bytes(entry)
    .finish();
  const other = { type: "google.rpc.RetryInfo", value: new Uint8Array([0]) };
  const metadata = errorMetadata({ details: [other, { type: "google.rpc.ErrorInfo", value }] });
  expect([...metadata]).toEqual([["room_id", "r7"]]);
});

it("is empty without one", () => {
  expect(errorMetadata({ details: [] }).size).toBe(0);
});
