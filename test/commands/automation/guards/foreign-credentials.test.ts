import assert from "node:assert/strict";
import type { Listening } from "../../../support/engine/listening-service.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { urnOf, type Engine } from "../../../support/engine/fake-engine.js";
import {
  fakeUser,
  type FakeAnswer,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";

const bare = { preflight: false, verify: false } as const;
const type = "openstack:identity/applicationCredential:ApplicationCredential";
const urn = urnOf(`stackadm:identity:ApplicationCredential$${type}`, "dev-credential-credential");
const sentence =
  "The application credential 'dev-0123456789ab' (theirs) belongs to another user, and only this user can delete it: it is kept. When nothing uses it any more, ask its owner to run `openstack application credential delete theirs`.";

describe("an application credential of another user", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  let notes: string[];
  const provider = {
    type: "pulumi:providers:openstack",
    custom: true,
    id: "provider",
    urn: urnOf("pulumi:providers:openstack", "default_3_15_2"),
    inputs: { version: "3.15.2" },
  };
  const credential = {
    urn,
    type,
    custom: true,
    id: "theirs",
    outputs: { name: "dev-0123456789ab" },
    provider: `${provider.urn}::${provider.id}`,
  };
  const path = `/identity/v3/users/${fakeUser}/application_credentials/theirs`;
  const keystone = (answer: FakeAnswer): void => {
    cloud.on(`GET ${path}`, answer);
  };
  const asked = (): number => cloud.seen.filter((one) => one.path === path).length;
  const listening = (): Listening => ({ onNote: (text) => void notes.push(text) });
  /** Returns the IDs of retained resources in the current state. */
  const retained = (): string[] =>
    (engine.stateNow()?.deployment["resources"] as { id: string; retainOnDelete?: boolean }[])
      .filter(({ retainOnDelete }) => retainOnDelete === true)
      .map(({ id }) => id);
  const operations = (): string[] =>
    engine.calls().filter((call) => /^(up|refresh|preview|destroy) /.test(call));
  const imports = (): number =>
    engine.calls().filter((call) => call.startsWith("stack import")).length;
  beforeEach(async () => {
    // Settings of the user's own program, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine, cloud } = embedder);
    notes = [];
    engine.state({ resources: [provider, credential] });
    keystone({ status: 403, body: { error: { message: "You are not authorized" } } });
  });
  afterEach(() => embedder.stop());

  it("is skipped by a refresh, which reports the owner's next step", async () => {
    await embedder.service().refresh("dev", listening());
    const [call = "", ...more] = operations();
    assert.ok(call.startsWith("refresh ") && call.includes(`--exclude ${urn}`), call);
    assert.deepEqual([more, imports()], [[], 0]);
    assert.deepEqual(notes, [sentence]);
  });

  it("is skipped by a preview, which changes nothing", async () => {
    await embedder.service().preview("dev", { ...bare, ...listening(), refresh: true });
    const [call = ""] = operations();
    assert.ok(call.startsWith("preview ") && call.includes(`--exclude ${urn}`), call);
    assert.ok(notes.includes(sentence), notes.join("\n"));
    assert.equal(imports(), 0);
  });

  it("is marked in the state as retained before `up`, so that `up` does not delete the credential", async () => {
    await embedder.service().up("dev", { ...bare, ...listening() });
    const [call = "", ...more] = operations();
    assert.ok(call.startsWith("up ") && !call.includes("--exclude"), call);
    assert.deepEqual([more, retained(), notes], [[], ["theirs"], [sentence]]);
  });

  it("stays unmarked in a locked stack, and `up` fails", async () => {
    engine.refuses({ "stack import": "error: the stack is currently locked by 1 lock(s)\n" });
    await fails(embedder.service().up("dev", bare), "STACK_LOCKED");
    assert.deepEqual([operations(), retained()], [[], []]);
  });

  it("is excluded from the refresh of `up --refresh`, but not from its update", async () => {
    await embedder.service().up("dev", { ...bare, refresh: true });
    const [read = "", made = "", ...more] = operations();
    assert.ok(read.startsWith("refresh ") && read.includes(`--exclude ${urn}`), read);
    assert.ok(made.startsWith("up ") && !/--(refresh|exclude)/.test(made), made);
    assert.deepEqual([more, retained()], [[], ["theirs"]]);
  });

  for (const abandon of [false, true])
    it(`is kept and reported if the cluster is ${abandon ? "abandoned" : "destroyed"}`, async () => {
      // The engine fails, so that the test sees the state before the engine deletes it.
      engine.runs({ destroy: { code: 255, stderr: "error: no\n" } });
      await fails(embedder.service().destroy("dev", { abandon }), "FAILED");
      assert.deepEqual(retained(), ["theirs"]);
      engine.runs({});
      const plan = await embedder.service().destroyPlan("dev", { abandon });
      const { others } = await embedder.service().destroy("dev", { abandon, ...listening() });
      assert.deepEqual(others, [{ id: "theirs", name: "dev-0123456789ab", urn }]);
      assert.deepEqual(plan.others, others);
      assert.ok(notes.includes(sentence), notes.join("\n"));
      assert.ok(!cloud.seen.some(({ method }) => method === "DELETE"));
    });

  it("loses its retain mark when its owner runs `up`", async () => {
    engine.state({ resources: [provider, { ...credential, retainOnDelete: true }] });
    keystone({ body: { application_credential: {} } });
    await embedder.service().up("dev", { ...bare, ...listening() });
    assert.deepEqual([retained(), notes], [[], []]);
  });

  it("is listed for deletion in its owner's destroy plan, despite a retain mark", async () => {
    engine.state({ resources: [provider, { ...credential, retainOnDelete: true }] });
    keystone({ body: { application_credential: {} } });
    const body = { application_credentials: [{ id: "theirs", name: "dev-0123456789ab" }] };
    cloud.on(`GET ${path.replace("/theirs", "")}`, { body });
    const { goes, stays, others } = await embedder.service().destroyPlan("dev");
    assert.deepEqual([goes.map(({ id }) => id), stays, others], [["theirs"], undefined, undefined]);
  });

  it("gets no special treatment if Keystone shows it to the user or answers 404", async () => {
    for (const answer of [{ body: { application_credential: {} } }, { status: 404 }] as const) {
      keystone(answer);
      await embedder.service().refresh("dev", listening());
      await embedder.service().up("dev", { ...bare, ...listening(), refresh: true });
    }
    assert.ok(operations().every((call) => !call.includes("--exclude")));
    assert.equal(operations().length, 4);
    assert.deepEqual([notes, imports(), retained()], [[], 0, []]);
  });

  it("causes no Keystone request for the program's own credentials or providers", async () => {
    const urn = urnOf("pulumi:providers:openstack", "other");
    const elsewhere = { ...provider, urn, inputs: { cloud: "other" } };
    const theirs = { ...credential, provider: `${urn}::${provider.id}` };
    const own = { ...credential, urn: urnOf(type, "own") };
    for (const resources of [[elsewhere, theirs], [provider, own], [provider]]) {
      engine.state({ resources });
      await embedder.service().up("dev", bare);
    }
    assert.equal(asked(), 0);
  });
});
