import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../components/cluster.js";
import { clusterSchema } from "../../components/config/cluster-spec.js";
import { prepare, type PrepareArgs } from "../../components/prepare.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { smallest } from "../support/config/spec.js";
import { graph, type GraphOptions, type Row } from "../support/graph/graph.js";
import { nonEmpty } from "../support/non-empty.js";
import { replace } from "../support/replace-property.js";

const namesOf = (rows: readonly Row[]): string[] => rows.map(({ type, name }) => `${type} ${name}`);
const find = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found;
};
const openstackRows = (rows: readonly Row[]): readonly Row[] =>
  nonEmpty(rows.filter(({ type }) => type.startsWith("openstack:")));

describe("prepare", () => {
  let directory = "";
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-prepare-"));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  const build = (
    args: PrepareArgs | (() => PrepareArgs),
    env: NodeJS.ProcessEnv = {},
    options: GraphOptions = {},
  ): Promise<readonly Row[]> =>
    graph(
      async () => {
        const written = typeof args === "function" ? args() : args;
        return new Cluster("dev", await prepare(written, { env }));
      },
      { ...cloudAnswers, ...options },
    );

  it("returns arguments of the same cluster, which are checked only once", async () => {
    const alone = await graph(() => new Cluster("dev", smallest), cloudAnswers);
    let checks = 0;
    const parse = clusterSchema.safeParse.bind(clusterSchema);
    const restore = replace(clusterSchema, "safeParse", (args: unknown) => {
      checks += 1;
      return parse(args);
    });
    try {
      assert.deepEqual(namesOf(await build(smallest)), namesOf(alone));
    } finally {
      restore();
    }
    assert.equal(checks, 1);
  });

  it("checks arguments again that the program changed afterwards", async () => {
    const changed = graph(async () => {
      const prepared = await prepare(smallest, { env: {} });
      return new Cluster("dev", { ...prepared, image: "" });
    }, cloudAnswers);
    await assert.rejects(changed, /cluster\.image: "" does not name an image/);
  });

  it("names the cluster after the stack by default", async () => {
    const { name, ...unnamed } = smallest;
    const rows = await build(unnamed, {}, { stack: "staging" });
    assert.equal(find(rows, "dev-network-network").inputs["name"], "staging");
    assert.equal(name, "dev");
  });

  it("adds site defaults and a login key of the ssh-agent, and keeps outputs", async () => {
    const site = join(directory, "site.yaml");
    writeFileSync(site, "image: site-image\nnetwork: {dns: [10.0.0.53]}\n");
    const program = "#!/bin/sh\necho ssh-ed25519 AAAAAGENT me\n";
    writeFileSync(join(directory, "ssh-add"), program, { mode: 0o755 });
    const { ssh, ...keyless } = smallest;
    const image = () => pulumi.output("00000000-0000-4000-8000-000000000001");
    const env = { STACKADM_SITE: site, PATH: `${directory}:/bin` };
    const rows = await build(() => ({ ...keyless, image: image() }), env);
    const { imageId, userData } = find(rows, "dev-control-plane-0-server").inputs;
    assert.equal(imageId, "00000000-0000-4000-8000-000000000001");
    assert.match(JSON.stringify(userData), /- ssh-ed25519 AAAAAGENT\\n/);
    assert.deepEqual(find(rows, "dev-network-subnet").inputs["dnsNameservers"], ["10.0.0.53"]);
    assert.ok(ssh);
  });

  it("reports all problems, and registers nothing if a name does not exist", async () => {
    const wrong = { ...smallest, zones: 7, workers: { a: { flavor: "m", count: -1 } } };
    await assert.rejects(
      build(wrong as unknown as PrepareArgs),
      /The specification is not valid:\n {2}cluster\.workers\.a\.count: .*\n {2}cluster\.zones: /s,
    );
    const details = "1 error occurred:\n\t* Your query returned no results";
    const nothing = (): never => {
      throw Object.assign(new Error(details), { code: 2, details });
    };
    const made: string[] = [];
    const lookups = { ...cloudAnswers.lookups, "openstack:compute/getFlavor:getFlavor": nothing };
    const make = ({ name }: { readonly name: string }) => {
      made.push(name);
      return Promise.resolve({ id: name, outputs: {} });
    };
    await assert.rejects(build(smallest, {}, { lookups, make }), /flavor "medium" does not exist/);
    assert.deepEqual(
      made.filter((name) => name.startsWith("dev")),
      [],
    );
  });
});

describe("the OpenStack provider of a cluster", () => {
  const networks: string[] = [];
  /** Answers of two clouds, in which the same image name has different IDs. */
  const options: GraphOptions = {
    ...cloudAnswers,
    lookups: {
      ...cloudAnswers.lookups,
      "openstack:images/getImageIds:getImageIds": (_inputs, provider = "") => ({
        ids: [`image-of-${/::(one|two)::/.exec(provider)?.[1] ?? "default"}`],
      }),
      "openstack:networking/getNetwork:getNetwork": (_inputs, provider = "") => {
        networks.push(provider);
        return { id: "external", name: "public" };
      },
    },
  };
  const two = (): readonly openstack.Provider[] =>
    ["one", "two"].map((cloud) => new openstack.Provider(cloud, { cloud }));
  const separate = (rows: readonly Row[]): void => {
    for (const cloud of ["one", "two"]) {
      const { imageId } = find(rows, `in-${cloud}-control-plane-0-server`).inputs;
      assert.equal(imageId, `image-of-${cloud}`);
      const own = openstackRows(rows.filter(({ name }) => name.startsWith(`in-${cloud}-`)));
      assert.ok(own.every(({ provider }) => provider.includes(`::${cloud}::`)));
    }
    assert.ok(networks.splice(0).every((provider) => /::(one|two)::/.test(provider)));
  };

  it("looks up names, too, if two clusters of a program are in two clouds", async () => {
    const rows = await graph(
      () =>
        two().map((cloud, index) => {
          const name = `in-${["one", "two"][index] ?? ""}`;
          return new Cluster(name, { ...smallest, name }, { providers: [cloud] });
        }),
      options,
    );
    separate(rows);
  });

  it("is given once, to prepare, and creates the resources, too", async () => {
    const rows = await graph(async () => {
      for (const [index, provider] of two().entries()) {
        const name = `in-${["one", "two"][index] ?? ""}`;
        new Cluster(name, await prepare({ ...smallest, name }, { env: {}, provider }));
      }
    }, options);
    separate(rows);
  });

  it("looks up outputs, too", async () => {
    const rows = await graph(() => {
      const [provider] = two();
      const args = { ...smallest, image: pulumi.output("debian") };
      return new Cluster("dev", args, { providers: provider ? [provider] : [] });
    }, options);
    assert.equal(find(rows, "dev-control-plane-0-server").inputs["imageId"], "image-of-one");
  });

  it("is refused if names were looked up with another one", async () => {
    const prepared = (provider?: pulumi.ProviderResource) =>
      prepare(smallest, { env: {}, ...(provider && { provider }) });
    const message = /providers: differs from the provider of `prepare`; write `prepare\(args, \{/;
    const without = graph(async () => {
      const [one] = two();
      assert.ok(one);
      return new Cluster("dev", await prepared(), { providers: [one] });
    }, options);
    await assert.rejects(without, message);
    const other = graph(async () => {
      const [one, another] = two();
      assert.ok(one && another);
      return new Cluster("dev", await prepared(one), { providers: [another] });
    }, options);
    await assert.rejects(other, message);
  });

  it("may be in the options of the cluster, if prepare got the same one", async () => {
    const rows = await graph(async () => {
      const [one] = two();
      assert.ok(one);
      const args = await prepare(smallest, { env: {}, provider: one });
      return new Cluster("dev", args, { provider: one });
    }, options);
    const own = openstackRows(rows.filter(({ name }) => name.startsWith("dev-")));
    assert.ok(own.every(({ provider }) => provider.includes("::one::")));
  });
});
