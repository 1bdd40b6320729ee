import assert from "node:assert/strict";
import { listEntries } from "../../api.js";

describe("listEntries", () => {
  it("returns the sources of the package's exports", () => {
    const entries = listEntries({
      ".": "./dist/components/index.js",
      "./automation": "./dist/automation/index.js",
      "./package.json": "./package.json",
    });
    assert.deepEqual(
      [...entries],
      [
        ["stackadm", "components/index.ts"],
        ["stackadm/automation", "automation/index.ts"],
      ],
    );
  });
});
