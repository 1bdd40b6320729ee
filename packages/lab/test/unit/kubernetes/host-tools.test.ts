import assert from "node:assert/strict";
import { findMissingCommands } from "../../../../../base/host-packages.js";
import { buildTools } from "../../../kubernetes/host-tools.js";

describe("build tools on the host", () => {
  it("include the C library's headers, which the compiler's package does not install", () => {
    const missing = findMissingCommands(
      buildTools,
      "/bin",
      (file) => file !== "/usr/include/stdio.h",
    );
    assert.deepEqual(
      missing.map((file) => buildTools[file]),
      ["libc6-dev"],
    );
  });
});
