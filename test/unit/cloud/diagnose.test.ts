import assert from "node:assert/strict";
import { connectCloud } from "../../../cloud/client.js";
import { consoleTail, describeServer } from "../../../cloud/diagnose.js";
import { startFakeCloud, type FakeCloud } from "../../support/fake-openstack.js";

describe("what the cloud knows about a machine", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(async () => {
    await cloud.close();
  });
  const connect = () => connectCloud({ env: cloud.environment() });
  const server = (fields: Readonly<Record<string, unknown>>): void => {
    cloud.on("GET /compute/servers/s", { body: { server: { id: "s", name: "dev-0", ...fields } } });
  };
  const consoleSays = (output: string | null): void => {
    cloud.on("POST /compute/servers/s/action", { body: { output } });
  };

  it("is its status and Nova's fault, when Nova knows one", async () => {
    server({ status: "ERROR", fault: { message: "No valid host was found.", code: 500 } });
    assert.equal(
      await describeServer(await connect(), "s"),
      "Server dev-0 (s) is ERROR: No valid host was found.",
    );
  });

  it("is its status and the end of its console, when Nova knows no fault", async () => {
    server({ status: "ACTIVE" });
    consoleSays("booting\nKernel panic - not syncing\n");
    assert.equal(
      await describeServer(await connect(), "s"),
      "Server dev-0 (s) is ACTIVE.\nLast lines of its console:\nbooting\nKernel panic - not syncing",
    );
  });

  it("has at most 30 lines of console", async () => {
    server({ status: "ACTIVE" });
    consoleSays(Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n"));
    const lines = (await describeServer(await connect(), "s")).split("\n");
    assert.equal(lines.length, 32);
    assert.equal(lines.at(-1), "line 99");
    assert.deepEqual(cloud.seen.at(-1)?.body, { "os-getConsoleOutput": { length: 30 } });
  });

  it("shows a console without colours, control characters and cut ones", async () => {
    consoleSays("[\u001b[0;32m  OK  \u001b[0m] Started ssh\uFFFD\uFFFD.\r\nlogin:\u0007\n");
    assert.equal(await consoleTail(await connect(), "s"), "[  OK  ] Started ssh.\nlogin:");
  });

  it("says that the console is empty, or that there is none", async () => {
    consoleSays(null);
    assert.equal(await consoleTail(await connect(), "s"), "(the console is empty)");
    cloud.on("POST /compute/servers/s/action", {
      status: 409,
      body: { conflictingRequest: { message: "Instance s is not ready" } },
    });
    assert.match(await consoleTail(await connect(), "s"), /no console: .*not ready/);
  });

  it("is that it does not exist any more", async () => {
    assert.match(await describeServer(await connect(), "s"), /s does not exist any more/);
  });

  it("is an error when the cloud cannot be asked", async () => {
    cloud.on("GET /compute/servers/s", { status: 500, body: "broken" });
    await assert.rejects(async () => describeServer(await connect(), "s"), /500: broken/);
  });
});
