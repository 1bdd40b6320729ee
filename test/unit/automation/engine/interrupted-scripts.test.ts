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

describe("interrupted scripts", () => {
  it("get another command in the state, and nothing else changes", () => {
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

  it("have their script file copied again if the machine reports SCRIPT_MISSING", () => {
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
      unfinished.processEvent({ type: "message", at: 0, urn, severity: "error", text });
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

  it("of a cluster teardown are undone by the first control plane's init script", () => {
    const inControlPlane = `stackadm:kubeadm:ControlPlane$${type}`;
    // The teardown of snapshots runs first, and announces the same to the cluster.
    for (const name of ["teardown", "snapshots-teardown"])
      assert.equal(
        findTeardownUndoUrn(urnOf(inControlPlane, `dev-control-plane-${name}`)),
        urnOf(inControlPlane, "dev-control-plane-0-init"),
      );
    assert.equal(findTeardownUndoUrn(urnOf(inControlPlane, "dev-control-plane-0-init")), undefined);
    assert.equal(findTeardownUndoUrn(urnOf(type, "dev-control-plane-teardown")), undefined);
  });

  describe("markInterruptedScripts", () => {
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

    it("marks scripts in the state, and does not read the state without scripts", async () => {
      engine.state({ resources: [script("init"), server] });
      await remember();
      await remember(server.urn);
      assert.deepEqual(engine.calls(), []);
      assert.ok(await remember(script("init").urn));
      assert.equal(imports(), 1);
      await remember(getScriptCopyUrn(urnOf(`stackadm:x:Pool$${type}`, "dev-a-0-prepare")));
      assert.ok(engine.calls().filter((call) => call.startsWith("stack export")).length > 1);
    });

    it("keeps a state with pending operations, which an import would drop, and returns false", async () => {
      const pending = { type: "creating", resource: server };
      engine.state({ resources: [script("init")], pending_operations: [pending] });
      assert.equal(await remember(script("init").urn), false);
      assert.equal(imports(), 0);
    });
  });
});

describe("skipFinishedLeaveScripts", () => {
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

  it("skips the leave script if its server was replaced or is pending replacement", () => {
    assert.deepEqual(left(made("2026-01-03T00:00:00Z"), leave), [leave.urn]);
    const gone = { ...made("2026-01-01T00:00:00Z"), pendingReplacement: true };
    assert.deepEqual(left(gone, leave), [leave.urn]);
  });

  it("runs the leave script again while its server exists, because the user may have started the server", () => {
    assert.deepEqual(left(made("2026-01-01T00:00:00.5Z"), leave), []);
    assert.deepEqual(left(leave), []);
    assert.deepEqual(left(server, leave), []);
  });

  it("ignores scripts without a pending replacement and resources of other types", () => {
    const ready = { ...leave, pendingReplacement: false };
    assert.deepEqual(left(made("2026-01-03T00:00:00Z"), ready), []);
    assert.deepEqual(left(made("2026-01-03T00:00:00Z"), { ...leave, type: "x:y:Z" }), []);
  });
});
