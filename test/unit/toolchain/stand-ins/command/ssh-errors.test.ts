import assert from "node:assert/strict";
import { channelError } from "../../../../../toolchain/stand-ins/command/ssh-errors.js";

describe("a proxy that opens no channel", () => {
  for (const [reason, said] of [
    [1, "ssh: rejected: administratively prohibited (no)"],
    [2, "ssh: rejected: connect failed (no)"],
    // What the SSH library gives where the proxy hung up before it answered.
    ["", "EOF"],
  ] as const)
    it(`says why, or nothing: ${said}`, () => {
      assert.equal(channelError(Object.assign(new Error("no"), { reason })).message, said);
    });
});
