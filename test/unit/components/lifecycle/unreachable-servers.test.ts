import { strict as assert } from "node:assert";
import {
  UnreachableServers,
  parseServerId,
} from "../../../../components/lifecycle/unreachable-servers.js";
import { isFirstRunOnServer } from "../../../../components/lifecycle/server-never-reached.js";
import { localContextOf } from "../../../../components/lookup/local-context.js";
import * as pulumi from "@pulumi/pulumi";
import { graph } from "../../../support/graph/graph.js";
import type { Failure } from "../../../../base/failures/failure.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("failed machines", () => {
  it("count as new only if no script has reached their server", () => {
    assert.equal(isFirstRunOnServer("create", { now: "a" }), true);
    // This server has worked before: it may be unreachable temporarily, and must not be replaced.
    assert.equal(isFirstRunOnServer("update", { now: "a" }), false);
    assert.equal(isFirstRunOnServer("update", { before: "a", now: "a" }), false);
  });

  it("count as new after their server was replaced", () => {
    assert.equal(isFirstRunOnServer("update", { before: "a", now: "b" }), true);
  });

  it("are identified by the server ID in the provider's error", () => {
    const id = "5ee5a1c4-0b1c-4d2e-8f30-0123456789ab";
    const said = `Error waiting for instance (${id}) to become ready: unexpected state 'ERROR'`;
    assert.equal(parseServerId(said), id);
    assert.equal(parseServerId("No suitable endpoint could be found"), undefined);
  });

  describe("that do not answer", () => {
    let cloud: FakeCloud;
    const server = { machine: "dev-general-0", serverId: "5ee5a1c4-0000-4000-8000-000000000001" };
    const judge = (status: string, first = true): Promise<Failure> => {
      const found = { id: "5ee5a1c4-0000-4000-8000-000000000001", name: "dev-general-0", status };
      cloud.on("GET /compute/servers/5ee5a1c4-0000-4000-8000-000000000001", {
        body: { server: found },
      });
      return machines().createUnreachableFailure(server, first);
    };
    const machines = (): UnreachableServers =>
      new UnreachableServers(localContextOf(cloud.environment()), {});
    const path = `/servers/${server.serverId}/metadata`;
    /** Returns the metadata that was written to the server. */
    const marked = (): unknown =>
      cloud.seen.find((one) => one.method === "POST" && one.path.endsWith(path))?.body;
    beforeEach(async () => {
      cloud = await startFakeCloud();
      cloud.on(`POST /compute${path}`, { body: { metadata: {} } });
      cloud.on("POST /compute/servers/5ee5a1c4-0000-4000-8000-000000000001/action", {
        body: { output: "Kernel panic" },
      });
    });
    afterEach(async () => {
      await cloud.close();
    });

    it("are marked for replacement if they run and never answered, and the error shows their console", async () => {
      const { code, sentence } = await judge("ACTIVE");
      assert.equal(code, "SERVER_NEVER_BOOTED");
      assert.match(
        sentence,
        /^The machine dev-general-0 never answered on SSH; .*is ACTIVE\.\n.*\nKernel panic$/s,
      );
      assert.match(sentence, /the next `up` replaces it\./);
      assert.deepEqual(marked(), { metadata: { "stackadm-never-answered": server.serverId } });
    });

    it("are reported without a replacement if Nova refuses the mark", async () => {
      cloud.on(`POST /compute${path}`, { status: 403 });
      assert.match((await judge("ACTIVE")).sentence, /raise its generation to have it replaced/);
    });

    it("are not marked if no run would read the mark, because the cloud's answer comes too late", async () => {
      await judge("ACTIVE", false);
      const never = new Promise<never>(() => undefined);
      const late = UnreachableServers.forRun(localContextOf(cloud.environment()), never);
      const { sentence } = await late.createUnreachableFailure(server, true);
      assert.match(sentence, /raise its generation to have it replaced/);
      assert.equal(marked(), undefined);
    });

    it("are kept if they answered before", async () => {
      const { code, sentence } = await judge("ACTIVE", false);
      assert.equal(code, "SSH_UNREACHABLE");
      assert.match(sentence, /^The machine dev-general-0 does not answer on/);
      assert.equal(marked(), undefined);
    });

    describe("during their boot", () => {
      const proxy = { server: "5ee5a1c4-0000-4000-8000-000000000002" };
      const silent = "after 30 failed attempts: dial tcp 172.29.1.60:22: i/o timeout";
      const address = { host: "a", user: "u", hostKey: "k", machine: "m", server: "a" };
      const waiting = async (statuses: readonly string[], waited = 0): Promise<boolean> => {
        for (const [index, id] of [server.serverId, proxy.server].entries())
          cloud.on(`GET /compute/servers/${id}`, {
            body: { server: { id, name: "m", status: statuses[index] ?? "ACTIVE" } },
          });
        const patient = new UnreachableServers(
          localContextOf(cloud.environment()),
          {},
          { bootMinutes: 10 },
        );
        return patient.mayBoot([server.serverId, proxy], waited);
      };

      it("are dialled again while they may still boot", async () => {
        assert.equal(await waiting(["ACTIVE"]), true);
        // The limit includes the time of the dials so far, and of the next ones.
        assert.equal(await waiting(["ACTIVE"], 10 * 60 - 231 - 1), true);
        assert.equal(await waiting(["ACTIVE"], 10 * 60 - 231), false);
        assert.equal(await machines().mayBoot([server.serverId, undefined], 0), false);
      });

      it("are not dialled again if the machine or its jump host does not run", async () => {
        assert.equal(await waiting(["ERROR"]), false);
        assert.equal(await waiting(["DELETED"]), false);
        assert.equal(await waiting(["ACTIVE", "SHUTOFF"]), false);
      });

      it("have only their first script retried, also behind a proxy that does not answer yet", async () => {
        const tried: boolean[] = [];
        await graph(async () => {
          const known = { machine: "m", serverId: pulumi.output("a"), connection: address };
          const { callback } = new UnreachableServers(undefined, undefined, {
            bootMinutes: 10,
          }).createScriptErrorHook(known, "scripts");
          for (const [failedOperation, error] of [
            ...[["create", silent] as const, ["create", `proxy: ${silent}`] as const],
            ...[["update", silent] as const, ["create", "Process exited with status 1"] as const],
          ])
            tried.push(
              await callback({
                failedOperation,
                errors: [error],
                urn: "",
                id: "",
                name: "",
                type: "",
              }),
            );
        });
        assert.deepEqual(tried, [true, true, false, false]);
      });

      const bootMinutes = 10;
      /** Returns whether a script without an answer is retried, as on a booting machine. */
      const tries = async (
        script: string,
        failure: Partial<pulumi.ErrorHookArgs>,
        before: (failed: UnreachableServers) => void = () => undefined,
      ): Promise<boolean> => {
        let answer = false;
        await graph(async () => {
          const known = { machine: "m", serverId: pulumi.output("a"), connection: address };
          const failed = new UnreachableServers(undefined, undefined, { bootMinutes });
          before(failed);
          answer = await failed.createScriptErrorHook(known, script).callback({
            failedOperation: "create",
            errors: [silent],
            urn: "",
            id: "",
            name: "",
            type: "",
            ...failure,
          });
        });
        return answer;
      };
      const onServer = (id: string): readonly (readonly [string, pulumi.Inputs])[] => [
        ["scripts", { remotePath: `.stackadm/${id}/0.sh` }],
        ["prepare", { create: `sudo \\\n  SERVER_ID=${id}` }],
      ];

      it("stay new until a step succeeds on them; a copied file alone does not count", async () => {
        assert.equal(await tries("prepare", {}), true);
        const ran = (failed: UnreachableServers): void => {
          failed.recordFinishedScript(pulumi.output("a"), pulumi.output("id"));
        };
        for (const script of ["scripts", "prepare", "join"])
          assert.equal(await tries(script, {}, ran), false, script);
      });

      it("are new if the script ran on another server before", async () => {
        for (const [id, isNew] of [["b", true] as const, ["a", false] as const])
          for (const [script, oldInputs] of nonEmpty(onServer(id)))
            assert.equal(await tries(script, { failedOperation: "update", oldInputs }), isNew);
      });

      it("are dialled again if they answered before, as often as timeoutFactor allows", async () => {
        const tried = async (timeoutFactor: number): Promise<boolean> => {
          let answer = false;
          await graph(async () => {
            const known = { machine: "m", serverId: pulumi.output("a"), connection: address };
            const patience = { bootMinutes: 10, timeoutFactor };
            const failed = new UnreachableServers(undefined, undefined, patience);
            answer = await failed.createScriptErrorHook(known, "join").callback({
              failedOperation: "update",
              errors: [silent],
              urn: "",
              id: "",
              name: "",
              type: "",
            });
          });
          return answer;
        };
        assert.equal(await tried(1), false);
        assert.equal(await tried(3), true);
      });

      it("are dialled again if Nova cannot be queried", async () => {
        assert.equal(
          await new UnreachableServers(undefined, undefined, { bootMinutes: 10 }).mayBoot(
            ["a", undefined],
            0,
          ),
          true,
        );
      });
    });

    for (const [status, verb] of [
      ["SHUTOFF", "start"],
      ["PAUSED", "unpause"],
      ["SUSPENDED", "resume"],
      ["SHELVED_OFFLOADED", "unshelve"],
    ] as const)
      it(`are kept if the user stopped them: ${status}`, async () => {
        const { code, sentence } = await judge(status);
        assert.equal(code, "SERVER_STOPPED");
        assert.equal(
          sentence,
          `The machine dev-general-0 does not run: Nova says ${status}. Start it with \`openstack server ${verb} dev-general-0\`.`,
        );
        assert.equal(marked(), undefined);
      });

    it("are reported for replacement if Nova reports ERROR or no longer has their server", async () => {
      assert.match((await judge("ERROR")).sentence, /never answered on SSH; the next `up` repl/);
      assert.equal(marked(), undefined);
      cloud.on("GET /compute/servers/5ee5a1c4-0000-4000-8000-000000000001", { status: 404 });
      const { sentence } = await machines().createUnreachableFailure(server, true);
      assert.match(
        sentence,
        /never answered.*; `up --refresh` creates it again\. .*no longer exists/,
      );
    });

    it("are reported without a status if Nova refuses the request", async () => {
      cloud.on("GET /compute/servers/5ee5a1c4-0000-4000-8000-000000000001", { status: 403 });
      const { sentence } = await machines().createUnreachableFailure(server, false);
      assert.match(
        sentence,
        /does not answer on SSH\. Nova does not report the server 5ee5a1c4-0000-4000-8000-000000000001/,
      );
    });

    it("are reported without a replacement if the program has no cloud access", async () => {
      const { code, sentence } = await new UnreachableServers().createUnreachableFailure(
        server,
        true,
      );
      assert.equal(code, "SERVER_NEVER_BOOTED");
      assert.equal(
        sentence,
        "The machine dev-general-0 never answered on SSH; raise its generation to have it replaced. The program has no access to Nova.",
      );
      assert.deepEqual(cloud.seen, []);
      assert.equal(marked(), undefined);
    });
  });

  it("are found by the ID of the server that did not answer", () => {
    const server = { id: "a", generation: "0" };
    const failed = new UnreachableServers(localContextOf({}), {
      "dev-general-0": { ...server, failed: true },
      "dev-general-1": { ...server, failed: false },
    });
    assert.equal(failed.findNeverAnsweredServer("dev-general-0"), "a");
    assert.equal(failed.findNeverAnsweredServer("dev-general-1"), undefined);
    assert.equal(failed.findNeverAnsweredServer("dev-general-2"), undefined);
    assert.equal(new UnreachableServers().findNeverAnsweredServer("dev-general-0"), undefined);
  });
});
