import assert from "node:assert/strict";
import {
  getScriptCopyUrn,
  markInterruptedScripts,
  InterruptedScripts,
  findTeardownUndoUrn,
  skipFinishedLeaveScripts,
  markScriptsForRerun,
} from "../../../../automation/engine/interrupted-scripts.js";
import { Engine, instanceType, urnOf } from "../../../support/engine/fake-engine.js";

const type = "command:remote:Command";
const script = (name: string) => ({
  urn: urnOf(type, name),
  type,
  custom: true,
  inputs: { create: "c", update: "u" },
  outputs: { update: "u", stdout: "{}" },
});
const server = { ...script("server"), urn: urnOf(instanceType, "server"), type: instanceType };

describe("a script that did not come to its end", () => {
  it("has another command in the state than the program gives it, and nothing else changes", () => {
    const others = [script("join"), server];
    const state = { version: 3, deployment: { resources: [script("init"), ...others] } };
    const urns = new Set([script("init").urn, server.urn]);
    const [init, ...rest] = markScriptsForRerun(state, urns).deployment.resources ?? [];
    const update = init?.inputs?.["update"];
    assert.notEqual(update, "u");
    assert.deepEqual(init, {
      ...script("init"),
      inputs: { create: "c", update },
      outputs: { update, stdout: "{}" },
    });
    assert.deepEqual(rest, others);
  });

  it("has its text copied again where its machine says that it has none", () => {
    const copyType = "command:remote:CopyToRemote";
    const inMachines = (one: string, name: string) => urnOf(`stackadm:x:Pool$${one}`, name);
    const copy = {
      urn: inMachines(copyType, "dev-a-0-scripts"),
      type: copyType,
      custom: true,
      inputs: { remotePath: ".stackadm/server/1.sh", connection: {} },
      outputs: { remotePath: ".stackadm/server/1.sh" },
    };
    const urn = inMachines(type, "dev-a-0-prepare");
    assert.equal(getScriptCopyUrn(urn), copy.urn);
    const unfinished = new InterruptedScripts("up");
    const says = (reason: string): void => {
      const text = `Process exited with status 1: running "sudo":\nreason: ${reason}`;
      unfinished.take({ type: "message", at: 0, urn, severity: "error", text });
    };
    says("the disk is full");
    assert.deepEqual([...unfinished.urns], []);
    says("[SCRIPT_MISSING] prepare@0123456789abcdef is not on dev-a-0");
    const state = { version: 3, deployment: { resources: [copy, script("prepare")] } };
    const [marked, ...rest] =
      markScriptsForRerun(state, unfinished.urns).deployment.resources ?? [];
    const remotePath = marked?.inputs?.["remotePath"];
    assert.match(String(remotePath), /^\.stackadm\/server\/(?!1\.sh$)/);
    assert.deepEqual(marked, {
      ...copy,
      inputs: { ...copy.inputs, remotePath },
      outputs: { remotePath },
    });
    assert.deepEqual(rest, [script("prepare")]);
  });

  it("is the first control plane's, where the teardown of its cluster did", () => {
    const inControlPlane = `stackadm:kubeadm:ControlPlane$${type}`;
    // The teardown of snapshots runs first, and announces the same to the cluster.
    for (const name of ["teardown", "farewell", "snapshots-teardown", "snapshots-farewell"])
      assert.equal(
        findTeardownUndoUrn(urnOf(inControlPlane, `dev-control-plane-${name}`)),
        urnOf(inControlPlane, "dev-control-plane-0-init"),
      );
    assert.equal(findTeardownUndoUrn(urnOf(inControlPlane, "dev-control-plane-0-init")), undefined);
    assert.equal(findTeardownUndoUrn(urnOf(type, "dev-control-plane-teardown")), undefined);
  });

  describe("when the engine has ended", () => {
    let engine: Engine;
    beforeEach(() => {
      engine = new Engine();
    });
    afterEach(() => {
      engine.remove();
    });
    const imports = (): number =>
      engine.calls().filter((call) => call.startsWith("stack import")).length;
    const remember = (...urns: string[]): Promise<boolean> =>
      markInterruptedScripts(engine.access(), new Set(urns));

    it("is remembered; where there is none, the state is not even read", async () => {
      engine.state({ resources: [script("init"), server] });
      await remember();
      await remember(server.urn);
      assert.deepEqual(engine.calls(), []);
      assert.ok(await remember(script("init").urn));
      assert.equal(imports(), 1);
      await remember(getScriptCopyUrn(urnOf(`stackadm:x:Pool$${type}`, "dev-a-0-prepare")));
      assert.ok(engine.calls().filter((call) => call.startsWith("stack export")).length > 1);
    });

    it("leaves a state alone in which something is half made, since an import would forget it, and says so", async () => {
      const pending = { type: "creating", resource: server };
      engine.state({ resources: [script("init")], pending_operations: [pending] });
      assert.equal(await remember(script("init").urn), false);
      assert.equal(imports(), 0);
    });
  });
});

describe("a script that let a machine go whose server went, too", () => {
  const leave = {
    ...script("leave"),
    pendingReplacement: true,
    replaceWith: [server.urn],
    created: "2026-01-02T00:00:00Z",
  };
  /** Returns the URNs of scripts that do not run again. */
  const left = (...resources: (typeof server)[]): readonly string[] => {
    const state = { version: 3, deployment: { manifest: "kept", resources } };
    const { state: after, left: urns } = skipFinishedLeaveScripts(state);
    assert.deepEqual(after.deployment, {
      manifest: "kept",
      resources: resources.map((one) =>
        urns.includes(one.urn) ? { ...one, replaceWith: [] } : one,
      ),
    });
    return urns;
  };
  const made = (created: string) => ({ ...server, created });

  it("does not run again before the server's successor is replaced, or where there is none yet", () => {
    assert.deepEqual(left(made("2026-01-03T00:00:00Z"), leave), [leave.urn]);
    const gone = { ...made("2026-01-01T00:00:00Z"), pendingReplacement: true };
    assert.deepEqual(left(gone, leave), [leave.urn]);
  });

  it("runs again as long as the server lives: somebody may have put it back to work", () => {
    assert.deepEqual(left(made("2026-01-01T00:00:00.5Z"), leave), []);
    assert.deepEqual(left(leave), []);
    assert.deepEqual(left(server, leave), []);
  });

  it("is none that is there, and nothing but a script", () => {
    const ready = { ...leave, pendingReplacement: false };
    assert.deepEqual(left(made("2026-01-03T00:00:00Z"), ready), []);
    assert.deepEqual(left(made("2026-01-03T00:00:00Z"), { ...leave, type: "x:y:Z" }), []);
  });
});
