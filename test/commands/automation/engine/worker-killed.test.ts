import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Embedder, fails, settingsOf } from "../../../support/engine/embedder.js";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import { networkType, stepEvent } from "../../../support/engine/fake-engine.js";
import { workersOf } from "../../../lab/support/faults/engine.js";

describe("the worker process of an operation", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
  });
  afterEach(() => embedder.stop());

  for (const then of ["wait", "hang"] as const)
    it(`stops its engine when it is killed, so that the stack does not stay locked (${then})`, async () => {
      const events = [stepEvent("resourcePreEvent", { type: networkType, name: "net" })];
      embedder.engine.state({});
      embedder.engine.runs({ up: { events, then } });
      const engine = (): string => readFileSync(join(embedder.engine.directory, "pid"), "utf8");
      const onEvent = (event: OperationEvent): void => {
        if (event.type !== "resource") return;
        const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${engine()}/status`, "utf8"));
        process.kill(Number(parent?.[1]), "SIGKILL");
      };
      const options = { preflight: false, verify: false, onEvent };
      await fails(embedder.service().up("dev", options), "ENGINE_KILLED");
      // A killed process keeps its PID until its adoptive parent has read its exit status.
      for (let tries = 0; tries < 500 && existsSync(`/proc/${engine()}`); tries += 1)
        await pause(10);
      assert.ok(!existsSync(`/proc/${engine()}`), "the engine is still there");
    });

  it("ends immediately if the preflight fails and no operation follows", async () => {
    embedder.write("Pulumi.dev.yaml", settingsOf({}));
    embedder.cloud.on("GET /image/images", { body: { images: [] } });
    await fails(embedder.service().up("dev"), "PREFLIGHT_FAILED");
    for (let tries = 0; tries < 20 && workersOf().length > 0; tries += 1) await pause(10);
    assert.deepEqual(workersOf(), []);
  });
});
