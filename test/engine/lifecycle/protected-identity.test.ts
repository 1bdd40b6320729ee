import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, succeeded } from "../support/project.js";

const script = resolve(__dirname, "../../../components/remote-scripts/remote-script.ts");

/**
 * Program with a minimal cluster: the cluster's identity, and a resource that uses the identity and
 * logs its own deletion.
 */
const program = `
import * as command from "@pulumi/command";
import { ClusterIdentity } from ${JSON.stringify(script)};

const { LOG, PROTECT } = process.env;
const { identity } = new ClusterIdentity("dev-identity", { protect: PROTECT === "yes" });
new command.local.Command("server", {
  create: identity.apply((id) => "printf " + id),
  delete: "echo gone >>" + LOG,
});
`;

describe("a protected identity", function () {
  this.timeout(300_000);
  let project: Project;
  let log = "";
  before(async () => {
    project = await Project.create({ program, file: "index.ts" });
    log = join(project.directory, "log");
    project.environment["LOG"] = log;
  });
  after(() => {
    project.remove();
  });
  const up = async (protect: boolean): Promise<string> => {
    project.environment["PROTECT"] = protect ? "yes" : undefined;
    return succeeded(await project.up());
  };
  const went = (): boolean => existsSync(log) && readFileSync(log, "utf8") !== "";
  const identity = async (): Promise<unknown> =>
    (await project.resources()).find(({ urn }) => urn.endsWith("dev-identity"))?.outputs?.[
      "stdout"
    ];

  it("becomes protected and unprotected by an up without other changes", async () => {
    await up(false);
    const made = await identity();
    for (const protect of [true, false, true]) {
      assert.match(await up(protect), / 3 unchanged/);
      assert.equal(await identity(), made);
      assert.equal((await project.export()).includes('"protect": true'), protect);
    }
  });

  it("blocks the preview of a destroy before any deletion", async () => {
    const { code, output } = await project.run("destroy", "--yes", "--non-interactive");
    assert.notEqual(code, 0);
    assert.match(
      output,
      /resource "\S+::dev-identity" cannot be deleted\n\s*because it is protected/,
    );
    assert.equal(went(), false);
  });

  it("blocks a destroy without a preview after the deletion of other resources", async () => {
    const { code, output } = await project.destroy();
    assert.notEqual(code, 0);
    assert.match(output, /cannot be deleted\n/);
    assert.equal(went(), true);
    rmSync(log);
  });

  it("is deleted at destroy after its protection is removed", async () => {
    await up(false);
    succeeded(await project.destroy());
    assert.equal(went(), true);
    assert.deepEqual(await project.resources(), []);
  });
});
