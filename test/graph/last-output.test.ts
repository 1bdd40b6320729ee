import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { RemoteScript } from "../../components/support/remote-script.js";
import { unfinishedCommand } from "../../components/support/script-type.js";
import { graph, type Fields } from "../support/graph.js";

const server = "11111111-0000-4000-8000-000000000001";
const connection = {
  ...{ host: "10.0.0.7", user: "debian", hostKey: "ssh-ed25519 AAAA" },
  ...{ machine: "dev-a", server },
};
const ran: Fields = { stdin: `SERVER_ID='${server}'\n`, stdout: '{"uid": "of the state"}' };

describe("a fact of the cluster in a preview of another run of its script", () => {
  const fact = async (outputs: Fields, type = "command:remote:Command"): Promise<unknown> => {
    let uid: pulumi.Output<string> | undefined;
    let node: pulumi.Output<string> | undefined;
    const state = { "urn:pulumi:dev::p::t::dev-init": { type, outputs } };
    await graph(
      () => {
        const script = new RemoteScript("dev-init", {
          ...{ connection, when: "up", scripts: ["true"], values: {} },
        });
        [uid, node] = [script.fact("uid"), script.result("node")];
      },
      {
        preview: true,
        lookups: { "pulumi:pulumi:readStackResourceOutputs": () => ({ outputs: state }) },
      },
    );
    const shown = async (output: pulumi.Output<string> | undefined): Promise<unknown> => {
      const { value } = await pulumi.runtime.serializeProperties("shown", { value: output });
      return value === pulumi.runtime.unknownValue ? "unknown" : value;
    };
    assert.equal(await shown(node), "unknown");
    return shown(uid);
  };

  it("is what the last run said", async () => {
    assert.match(JSON.stringify(await fact(ran)), /"of the state"/);
  });

  it("is unknown if that ran on another server, or did not come to its end", async () => {
    assert.equal(await fact({ ...ran, stdin: "SERVER_ID='another'\n" }), "unknown");
    assert.equal(await fact({ ...ran, update: unfinishedCommand }), "unknown");
  });

  it("is unknown without a script in the state", async () => {
    assert.equal(await fact({}), "unknown");
    assert.equal(await fact(ran, "command:local:Command"), "unknown");
  });
});
