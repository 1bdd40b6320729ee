import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { jsonSchema } from "../../../components/config/json-schema.js";
import { readPlainInputs } from "../../../components/provider/plain-inputs.js";

const unknown = () =>
  pulumi.output(
    pulumi.runtime.deserializeProperty(pulumi.runtime.unknownValue, true) as pulumi.Input<string>,
  );

const read = (inputs: pulumi.Inputs) => readPlainInputs(inputs, jsonSchema());

describe("inputs of a program in another language", () => {
  it("are plain if they are known, at every depth", async () => {
    const { args, problems } = await read({
      image: pulumi.output("debian-12"),
      allowedCidrs: [pulumi.output("203.0.113.0/24")],
      workers: pulumi.output({ general: { flavor: pulumi.output("m1.large"), count: 2 } }),
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(args, {
      image: "debian-12",
      allowedCidrs: ["203.0.113.0/24"],
      workers: { general: { flavor: "m1.large", count: 2 } },
    });
  });

  it("stay outputs where the schema accepts secrets, also if they are unknown", async () => {
    const [password, peer] = [pulumi.secret("canary"), unknown()];
    const { args, problems } = await read({
      credential: { username: "robot", password },
      podNetwork: { kind: "kube-router", peers: [{ address: "10.0.0.9", password: peer }] },
    });
    assert.deepEqual(problems, []);
    const { credential, podNetwork } = args as Record<string, Record<string, unknown>>;
    assert.equal(credential?.["password"], password);
    assert.ok(await pulumi.isSecret(password));
    assert.equal((podNetwork?.["peers"] as { password: unknown }[])[0]?.password, peer);
  });

  it("stay outputs where the schema accepts outputs, if they are unknown or secret", async () => {
    const [image, range] = [unknown(), pulumi.secret("198.51.100.0/24")];
    const { args, problems } = await read({ image, allowedCidrs: ["203.0.113.0/24", range] });
    assert.deepEqual(problems, []);
    assert.equal(args["image"], image);
    assert.equal((args["allowedCidrs"] as unknown[])[1], range);
  });

  it("are refused with their paths if they are unknown or secret elsewhere, all at once", async () => {
    const { problems } = await read({
      name: unknown(),
      zones: ["one", pulumi.secret("two")],
      workers: { general: { flavor: "m1.large", count: unknown() } },
    });
    assert.deepEqual(problems.map(({ path, message }) => [path, message.split(",")[0]]).sort(), [
      ["name", "is not known before the update"],
      ["workers.general.count", "is not known before the update"],
      ["zones[1]", "is a secret"],
    ]);
  });
});
