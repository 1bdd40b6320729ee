import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";
import {
  startBenchFakeCluster,
  type BenchFakeCluster,
} from "../../../packages/bench/support/fake-cluster.js";
import { Installation, type CommandRun } from "../../../packages/bench/support/installation.js";
import { getRunFigures } from "../../../packages/bench/support/phases.js";

/**
 * Uses the installed command line and an unchanged cluster. Measures only CPU time, and accepts a
 * wide range.
 */
describe("an up without changes", function () {
  this.timeout(240_000);
  let scratch: string;
  let living: BenchFakeCluster;
  let place: Installation;
  let ran: CommandRun;
  let asked: string[];

  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), "stackadm-no-op-"));
    living = await startBenchFakeCluster(scratch);
    place = await Installation.of(getPackageRoot(), living);
    const earlier = living.cloud.seen.length;
    ran = await place.stackadm("up");
    asked = living.cloud.seen.slice(earlier).map(({ method, path }) => `${method} ${path}`);
  });
  after(async () => {
    (place as Installation | undefined)?.remove();
    await living.close();
    rmSync(scratch, { recursive: true });
  });

  it("sends the requests of the preflight and of the program's lookups", () => {
    assert.ok(asked.includes("GET /compute/limits"));
    // The OpenStack plugin requests this path. The preflight requests /image/images.
    assert.ok(asked.some((call) => call.startsWith("GET /image/v2/images")));
  });

  it("sends each read request once, and logs in for service, plugin and program", () => {
    // The plugin lists all flavors for each flavor that the program looks up.
    const flavors = "GET /compute/flavors/detail?is_public=";
    const reads = asked.filter((call) => call.startsWith("GET ") && !call.startsWith(flavors));
    assert.deepEqual(reads, [...new Set(reads)]);
    const writes = asked.filter((call) => !call.startsWith("GET "));
    assert.deepEqual(writes, Array(3).fill("POST /identity/v3/auth/tokens"));
  });

  it("starts each Pulumi command once", () => {
    const called = ran.processes.flatMap(
      ({ what }) => /\/pulumi (stack \w+|\w+)/.exec(what)?.[1] ?? [],
    );
    // After a fork, both processes have the same name for a moment.
    assert.deepEqual([...new Set(called)].sort(), [
      "stack export",
      "stack output",
      "stack select",
      "up",
      "version",
    ]);
  });

  it("takes between 1 and 20 seconds of CPU time", () => {
    const figures = getRunFigures(ran, asked.length);
    const all = figures["CPU of all"] ?? 0;
    // The measured time was 6.5 s on two cores. Other machines differ, but a regression would at
    // least double the time.
    assert.ok(all > 1_000 && all < 20_000, JSON.stringify(figures));
  });
});
