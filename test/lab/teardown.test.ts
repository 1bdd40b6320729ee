import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { silentProgress } from "../../base/progress.js";
import { getStatePath } from "../../base/paths.js";
import { labDown, labStatus, labUp } from "../../packages/lab/lab.js";
import { hostTraces, killContainer, labProcesses } from "./support/machines/host.js";

/**
 * Returns the state files in the lab's own backend. They belong to clusters of the user, which a
 * test must not destroy.
 */
function stacksOnLab(): string[] {
  const directory = getStatePath("lab", "pulumi", ".pulumi", "stacks", "stackadm");
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((file) => file.endsWith(".json"));
}

// This file stops the lab, so it runs last in the tier.
describe("the lab", function () {
  this.timeout(300_000);
  const kept = stacksOnLab();
  if (kept.length > 0) {
    it(`stays up with the stacks ${kept.join(", ")} (destroy these stacks to test \`lab down\`)`, async () => {
      assert.equal((await labStatus()).state, "up");
    });
    return;
  }

  it("keeps its start time on a second `lab up`", async () => {
    await labUp({ progress: silentProgress });
    const begun = await labStatus();
    await labUp({ progress: silentProgress });
    assert.equal((await labStatus()).startedAt, begun.startedAt);
  });

  it("is reported as broken after its container is killed, and recovers with the next `lab up`", async () => {
    await killContainer("stackadm-lab");
    const { state, problems } = await labStatus();
    assert.equal(state, "broken");
    assert.match(problems.join(), /container stackadm-lab is stopped/);
    await labUp({ progress: silentProgress });
    assert.equal((await labStatus()).state, "up");
  });

  it("leaves no process, mount, loop device, namespace, interface, rule or container after `lab down`", async () => {
    const running = await hostTraces();
    assert.ok(running["containers"]?.includes("stackadm-lab"));
    assert.notDeepEqual(await labProcesses(), []);
    await labDown({ progress: silentProgress });
    const left = await hostTraces();
    for (const [what, traces] of Object.entries(left)) {
      const suspects = traces.filter((trace) =>
        /lab(mgmt|ext|svc|cloud)|stackadm|172\.29\./.test(trace),
      );
      assert.deepEqual(suspects, [], what);
    }
    assert.deepEqual(await labProcesses(), []);
    assert.equal(existsSync(getStatePath("lab")), false);
  });

  it("is reported as down, and accepts a second `lab down`", async () => {
    assert.deepEqual((await labStatus()).state, "down");
    await labDown({ progress: silentProgress });
  });
});
