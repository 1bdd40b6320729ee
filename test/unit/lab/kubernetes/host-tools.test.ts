import assert from "node:assert/strict";
import { buildTools, missingBuildTools } from "../../../../lab/kubernetes/host-tools.js";

describe("build tools on the host", () => {
  it("are all named when none is there", () => {
    assert.deepEqual(
      missingBuildTools("/usr/bin:/bin", () => false),
      Object.values(buildTools),
    );
  });

  it("are looked for in every folder of PATH", () => {
    const there = new Set(["/opt/bin/gcc", "/usr/bin/gpg", "/bin/dpkg-deb", "/bin/tar"]);
    assert.deepEqual(
      missingBuildTools("/opt/bin::/usr/bin:/bin", (file) => there.has(file)),
      ["libc6-dev", "mmdebstrap"],
    );
  });

  it("are complete when everything is there", () => {
    assert.deepEqual(
      missingBuildTools("/bin", () => true),
      [],
    );
  });

  it("include the C library's headers, which a compiler alone does not bring", () => {
    const missing = missingBuildTools("/bin", (file) => file !== "/usr/include/stdio.h");
    assert.deepEqual(missing, ["libc6-dev"]);
  });
});
