import assert from "node:assert/strict";
import { findNewerVersion } from "../../../../automation/preflight/newer-version.js";
import { kubernetesMinors, supportedMinors } from "../../../../base/versions/pinned-versions.js";

const [newest = "", former = ""] = supportedMinors.map(
  (minor) => kubernetesMinors[minor]?.version ?? "",
);

describe("findNewerVersion", () => {
  it("names the version of the next minor, which an upgrade reaches in one step", () => {
    const [found, ...others] = findNewerVersion(former);
    assert.deepEqual(others, []);
    assert.equal(found?.severity, "warning");
    assert.equal(
      found.text,
      `kubernetes.version: the cluster has ${former}, and ${newest} is available; write ${newest} to upgrade`,
    );
  });

  it("names a later patch release of the newest minor", () => {
    const earlier = newest.replace(/\d+$/, (patch) => String(Number(patch) - 1));
    assert.match(
      findNewerVersion(earlier)[0]?.text ?? "",
      new RegExp(`and ${newest} is available`),
    );
  });

  it("reports nothing for the newest version and for later ones", () => {
    assert.deepEqual(findNewerVersion(newest), []);
    assert.deepEqual(findNewerVersion(newest.replace(/\d+$/, "99")), []);
  });
});
