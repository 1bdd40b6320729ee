import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  getCurrentRunKey,
  isConfigSecret,
  readOwnResources,
  awaitKnownOutput,
  awaitSettledOutput,
} from "../../../components/pulumi/pulumi-internals.js";
import { graph } from "../../support/graph/graph.js";

describe("pulumi-internals of the program, with Pulumi's Node SDK", () => {
  it("awaitSettledOutput returns a known value, and undefined for an unknown one", async () => {
    const unknown = pulumi.output(
      pulumi.runtime.deserializeProperty(pulumi.runtime.unknownValue, true) as string,
    );
    assert.equal(await awaitSettledOutput(pulumi.output("")), "");
    assert.equal(await awaitSettledOutput(unknown), undefined);
  });

  it("awaitSettledOutput rejects with the error of the output", async () => {
    const failing = Promise.resolve().then(() => Promise.reject<string>(new Error("no port")));
    await assert.rejects(awaitSettledOutput(pulumi.output(failing)), /no port/);
  });

  it("awaitKnownOutput returns values of objects and of secrets", async () => {
    const secret = { host: pulumi.secret("10.0.0.1"), proxy: { user: pulumi.output("debian") } };
    assert.deepEqual(await awaitKnownOutput(pulumi.output(secret)), {
      host: "10.0.0.1",
      proxy: { user: "debian" },
    });
  });

  it("awaitKnownOutput rejects for an unknown value and for a failed resource", async () => {
    const unknown = pulumi.output(
      pulumi.runtime.deserializeProperty(pulumi.runtime.unknownValue, true) as string,
    );
    const failing = Promise.resolve().then(() => Promise.reject<string>(new Error("no port")));
    await assert.rejects(awaitKnownOutput(pulumi.output({ host: unknown })), /is not known/);
    await assert.rejects(awaitKnownOutput(pulumi.output({ host: failing })), /no port/);
  });

  it("isConfigSecret returns true only for an encrypted value", async () => {
    const found: boolean[] = [];
    await graph(() => {
      pulumi.runtime.setAllConfig({ "it:open": "1", "it:hidden": "2" }, ["it:hidden"]);
      found.push(...["it:open", "it:hidden"].map(isConfigSecret));
    });
    assert.deepEqual(found, [false, true]);
  });

  it("getCurrentRunKey returns one object in a run, and another one in the next run", async () => {
    const runs: unknown[] = [];
    const program = () => runs.push(getCurrentRunKey(), getCurrentRunKey());
    await graph(program);
    await graph(program);
    const [first, same, second] = runs;
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(first, same);
    assert.notEqual(first, second);
  });

  it("readOwnResources asks the engine for the resources of the own stack", async () => {
    const asked: unknown[] = [];
    const lookups = {
      "pulumi:pulumi:readStackResourceOutputs": (inputs: object) => {
        asked.push(inputs);
        return { outputs: { urn: { a: 1 } } };
      },
    };
    const found: unknown[] = [];
    await graph(async () => found.push(await readOwnResources()), { lookups, stack: "dev" });
    assert.deepEqual(asked, [{ stackName: "organization/stackadm/dev" }]);
    assert.deepEqual(found, [{ outputs: { urn: { a: 1 } } }]);
  });
});
