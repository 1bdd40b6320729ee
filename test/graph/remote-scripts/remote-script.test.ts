import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { CopiedScripts, RemoteScript } from "../../../components/remote-scripts/remote-script.js";
import {
  createScriptBundle,
  getShownValue,
  createScriptStep,
} from "../../../components/remote-scripts/script-steps.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { isSecret, plain } from "../../support/graph/secrets.js";
import { secret, value } from "../../support/graph/output-value.js";

describe("RemoteScript", () => {
  const connection = {
    host: "10.0.0.7",
    user: "debian",
    hostKey: "ssh-ed25519 AAAA",
    machine: "dev-general-0",
    server: "11111111-0000-4000-8000-000000000001",
  };
  const telling = createScriptStep("init", { scripts: ["first", "second"], tellsCreate: true });
  const script = async (
    when: "up" | "delete",
    look: (made: RemoteScript) => Promise<void> = () => Promise.resolve(),
    step = telling,
    answers = cloudAnswers,
  ): Promise<Row> => {
    let made: RemoteScript | undefined;
    const rows = await graph(() => {
      const copied = new CopiedScripts("a-scripts", { connection, steps: [step] });
      const values = { B: "it's", A: pulumi.secret("x"), LONG: "y".repeat(3000) };
      made = new RemoteScript("a-init", { connection, step, copied, when, values });
    }, answers);
    assert.ok(made);
    await look(made);
    const [row] = rows.filter(({ type }) => type === "command:remote:Command");
    assert.ok(row);
    return row;
  };

  it("shows its digest and values, except secret and long values", async () => {
    const { inputs } = await script("up");
    const [, called, ...lines] = String(inputs["create"]).split(" \\\n  ");
    assert.equal(called, `init@${telling.digest} create`);
    assert.deepEqual(lines, [
      "B='it'\\''s'",
      getShownValue("LONG", "y".repeat(3000)).join("="),
      `SERVER_ID=${connection.server}`,
      `SERVER_PATH=${connection.server}`,
    ]);
    assert.ok(isSecret(inputs["stdin"]));
    assert.equal(plain(inputs["stdin"]), `{\nA='x'\nLONG='${"y".repeat(3000)}'\nread=yes\n}\n`);
  });

  it("runs after its text is copied to a file named after server and digest", async () => {
    const { dependencies } = await script("up");
    assert.match(dependencies.join(" "), /CopyToRemote::a-scripts/);
    const rows = await graph(
      () => new CopiedScripts("a-scripts", { connection, steps: [telling] }),
      cloudAnswers,
    );
    const { inputs } = rows.find(({ type }) => type.endsWith(":CopyToRemote")) ?? {};
    const bundle = createScriptBundle([telling]);
    assert.equal(inputs?.["remotePath"], `.stackadm/${connection.server}/${bundle.digest}.sh`);
    const { path } = inputs["source"] as { readonly path: Promise<string> };
    assert.equal(readFileSync(await path, "utf8"), bundle.text);
  });

  it("runs on create and update, or only on delete", async () => {
    const [up, teardown] = [await script("up"), await script("delete")];
    const occasions = ({ inputs }: Row): unknown[] =>
      ["create", "update", "delete"].map((occasion) => inputs[occasion]);
    const said = (row: Row): unknown[] =>
      occasions(row).map((command) => / init@\S+ (\S+)/.exec(String(command))?.[1]);
    assert.deepEqual(said(up), ["create", "update", undefined]);
    assert.deepEqual(said(teardown), [undefined, undefined, "delete"]);
    const { inputs } = await script(
      "up",
      undefined,
      createScriptStep("init", { scripts: ["first"] }),
    );
    assert.equal("update" in inputs, false);
  });

  it("returns the values of a result between lines that the login shell prints", async () => {
    const greeted = `Welcome to build-07\n\n@stackadm {"uid": "the-uid"}\nGoodbye\n`;
    await script(
      "up",
      async (made) => {
        assert.equal(await value(made.result("uid")), "the-uid");
        assert.equal(await value(made.getStableResult("uid")), "the-uid");
      },
      undefined,
      { outputs: { "command:remote:Command": () => ({ stdout: greeted }) } },
    );
  });

  it("returns the values of the last output line as secrets", async () => {
    await script("up", async (made) => {
      const uid = made.result("uid");
      assert.equal(await value(uid), "11111111-2222-3333-4444-555555555555");
      assert.equal(await secret(uid), true);
    });
  });

  it("fails with the name of a missing value", async () => {
    await script("up", async (made) => {
      await assert.rejects(value(made.result("token")), /the script's result has no "token"/);
    });
  });
});
