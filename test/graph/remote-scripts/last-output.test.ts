import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { CopiedScripts, RemoteScript } from "../../../components/remote-scripts/remote-script.js";
import { unfinishedCommandMarker } from "../../../components/remote-scripts/script-type.js";
import {
  renderStepCommand,
  createScriptStep,
} from "../../../components/remote-scripts/script-steps.js";
import { graph, type Fields } from "../../support/graph/graph.js";

const server = "11111111-0000-4000-8000-000000000001";
const connection = {
  host: "10.0.0.7",
  user: "debian",
  hostKey: "ssh-ed25519 AAAA",
  machine: "dev-a",
  server,
};
const step = createScriptStep("init", { scripts: ["true"], tellsCreate: true });
const commandOn = (id: string): string => renderStepCommand(step, "create", { SERVER_ID: id });
const ran: Fields = { create: commandOn(server), stdout: '{"uid": "of the state"}' };

describe("a fact of a script in a preview", () => {
  const fact = async (outputs: Fields, type = "command:remote:Command"): Promise<unknown> => {
    let uid: pulumi.Output<string> | undefined;
    let node: pulumi.Output<string> | undefined;
    const state = { "urn:pulumi:dev::p::t::dev-init": { type, outputs } };
    await graph(
      () => {
        const script = new RemoteScript("dev-init", {
          connection,
          step,
          when: "up",
          values: {},
          copied: new CopiedScripts("dev-scripts", { connection, steps: [step] }),
        });
        [uid, node] = [script.getStableResult("uid"), script.result("node")];
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

  it("is the value of the last run", async () => {
    assert.match(JSON.stringify(await fact(ran)), /"of the state"/);
  });

  it("is unknown if the last run was on another server or did not finish", async () => {
    assert.equal(await fact({ ...ran, create: commandOn("another") }), "unknown");
    assert.equal(await fact({ ...ran, update: unfinishedCommandMarker }), "unknown");
  });

  it("is unknown without a script in the state", async () => {
    assert.equal(await fact({}), "unknown");
    assert.equal(await fact(ran, "command:local:Command"), "unknown");
  });
});
