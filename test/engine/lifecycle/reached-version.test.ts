import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, succeeded } from "../support/project.js";

const components = resolve(__dirname, "../../../components");

/**
 * Program with a minimal cluster: a machine's script, which fails if a file exists, and the version
 * that the cluster has reached. At its start, the program reads this version from the state and
 * logs it.
 */
const program = `
import { appendFileSync } from "node:fs";
import * as command from "@pulumi/command";
import { readVersionBeforeUpgrade } from ${JSON.stringify(join(components, "lifecycle/immutable-values.ts"))};
import { Component } from ${JSON.stringify(join(components, "pulumi/component.ts"))};
import { clusterType } from ${JSON.stringify(join(components, "pulumi/cluster-type.ts"))};

const { LOG = "", FAILS = "", WANTED } = process.env;
class Outer extends Component {
  constructor(name: string) {
    super(clusterType, name);
    const note = (said: string | undefined) => { appendFileSync(LOG, String(said) + "\\n"); };
    void readVersionBeforeUpgrade(name).then(({ reached }) => { note(reached); });
    const script = this.make(command.local.Command, "script", {
      create: "echo " + WANTED + "; [ ! -e " + FAILS + " ]", addPreviousOutputInEnv: false,
    });
    this.registerOutputs({ kubernetesVersion: script.stdout });
  }
}
new Outer("dev");
`;

describe("the Kubernetes version in the state before a run", function () {
  this.timeout(600_000);
  let project: Project;
  let [log, fails] = ["", ""];
  before(async () => {
    project = await Project.create({ program, file: "index.ts" });
    [log, fails] = [join(project.directory, "log"), join(project.directory, "fails")];
    Object.assign(project.environment, { LOG: log, FAILS: fails });
  });
  after(() => {
    project.remove();
  });

  /** Returns the version that the state had at the start of the last run. */
  const said = (): string => {
    const text = existsSync(log) ? readFileSync(log, "utf8") : "";
    rmSync(log, { force: true });
    return text.trim().split("\n").at(-1) ?? "";
  };

  it("is unknown before the first up, and does not change while runs fail", async () => {
    const { environment } = project;
    environment["WANTED"] = "1.35.4";
    succeeded(await project.up());
    assert.equal(said(), "undefined");
    environment["WANTED"] = "1.36.3";
    writeFileSync(fails, "");
    for (let run = 0; run < 2; run++) {
      assert.notEqual((await project.up()).code, 0);
      assert.equal(said(), "1.35.4");
    }
    rmSync(fails);
    succeeded(await project.up());
    assert.equal(said(), "1.35.4");
    succeeded(await project.preview());
    assert.equal(said(), "1.36.3");
  });
});
