import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import type { CloudClient } from "../../../../cloud/client.js";
import { existingServers, Turns } from "../../../../components/machine/turns.js";
import { settled } from "../../../../components/support/settled.js";

const mark = { "stackadm-cluster": "dev" };
const client = (servers: readonly unknown[], paths: string[] = []): CloudClient =>
  ({
    request: (_service: string, _method: string, path: string) => {
      paths.push(path);
      return Promise.resolve({ servers });
    },
  }) as unknown as CloudClient;

describe("the servers that exist", () => {
  it("are asked for by the cluster's name", async () => {
    const paths: string[] = [];
    await existingServers(client([], paths), "dev");
    assert.deepEqual(paths, ["/servers/detail?name=%5Edev-"]);
  });

  it("have the generation in their metadata, or none", async () => {
    const found = await existingServers(
      client([
        { name: "dev-a-0", metadata: { ...mark, "stackadm-generation": "2" } },
        { name: "dev-a-1", metadata: mark },
      ]),
      "dev",
    );
    assert.deepEqual(
      [...found],
      [
        ["dev-a-0", "2"],
        ["dev-a-1", ""],
      ],
    );
  });

  it("are the cluster's own", async () => {
    const other = { "stackadm-cluster": "dev-a" };
    const servers = [{ name: "dev-a-0", metadata: other }, { name: "dev-b-0" }];
    assert.deepEqual([...(await existingServers(client(servers), "dev"))], []);
  });

  it("are in no known generation when two have one name and differ", async () => {
    const of = (generation: string): unknown => ({
      name: "dev-a-0",
      metadata: { ...mark, "stackadm-generation": generation },
    });
    assert.deepEqual(
      [...(await existingServers(client([of("1"), of("0")]), "dev"))],
      [["dev-a-0", ""]],
    );
    assert.deepEqual(
      [...(await existingServers(client([of("1"), of("1")]), "dev"))],
      [["dev-a-0", "1"]],
    );
  });
});

describe("the turn of a machine", () => {
  const existing = Promise.resolve(new Map([0, 1, 2].map((n) => [`m${String(n)}`, "0"])));
  const turns = (...joined: readonly pulumi.Output<string>[]): pulumi.Output<number>[] => {
    const order = new Turns(existing);
    const all = ["m0", "m1", "m2"].map((machine) => pulumi.output(order.next(machine, 1)));
    joined.forEach((output, position) => {
      order.done(`m${String(position)}`, output);
    });
    return all;
  };
  const failing = (): pulumi.Output<string> =>
    pulumi.output(existing.then(() => Promise.reject<string>(new Error("m0 failed"))));

  it("never comes when the machine before it failed: whoever waits fails, and does not wait for ever", async () => {
    const [first, second, third] = turns(failing(), pulumi.output("id")).map(settled);
    assert.equal(await first, 1);
    await assert.rejects(second ?? existing, /m0 failed/);
    await assert.rejects(third ?? existing, /m0 failed/);
  });

  it("never comes when the engine goes on after a failure and leaves the value unknown", async () => {
    const unknown = pulumi.output(
      pulumi.runtime.deserializeProperty(pulumi.runtime.unknownValue, true) as string,
    );
    const [, second] = turns(unknown).map(settled);
    await assert.rejects(second ?? existing, /that others wait for failed/);
  });
});
