import assert from "node:assert/strict";
import { createChannelError } from "../../../../stand-ins/command/ssh-errors.js";

describe("createChannelError", () => {
  for (const [reason, said] of [
    [1, "ssh: rejected: administratively prohibited (no)"],
    [2, "ssh: rejected: connect failed (no)"],
    // The SSH library reports an empty reason if the proxy closes the connection before it answers.
    ["", "EOF"],
  ] as const)
    it(`returns the proxy's reason, or none: ${said}`, () => {
      assert.equal(createChannelError(Object.assign(new Error("no"), { reason })).message, said);
    });
});
