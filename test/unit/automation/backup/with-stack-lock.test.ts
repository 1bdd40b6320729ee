import assert from "node:assert/strict";
import {
  withStackLock,
  markControlPlaneScripts,
} from "../../../../automation/backup/with-stack-lock.js";
import type { HeldLock } from "../../../../automation/engine/held-lock.js";
import { Failure } from "../../../../base/failures/failure.js";
import { Engine, urnOf } from "../../../support/engine/fake-engine.js";

describe("withStackLock", () => {
  let notes: string[];
  const warn = (text: string): void => void notes.push(text);
  beforeEach(() => {
    notes = [];
  });
  const lost = new Failure("STACK_LOCKED", "the lock is lost.");

  it("returns the work's result and warns if the lock was lost before the end", async () => {
    const { signal } = new AbortController();
    const cloud = (): never => assert.fail("the cloud is not used");
    const hold = async <T>(work: (lock: HeldLock) => Promise<T>): Promise<T> => {
      await work({ signal, cloud }).catch(() => undefined);
      throw lost;
    };
    const broken = new Failure("COMMAND_FAILED", "no room");
    const run = { hold, warn };
    await assert.rejects(
      withStackLock({ run }, () => Promise.reject(broken)),
      broken,
    );
    assert.deepEqual(notes, []);
    await withStackLock({ run }, () => Promise.resolve());
    assert.match(
      notes.join(),
      /^The stack's lock was lost before the end, .*: the lock is lost\.$/,
    );
    const refused = { hold: () => Promise.reject(lost), warn };
    await assert.rejects(
      withStackLock({ run: refused }, () => Promise.resolve()),
      lost,
    );
  });

  describe("markControlPlaneScripts", () => {
    let engine: Engine;
    beforeEach(() => {
      engine = new Engine();
    });
    afterEach(() => {
      engine.remove();
    });
    const type = "stackadm:kubeadm:ControlPlane$command:remote:Command";
    const script = {
      urn: urnOf(type, "init"),
      type: "command:remote:Command",
      custom: true,
      inputs: { create: "c", update: "u" },
    };
    const state = { version: 3, deployment: { resources: [script] } };
    const remember = () =>
      markControlPlaneScripts({ run: { access: engine.access(), warn }, state });

    it("marks control plane scripts so that the next `up` runs them", async () => {
      engine.state(state.deployment);
      await remember();
      assert.deepEqual(notes, []);
      assert.match(JSON.stringify(engine.stateNow()), /did not come to its end/);
    });

    it("warns instead of failing if the state cannot be changed", async () => {
      const pending = { type: "creating", resource: script };
      engine.state({ ...state.deployment, pending_operations: [pending] });
      await remember();
      engine.state(state.deployment);
      engine.refuses({ "stack import": "error: the stack is currently locked by 1 lock(s)" });
      await remember();
      assert.equal(notes.length, 2);
      assert.match(notes[0] ?? "", /^The cluster is restored, but .* \(an operation of an earlier/);
      assert.match(notes[1] ?? "", /\(Another operation changed this stack meanwhile/);
    });
  });
});
