import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lookUpCloudFacts } from "../../support/bare/cloud.js";
import { DryRunCloud } from "../../support/bare/dry-run-cloud.js";
import { getBenchCluster } from "../../support/bench-cluster.js";
import {
  renderTerraformConfiguration,
  type TerraformConfigurationOptions,
} from "../../support/terraform/configuration.js";
import {
  collectRegisteredResources,
  type RandomValues,
  type RegisteredResources,
} from "../../support/terraform/registered-resources.js";
import { TerraformPlaceholders } from "../../support/terraform/references.js";
import type { TerraformFiles } from "../../support/terraform/script-resources.js";
import { deriveJoinKey } from "../../../../components/identity/join-certificate.js";
import { requiredLookups } from "../../../../components/cloud-requirements.js";
import type { Fields } from "../../../../test/support/graph/graph.js";
import { specOf } from "../../../../test/support/config/spec.js";

type Resource = Readonly<Record<string, unknown>> & { readonly depends_on: readonly string[] };
type Provisioner = Readonly<
  Record<string, { readonly command?: string; readonly inline?: string[] }>
>;

interface Main {
  readonly resource: Readonly<Record<string, Readonly<Record<string, Resource>>>>;
  readonly locals: { readonly objects: string };
  readonly output: { readonly cluster: { readonly value: Fields } };
}

const drawn: RandomValues = {
  seed: Buffer.from("s".repeat(32)).toString("base64"),
  identity: "0123456789ab",
};

async function programOf(controlPlanes: number, workers: number): Promise<RegisteredResources> {
  const spec = specOf(getBenchCluster(controlPlanes, workers));
  return collectRegisteredResources(
    spec,
    await lookUpCloudFacts(new DryRunCloud(() => undefined), requiredLookups(spec)),
    drawn,
  );
}

const mainOf = (files: TerraformFiles): Main => JSON.parse(files.get("main.tf.json") ?? "") as Main;

const provisioners = (step: Resource): readonly Provisioner[] =>
  step["provisioner"] as readonly Provisioner[];

describe("renderTerraformConfiguration", () => {
  let [one, three]: RegisteredResources[] = [];
  before(async () => {
    one = await programOf(1, 2);
    three = await programOf(3, 5);
  });
  const written = (
    made: RegisteredResources | undefined,
    options?: TerraformConfigurationOptions,
  ): Main => {
    assert.ok(made);
    return mainOf(renderTerraformConfiguration(made, drawn, options));
  };
  const step = ({ resource }: Main, name: string): Resource => {
    const found = resource["terraform_data"]?.[name];
    assert.ok(found, name);
    return found;
  };

  it("contains every cloud resource of the program", () => {
    for (const made of [one, three]) {
      const { terraform_data: steps = {}, ...cloud } = written(made).resource;
      const ofCloud = made?.rows.filter(({ type }) => type.startsWith("openstack:")) ?? [];
      const count = Object.values(cloud).flatMap((some) => Object.keys(some)).length;
      assert.equal(count, ofCloud.length);
      const scripts = made?.rows.filter(
        ({ type, inputs }) => type === "command:remote:Command" && "create" in inputs,
      );
      // Counts one step for each script, one for the Kubernetes objects and one for the teardown.
      assert.equal(Object.keys(steps).length, (scripts?.length ?? 0) + 2);
    }
  });

  it("uses references for values that are known only after an apply", () => {
    const main = written(three);
    const text = JSON.stringify(main);
    assert.doesNotMatch(text, /ref\.|192\.0\.2\.|1437|c0ffee/);
    assert.match(
      text,
      /openstack:\/\/\/\$\{openstack_compute_instance_v2\.bench-control-plane-0-server\.id\}/,
    );
    assert.match(
      main.locals.objects,
      /\$\{openstack_networking_network_v2\.bench-network-network\.mtu\}/,
    );
    const { apiEndpoint } = main.output.cluster.value;
    assert.match(
      String(apiEndpoint),
      /^https:\/\/\$\{openstack_networking_floatingip_v2\.[\w-]+\.address\}:6443$/,
    );
    const join = step(main, "bench-workers-general-4-join");
    const [, { "remote-exec": remote } = {}] = provisioners(join);
    const hash =
      /CA_CERT_HASH='\$\{jsondecode\(file\(".*terraform_data\.bench-control-plane-0-init\.id.*"\)\)\.caCertHash\}'/;
    assert.match(remote?.inline?.[0] ?? "", hash);
  });

  it("escapes the shell's template characters", () => {
    const references = new TerraformPlaceholders();
    references.stand("ref.a.id", "a.id");
    assert.equal(references.template("${x} %{y} $z ref.a.id"), "$${x} %%{y} $z ${a.id}");
    assert.throws(() => references.template("ref.b.id"), /ref\.b\.id stands for nothing/);
  });

  it("orders each machine independently, and with stages after all machines", () => {
    const prepared = (main: Main, name: string): readonly string[] =>
      step(main, name).depends_on.filter((other) => other.endsWith("-prepare"));
    const name = "bench-workers-general-0-join";
    assert.deepEqual(prepared(written(three), name), [
      "terraform_data.bench-workers-general-0-prepare",
    ]);
    assert.equal(prepared(written(three, { stages: true }), name).length, 8);
    assert.deepEqual(step(written(three), "objects").depends_on, [
      "terraform_data.bench-control-plane-0-init",
    ]);
    const chain = step(written(three), "bench-control-plane-2-join").depends_on;
    assert.ok(chain.includes("terraform_data.bench-control-plane-1-join"));
  });

  it("adds exactly one worker's resources for one more worker", async () => {
    const [before, after] = [written(one), written(await programOf(1, 3))];
    assert.equal(after.locals.objects, before.locals.objects);
    for (const [type, some] of Object.entries(before.resource))
      for (const [label, was] of Object.entries(some)) {
        const now = after.resource[type]?.[label];
        // Ignores changes that cause no action: provisioners run only at creation, and the order of
        // dependencies does not matter.
        const compared = (resource: Resource | undefined) => ({
          ...resource,
          provisioner: undefined,
          depends_on: undefined,
        });
        assert.deepEqual(compared(now), compared(was), label);
      }
    const count = ({ resource }: Main): number =>
      Object.values(resource).flatMap(Object.keys).length;
    // The new worker adds a port, a server, its preparation and its join.
    assert.equal(count(after) - count(before), 4);
  });

  it("tears down the cluster's objects while all machines exist", () => {
    const last = step(written(three), "bench-control-plane-teardown").depends_on;
    const joins = last.filter((other) => other.endsWith("-join"));
    assert.equal(joins.length, 2 + 5);
    assert.ok(last.includes("terraform_data.objects"));
  });

  it("signs the same join certificate as the program", () => {
    const files = renderTerraformConfiguration(one as RegisteredResources, drawn);
    const [{ "local-exec": local } = {}] = provisioners(
      step(mainOf(files), "bench-workers-general-1-join"),
    );
    const joiner = { machine: "bench-general-1", serverId: "the-server", address: "10.0.0.9" };
    const command = (local?.command ?? "")
      .replaceAll("${self.id}", "self")
      .replace(/\$\{openstack_compute_instance_v2[^}]*\}/, joiner.serverId)
      .replace(/\$\{openstack_networking_port_v2[^}]*\}/g, joiner.address);
    const directory = mkdtempSync(join(tmpdir(), "terraform-peer-"));
    try {
      for (const folder of ["keys", "work"]) mkdirSync(join(directory, folder));
      for (const [file, text] of files)
        if (file.startsWith("keys/")) writeFileSync(join(directory, file), text, { mode: 0o600 });
      execFileSync("/bin/sh", ["-c", command], { cwd: directory });
      const file = join(directory, "work/self-cert.pub");
      const shown = (): string =>
        execFileSync("ssh-keygen", ["-L", "-f", file], { encoding: "utf8" });
      const signed = shown();
      assert.match(readFileSync(file, "utf8"), /^ssh-ed25519-cert-v01@openssh\.com /);
      writeFileSync(file, deriveJoinKey(drawn.seed, { grant: "token", ...joiner }).certificate);
      assert.equal(signed, shown());
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
