import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, succeeded, type Run } from "../support/project.js";

const packageProgram = join(resolve(__dirname, "../../.."), "program.cjs");
const network = "openstack:networking/network:Network";
const urnOf = (type: string, name: string): string =>
  `urn:pulumi:dev::engine::stackadm:index:Cluster$${type}::${name}`;

/** Runs the package's program with plain Pulumi. Its settings are invalid, but are read later. */
describe("plain `pulumi up` after an interrupted run", function () {
  this.timeout(600_000);
  let project: Project;
  before(async () => {
    const program = `module.exports = require(${JSON.stringify(packageProgram)});`;
    project = await Project.create({ program });
  });
  after(() => {
    project.remove();
  });

  interface Deployment {
    readonly resources: readonly object[];
    readonly pending_operations?: readonly object[];
  }
  /** Replaces the state. `pulumi stack import` would drop the pending operations. */
  const writeState = ({ resources, pending_operations = [] }: Deployment): void => {
    const file = join("state", ".pulumi", "stacks", "engine", "dev.json");
    const path = join(project.directory, file);
    const stored = JSON.parse(readFileSync(path, "utf8")) as {
      version: number;
      checkpoint: { latest?: object };
    };
    const latest = { ...stored.checkpoint.latest, resources, pending_operations };
    project.write(
      file,
      JSON.stringify({ ...stored, checkpoint: { ...stored.checkpoint, latest } }),
    );
  };
  const object = (name: string, more: object = {}) => ({
    urn: urnOf(network, name),
    type: network,
    custom: true,
    id: "n",
    ...more,
  });
  const refused = async (run: Promise<Run>, reason: RegExp): Promise<void> => {
    const { code, output } = await run;
    assert.notEqual(code, 0, output);
    assert.match(output, reason);
    assert.doesNotMatch(output, /INVALID_CONFIG/);
  };

  it("refuses to create an object twice, also in a preview, and names the command", async () => {
    const pending = { type: "creating", resource: { ...object("dev-network-network"), id: "" } };
    writeState({ resources: [], pending_operations: [pending] });
    const reason =
      /\[FAILED\] An earlier run was interrupted while it created dev-network-network\. .*`stackadm up --stack dev`/;
    await refused(project.preview(), reason);
    await refused(project.up(), reason);
    // The engine's own refresh removes the pending create.
    const clear = ["--clear-pending-creates", "--yes", "--skip-preview", "--non-interactive"];
    succeeded(await project.run("refresh", ...clear));
    assert.match((await project.preview()).output, /INVALID_CONFIG/);
  });

  it("names the refresh of an object that could not be read", async () => {
    writeState({ resources: [object("dev-network-network", { initErrors: ["x"] })] });
    const urn = urnOf(network, "dev-network-network").replaceAll("$", "\\$");
    await refused(
      project.up(),
      new RegExp(`created dev-network-network, .*pulumi refresh --stack dev --target '${urn}'`),
    );
  });

  it("runs the program if only scripts and Kubernetes objects are unfinished", async () => {
    const command = "command:remote:Command";
    const script = { ...object("x"), urn: urnOf(command, "x"), type: command };
    const pending_operations = ["creating", "updating"].map((type) => ({ type, resource: script }));
    writeState({ resources: [], pending_operations });
    assert.match((await project.preview()).output, /INVALID_CONFIG/);
  });
});
