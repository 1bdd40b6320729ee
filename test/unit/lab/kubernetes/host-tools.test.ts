import assert from "node:assert/strict";
import { buildTools, missingTools } from "../../../../lab/kubernetes/host-tools.js";

describe("build tools on the host", () => {
  it("are all named when none is there", () => {
    assert.deepEqual(
      missingTools(buildTools, "/usr/bin:/bin", () => false),
      Object.values(buildTools),
    );
  });

  it("are looked for in every folder of PATH", () => {
    const there = new Set(["/opt/bin/gcc", "/usr/bin/gpg", "/bin/dpkg-deb", "/bin/tar"]);
    assert.deepEqual(
      missingTools(buildTools, "/opt/bin::/usr/bin:/bin", (file) => there.has(file)),
      ["libc6-dev", "mmdebstrap"],
    );
  });

  it("are complete when everything is there", () => {
    assert.deepEqual(
      missingTools(buildTools, "/bin", () => true),
      [],
    );
  });

  it("include the C library's headers, which a compiler alone does not bring", () => {
    const missing = missingTools(buildTools, "/bin", (file) => file !== "/usr/include/stdio.h");
    assert.deepEqual(missing, ["libc6-dev"]);
  });
});
