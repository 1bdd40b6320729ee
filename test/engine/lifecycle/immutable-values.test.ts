import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { Project, succeeded } from "../support/project.js";

const components = resolve(__dirname, "../../../components");

/**
 * Program with a minimal cluster: frozen values, and in another component a resource that appends a
 * line to a file on each create and delete.
 */
const program = `
import * as command from "@pulumi/command";
import * as kubernetes from "@pulumi/kubernetes";
import { FrozenValues } from ${JSON.stringify(join(components, "lifecycle/immutable-values.ts"))};
import { Component } from ${JSON.stringify(join(components, "pulumi/component.ts"))};

const { LOG } = process.env;
const { values, word, exists } = JSON.parse(process.env.WANTED ?? "{}");
class Inner extends Component {
  constructor(name: string, _args: object, opts?: object) {
    super("test:test:Inner", name, opts);
    this.make(command.local.Command, "thing", {
      create: "echo made " + word + " >>" + LOG,
      delete: "echo gone >>" + LOG,
      triggers: [word],
    });
    if (exists) this.make(kubernetes.Provider, "provider", { kubeconfig: "{}", clusterIdentifier: "dev" });
    this.registerOutputs({});
  }
}
class Outer extends Component {
  constructor(name: string) {
    super("test:test:Outer", name);
    if (values) this.makeFirst(FrozenValues, "frozen", { cluster: name, values });
    this.make(Inner, "inner", {});
    this.registerOutputs({});
  }
}
new Outer("dev");
`;

interface Wanted {
  readonly word: string;
  readonly values?: Readonly<Record<string, string>>;
  /** Whether the program has a Kubernetes provider. @default false */
  readonly exists?: boolean;
}

describe("FrozenValues with a real engine", function () {
  this.timeout(600_000);
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

  const want = (wanted: Wanted): void => {
    project.environment["WANTED"] = JSON.stringify(wanted);
  };
  /** Returns the lines since the last call, and deletes the file. */
  const happened = (): string[] => {
    const text = existsSync(log) ? readFileSync(log, "utf8") : "";
    rmSync(log, { force: true });
    return text.split("\n").filter(Boolean);
  };
  const kept = async (): Promise<unknown> => {
    const resources = await project.resources();
    return resources.find(({ urn }) => urn.endsWith("::dev-frozen"))?.inputs?.["environment"];
  };
  const refusal =
    /error: (?:Preview failed: )?before hook "check-dev-frozen" failed: \[INVALID_CONFIG\] The specification of the existing cluster dev is not valid:\n\s*cluster\.network\.pods: 10\.1\.0\.0\/16 cannot become 10\.2\.0\.0\/16 while [^\n]*\n\s*cluster\.podNetwork: a cannot become b while/;
  const values = { "network.pods": "10.1.0.0/16", podNetwork: "a" };
  const changed = { "network.pods": "10.2.0.0/16", podNetwork: "b" };

  it("records the values of a cluster without a record, and changes nothing else", async () => {
    want({ word: "one" });
    succeeded(await project.up());
    assert.deepEqual(happened(), ["made one"]);
    want({ word: "one", values: changed });
    assert.match(succeeded(await project.preview()), /1 to create\n\s+4 unchanged/);
    succeeded(await project.up());
    assert.deepEqual(await kept(), changed);
    assert.deepEqual(happened(), []);
  });

  it("accepts changed values until the state has a Kubernetes resource", async () => {
    want({ word: "one", values });
    succeeded(await project.preview());
    want({ word: "one", values, exists: true });
    succeeded(await project.up());
    assert.deepEqual(await kept(), values);
    assert.deepEqual(happened(), []);
  });

  it("refuses changed values in a preview and reports each of them", async () => {
    want({ word: "two", values: changed, exists: true });
    const { code, output } = await project.preview();
    assert.notEqual(code, 0);
    assert.match(output, refusal);
    assert.doesNotMatch(output, /dev-inner-thing/);
  });

  it("refuses changed values before other steps, also with --continue-on-error", async () => {
    want({ word: "two", values: changed, exists: true });
    for (const more of [[], ["--continue-on-error"]]) {
      const { code, output } = await project.up(...more);
      assert.notEqual(code, 0);
      assert.match(output, refusal);
      assert.deepEqual(happened(), []);
      assert.deepEqual(await kept(), values);
    }
  });

  it("adds and removes values in place while other resources change", async () => {
    const later = { podNetwork: "a", "network.nodes": "10.0.0.0/24" };
    want({ word: "two", values: later, exists: true });
    const preview = succeeded(await project.preview());
    assert.match(preview, /\+ network\.nodes\s*: "10\.0\.0\.0\/24"/);
    assert.match(preview, /~ 1 to update/);
    succeeded(await project.up());
    assert.deepEqual(happened(), ["made two", "gone"]);
    assert.deepEqual(await kept(), later);
  });

  it("does not block a destroy", async () => {
    want({ word: "two", values: changed, exists: true });
    succeeded(await project.destroy());
    assert.deepEqual(happened(), ["gone"]);
  });
});
