import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import {
  readConsoleTail,
  describeServer,
  readServerState,
  isInterventionNeeded,
} from "../../../../openstack/inventory/server-diagnostics.js";
import { inNoTime, startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";

const id = "0b1c2d3e-0000-4000-8000-000000000001";

describe("server diagnostics", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(async () => {
    await cloud.close();
  });
  const connect = () => connectCloud({ env: cloud.environment(), patience: inNoTime });
  const server = (fields: Readonly<Record<string, unknown>>): void => {
    cloud.on(`GET /compute/servers/${id}`, { body: { server: { id, name: "dev-0", ...fields } } });
  };
  const consoleSays = (output: string | null): void => {
    cloud.on(`POST /compute/servers/${id}/action`, { body: { output } });
  };

  it("contain status and Nova's fault", async () => {
    server({ status: "ERROR", fault: { message: "No valid host was found.", code: 500 } });
    assert.equal(
      await describeServer(await connect(), id),
      `Server dev-0 (${id}) is ERROR: No valid host was found.`,
    );
  });

  it("contain status and the end of the console if Nova has no fault", async () => {
    server({ status: "ACTIVE" });
    consoleSays("booting\nKernel panic - not syncing\n");
    assert.equal(
      await describeServer(await connect(), id),
      `Server dev-0 (${id}) is ACTIVE.\nLast lines of its console:\nbooting\nKernel panic - not syncing`,
    );
  });

  it("contain at most 30 lines of the console", async () => {
    server({ status: "ACTIVE" });
    consoleSays(Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n"));
    const lines = (await describeServer(await connect(), id)).split("\n");
    assert.equal(lines.length, 32);
    assert.equal(lines.at(-1), "line 99");
    assert.deepEqual(cloud.seen.at(-1)?.body, { "os-getConsoleOutput": { length: 30 } });
  });

  it("omit colours and control characters, even partial ones", async () => {
    consoleSays("[\u001b[0;32m  OK  \u001b[0m] Started ssh\uFFFD\uFFFD.\r\nlogin:\u0007\n");
    assert.equal(await readConsoleTail(await connect(), id), "[  OK  ] Started ssh.\nlogin:");
  });

  it("report an empty or missing console", async () => {
    consoleSays(null);
    assert.equal(await readConsoleTail(await connect(), id), "(the console is empty)");
    cloud.on(`POST /compute/servers/${id}/action`, {
      status: 409,
      body: { conflictingRequest: { message: "Instance s is not ready" } },
    });
    assert.match(await readConsoleTail(await connect(), id), /no console: .*not ready/);
  });

  it("report that the server no longer exists", async () => {
    assert.match(await describeServer(await connect(), id), /1 no longer exists/);
  });

  it("throw if the cloud fails", async () => {
    cloud.on(`GET /compute/servers/${id}`, { status: 500, body: "broken" });
    await assert.rejects(
      async () => describeServer(await connect(), id),
      /500 at the last of 5 tries: broken/,
    );
  });

  it("distinguish stopped servers from those on which a script may run", () => {
    const still = ["SHUTOFF", "PAUSED", "SUSPENDED", "RESCUE", "SHELVED", "ERROR", "DELETED"];
    const runs = ["ACTIVE", "REBOOT", "HARD_REBOOT", "PASSWORD", "VERIFY_RESIZE", "BUILD", "NEW"];
    assert.deepEqual(
      [...still, ...runs].filter((status) => isInterventionNeeded({ status })),
      still,
    );
  });

  it("are requested by name if the ID is unknown: one server, none, or an error for several", async () => {
    const answers = (...names: string[]): void => {
      cloud.on("GET /compute/servers/detail", {
        body: { servers: names.map((name) => ({ id, name, status: "SHUTOFF" })) },
      });
    };
    answers("dev-0");
    assert.equal((await readServerState(await connect(), "dev-0")).status, "SHUTOFF");
    assert.match(cloud.seen.at(-1)?.path ?? "", /name=%5Edev-0%24/);
    answers();
    assert.equal((await readServerState(await connect(), "dev-0")).status, "DELETED");
    answers("dev-0", "dev-0");
    await assert.rejects(
      readServerState(await connect(), "dev-0"),
      /Several servers are called dev-0/,
    );
  });
});
