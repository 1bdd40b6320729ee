import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { UnreachableServers } from "../../../../components/lifecycle/unreachable-servers.js";
import { localContextOf } from "../../../../components/lookup/local-context.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { graph } from "../../../support/graph/graph.js";
import { replace } from "../../../support/replace-property.js";

describe("retry of a script after a failure of its machine", () => {
  let cloud: FakeCloud;
  const server = { machine: "dev-general-0", serverId: "5ee5a1c4-0000-4000-8000-000000000001" };
  const machines = (): UnreachableServers =>
    new UnreachableServers(localContextOf(cloud.environment()), {}, { pauseSeconds: 0 });
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(async () => {
    await cloud.close();
  });

  const ended = "wait: remote command exited without exit status or exit signal: running";
  const bastion = "5ee5a1c4-0000-4000-8000-000000000002";
  /** Returns the hook's answers to consecutive errors, and its reports. */
  const told = async (
    errors: readonly string[],
    { script = "join", status = "ACTIVE", proxyStatus = "ACTIVE" } = {},
  ): Promise<unknown[]> => {
    for (const [id, name, state] of [
      [server.serverId, server.machine, status],
      [bastion, "dev-bastion-0", proxyStatus],
    ] as const)
      cloud.on(`GET /compute/servers/${id}`, { body: { server: { id, name, status: state } } });
    const answers: unknown[] = [];
    const note = (text: string): Promise<void> => {
      answers.push(text.replace(/^\[\S+ /, ""));
      return Promise.resolve();
    };
    const restored = [replace(pulumi.log, "error", note), replace(pulumi.log, "info", note)];
    await graph(async () => {
      const hop = { host: "a", user: "u", hostKey: "k", machine: "m", server: "a" };
      const proxy = { ...hop, machine: "dev-bastion-0", server: bastion };
      const connection = { ...hop, proxy };
      const reached = { ...server, serverId: pulumi.output(server.serverId), connection };
      const { callback } = machines().createScriptErrorHook(reached, script);
      for (const error of errors)
        answers.push(
          await callback({
            failedOperation: "create",
            errors: [error],
            urn: "",
            id: "",
            name: "",
            type: "",
          }),
        );
    }).finally(() => {
      for (const restore of restored) restore();
    });
    return answers;
  };

  it("restarts the script twice if the machine runs", async () => {
    const again =
      "The connection to the machine dev-general-0 ended; its script 'join' starts again.";
    assert.deepEqual(await told([ended, ended, ended]), [
      ...[again, true, again, true],
      "The connection to the machine dev-general-0 ended 3 times while the script 'join' ran on it.",
      false,
    ]);
  });

  it("does not restart the script if the machine was stopped", async () => {
    assert.deepEqual(await told([ended], { status: "SHUTOFF" }), [
      "The machine dev-general-0 does not run: Nova says SHUTOFF. Start it with `openstack server start dev-general-0`.",
      false,
    ]);
  });

  it("reports the jump host if it was stopped", async () => {
    const stopped =
      "The machine dev-bastion-0 does not run: Nova says SHUTOFF. Start it with `openstack server start dev-bastion-0`.";
    const silentProxy = "proxy: after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout";
    for (const error of [ended, silentProxy])
      assert.deepEqual(await told([error], { proxyStatus: "SHUTOFF" }), [stopped, false]);
  });

  it("grants a restarting machine the full boot time, however long its script ran before", async () => {
    let minutes = 0;
    const clock = performance.now.bind(performance);
    const restored = replace(performance, "now", () => clock() + minutes * 60_000);
    const answers: boolean[] = [];
    await graph(async () => {
      const connection = { host: "a", user: "u", hostKey: "k", machine: "m", server: "a" };
      const reached = { ...server, serverId: pulumi.output(server.serverId), connection };
      const patience = { bootMinutes: 10, pauseSeconds: 0 };
      const { callback } = new UnreachableServers(
        undefined,
        undefined,
        patience,
      ).createScriptErrorHook(reached, "scripts");
      for (const [at, error] of [
        [0, "after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout"],
        [9, "wait: remote command exited without exit status or exit signal: running"],
        [9, "after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout"],
      ] as const) {
        minutes = at;
        answers.push(
          await callback({
            failedOperation: "create",
            errors: [error],
            urn: "",
            id: "",
            name: "",
            type: "",
          }),
        );
      }
    }).finally(restored);
    assert.deepEqual(answers, [true, true, true]);
  });

  it("does not mark a machine for replacement if the machine answered before", async () => {
    const silent = "proxy: after 30 failed attempts: ssh: rejected: connect failed (timeout)";
    const answers = await told([ended, silent], { script: "scripts" });
    assert.match(String(answers.at(-2)), /^The machine dev-general-0 does not answer on SSH\. /);
    assert.equal(answers.at(-1), false);
    assert.ok(!cloud.seen.some(({ path }) => path.endsWith("/metadata")));
  });
});
