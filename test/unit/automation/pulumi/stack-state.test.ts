import assert from "node:assert/strict";
import {
  findClusterIdentities,
  findOwnedIds,
  findClusterNames,
  hasOnlyIdentities,
  readOutputs,
  readStackOutputs,
  readState,
  writeState,
} from "../../../../automation/pulumi/stack-state.js";
import { Failure } from "../../../../base/failures/failure.js";
import type { FailureCode } from "../../../../base/failures/failure-codes.js";
import {
  encrypted,
  Engine,
  instanceType,
  stackWith,
  urnOf,
} from "../../../support/engine/fake-engine.js";

const server = (name: string, id?: string) => ({
  urn: urnOf(instanceType, name),
  type: instanceType,
  custom: true,
  ...(id === undefined ? {} : { id }),
});

async function fails(work: Promise<unknown>, code: FailureCode, said: RegExp): Promise<Failure> {
  const error = await work.then(
    () => assert.fail("ended well"),
    (failed: unknown) => failed,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.sentence, said);
  return error;
}

describe("stack state", () => {
  let engine: Engine;
  beforeEach(() => {
    engine = new Engine();
  });
  afterEach(() => {
    engine.remove();
  });

  it("is undefined if the stack does not exist", async () => {
    assert.equal(await readState(engine.access()), undefined);
  });

  it("is empty before the engine's first step", async () => {
    engine.state(null);
    assert.deepEqual(await readState(engine.access()), { version: 3, deployment: {} });
  });

  it("reports an unreadable state with the engine's message, never as a missing stack", async () => {
    engine.refuses({ "stack export": "error: bucket is on fire\n" });
    await fails(readState(engine.access()), "FAILED", /^The stack's .*: error: bucket is on fire$/);
  });

  for (const said of [
    "incorrect passphrase",
    "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
  ])
    it(`reports the passphrase as the cause if the engine prints: ${said}`, async () => {
      const text = `error: could not deserialize deployment: constructing secrets manager: ${said}\n`;
      engine.state({});
      for (const [command, read] of [
        ["stack export", readState],
        ["stack output", readOutputs],
      ] as const) {
        engine.refuses({ [command]: text });
        const { exitCode, hint } = await fails(
          read(engine.access()),
          "WRONG_PASSPHRASE",
          /^The secrets of the stack cannot be read: .* \((incorrect passphrase|passphrase must .*)\)\.$/,
        );
        assert.equal(exitCode, 2);
        assert.match(hint, /PULUMI_CONFIG_PASSPHRASE_FILE to .* with which the stack was created/);
      }
    });

  it("yields the identities of identity commands only", () => {
    const made = (name: string, stdout: string) => ({
      urn: urnOf("command:local:Command", name),
      type: "command:local:Command",
      custom: true,
      outputs: { stdout },
    });
    const resources = [
      made("dev-identity", "0123456789ab"),
      made("dev-seed", "ba9876543210"),
      made("other-identity", ""),
      made("third-identity", "0123456789AB"),
    ];
    const state = { version: 3, deployment: { resources } };
    assert.deepEqual([...findClusterIdentities(state)], ["0123456789ab"]);
    assert.deepEqual([...findClusterIdentities(undefined)], []);
  });

  it("is exported non-interactively and with encrypted secrets", async () => {
    engine.state({});
    await readState(engine.access());
    assert.deepEqual(engine.calls(), ["stack export --non-interactive --stack dev"]);
  });

  it("is imported unchanged, including unknown fields", async () => {
    const deployment = {
      manifest: { magic: "m", version: "v3.250.0" },
      secrets_providers: { type: "passphrase", state: { salt: "s" } },
      resources: [{ ...server("vm", "1"), futureField: [1, { a: null }] }],
      pending_operations: [{ type: "creating", resource: server("late") }],
    };
    engine.state(deployment);
    const state = await readState(engine.access());
    assert.ok(state);
    await writeState(engine.access(), state);
    const [resource] = deployment.resources;
    assert.deepEqual(engine.stateNow(), { version: 3, deployment });
    assert.ok(resource);
  });

  it("is passed over standard input, never by a file or an argument", async () => {
    engine.state({ resources: [server("vm", "secret-id")] });
    const state = await readState(engine.access());
    assert.ok(state);
    await writeState(engine.access(), state);
    assert.ok(engine.calls().every((call) => !/secret-id|--file/.test(call)));
  });

  it("yields each output's value and whether the output is secret", async () => {
    const nested = { list: [{ kubeconfig: "k", name: "n" }] };
    const outputs = { plain: { value: [1] }, hidden: { value: "h", secret: true } };
    engine.outputs({ ...outputs, nested: { value: nested } });
    const inState = { value: { list: [{ kubeconfig: encrypted, name: "n" }] } };
    engine.state({ resources: [stackWith({ ...outputs, nested: inState })] });
    const all = {
      plain: { value: [1], secret: false },
      hidden: { value: "h", secret: true },
      nested: { value: nested, secret: true },
    };
    assert.deepEqual(await readStackOutputs(engine.access()), all);
    const calls = engine.calls().length;
    const held = await readState(engine.access());
    assert.deepEqual(await readStackOutputs(engine.access(), held), all);
    assert.equal(engine.calls().length, calls + 2);
  });

  it("reports an error if the import is refused", async () => {
    engine.state({});
    const state = await readState(engine.access());
    assert.ok(state);
    engine.refuses({ "stack import": "error: the stack is currently locked\n" });
    await assert.rejects(writeState(engine.access(), state), (error: unknown) => {
      assert.ok(error instanceof Failure);
      return /the stack is currently locked/.test(error.message);
    });
  });

  it("does not own a floating IP that it only associates", () => {
    const type = "openstack:networking/floatingIpAssociate:FloatingIpAssociate";
    const resources = [{ ...server("a", "given"), custom: true, type }];
    assert.deepEqual(findOwnedIds({ version: 3, deployment: { resources } }), new Set());
  });

  it("does not own resources that it only reads", () => {
    const shared = { ...server("shared", "theirs"), external: true };
    const state = { version: 3, deployment: { resources: [shared, server("a", "1")] } };
    assert.deepEqual(findOwnedIds(state), new Set(["1"]));
  });

  it("lists all objects that the stack owns in the cloud", () => {
    const resources = [server("a", "1"), server("b"), server("c", "2")].map((one) => ({
      ...one,
      custom: true,
    }));
    assert.deepEqual(findOwnedIds({ version: 3, deployment: { resources } }), new Set(["1", "2"]));
    assert.deepEqual(findOwnedIds({ version: 3, deployment: { resources: null } }), new Set());
    assert.deepEqual(findOwnedIds(undefined), new Set());
  });
});

describe("outputs of a stack", () => {
  let engine: Engine;
  beforeEach(() => {
    engine = new Engine();
  });
  afterEach(() => {
    engine.remove();
  });
  it("show secrets in clear unless the caller hides them", async () => {
    engine.state({});
    engine.outputs({ a: { value: [1] }, kubeconfig: { value: "k", secret: true } });
    assert.deepEqual(await readOutputs(engine.access()), { a: [1], kubeconfig: "k" });
    const hidden = await readOutputs(engine.access(), "hidden");
    assert.deepEqual(hidden, { a: [1], kubeconfig: "[secret]" });
  });

  it("hold only identities if nothing else is left than resources on which the identities depend", () => {
    const type = "command:local:Command";
    const resource = (name: string, dependencies: readonly string[], outputs = {}) => ({
      urn: urnOf(type, name),
      type,
      custom: true,
      id: name,
      outputs,
      dependencies: dependencies.map((one) => urnOf(type, one)),
    });
    const identity = resource("dev-identity", ["dev-frozen"], { stdout: "0123456789ab" });
    const hasOnly = (...resources: ReturnType<typeof resource>[]): boolean =>
      hasOnlyIdentities({ version: 3, deployment: { resources } });
    const frozen = resource("dev-frozen", ["dev-first"]);
    assert.ok(hasOnly(resource("dev-first", []), frozen, identity));
    assert.ok(!hasOnly(frozen, identity, resource("dev-seed", ["dev-frozen"])));
    assert.ok(!hasOnly(frozen));
  });

  it("yield the clusters' names in the cloud, or the component's name without servers", () => {
    const mark = (component: string, stdout: string) => ({
      urn: urnOf("command:local:Command", `${component}-identity`),
      outputs: { stdout },
      type: "command:local:Command",
      custom: true,
    });
    const metadata = { "stackadm-cluster": "shop", "stackadm-identity": "0123456789ab" };
    const resources = [
      ...[mark("dev", "0123456789ab"), mark("test", "ba9876543210")],
      { ...server("vm", "1"), inputs: { metadata } },
    ];
    assert.deepEqual(findClusterNames({ version: 3, deployment: { resources } }, "x"), [
      "shop",
      "test",
    ]);
    assert.deepEqual(findClusterNames({ version: 3, deployment: {} }, "x"), ["x"]);
  });
});
