import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { clear, isSecret } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { nonEmpty } from "../../support/non-empty.js";

const canary = "CANARY";
const ca = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
const args: ClusterArgs = {
  ...smallest,
  topology: "ha",
  etcd: { kind: "dedicated", flavor: "medium" },
  access: "bastion",
  bastion: { flavor: "small" },
};
const asked: Partial<ClusterArgs> = {
  kubernetes: {
    registries: {
      "r.example": { ca, user: "me", password: pulumi.secret(canary) },
      "docker.io": { mirrors: ["https://r.example/v2/hub"] },
    },
  },
  network: { proxy: { https: pulumi.secret(`http://u:${canary}@p:3128`) } },
};
const build = (over: Partial<ClusterArgs> = {}, preview = false): Promise<readonly Row[]> =>
  clusterRows({ ...args, ...over }, { preview });
const shape = (rows: readonly Row[]): string[] => rows.map(({ type, name }) => `${type} ${name}`);

describe("graph: registries and a proxy", () => {
  let usual: readonly Row[];
  let rows: readonly Row[];
  before(async () => {
    usual = await build();
    rows = await build(asked);
  });
  const prepares = (of: readonly Row[]): readonly Row[] =>
    of.filter(({ name }) => /-(control-plane|etcd|workers-general)-\d-prepare$/.test(name));

  it("change only the preparation of machines that run containerd", () => {
    assert.deepEqual(shape(rows), shape(usual));
    const differ = rows.filter(
      ({ inputs }, index) => JSON.stringify(inputs) !== JSON.stringify(usual[index]?.inputs),
    );
    assert.deepEqual(
      differ.map(({ name }) => name).sort(),
      prepares(rows)
        .map(({ name }) => name)
        .sort(),
    );
    assert.equal(differ.length, 3 + 3 + 2);
  });

  it("are passed to the preparation of each machine", () => {
    for (const { name, inputs } of nonEmpty(prepares(rows))) {
      const stdin = renderSentScript(inputs);
      const of = (value: string): string =>
        new RegExp(`^${value}='([^']*)'`, "m").exec(stdin)?.[1] ?? "";
      assert.match(
        of("REGISTRY_AUTH"),
        /configs\."r\.example"\.auth\]\n {2}username = "me"\n {2}password = "CANARY"/,
        name,
      );
      assert.match(of("REGISTRIES"), /^docker\.io\/hosts\.toml \S+\nr\.example\/ca\.crt /, name);
      const environment = /^environment (\S+)$/m.exec(of("PROXY"))?.[1] ?? "";
      assert.match(
        Buffer.from(environment, "base64").toString(),
        /^HTTPS_PROXY='http:\/\/u:CANARY@p:3128'$/m,
      );
    }
  });

  it("are empty by default", () => {
    for (const { name, inputs } of nonEmpty(prepares(usual)))
      assert.match(
        renderSentScript(inputs),
        /^PROXY=''\n(.*\n)*REGISTRIES=''\nREGISTRY_AUTH=''\n/m,
        name,
      );
  });

  it("show passwords only in secret inputs", () => {
    for (const row of nonEmpty(rows)) assert.ok(!clear(row).includes(canary), row.name);
    for (const { inputs, name } of prepares(rows)) assert.ok(isSecret(inputs["stdin"]), name);
  });

  it("make inputs secret if a setting may contain a password", async () => {
    const all = prepares(usual).map(({ name }) => name);
    const secret = (some: readonly Row[]): string[] =>
      prepares(some).flatMap(({ name, inputs }) => (isSecret(inputs["stdin"]) ? name : []));
    assert.deepEqual(secret(usual), []);
    const source = "https://packages.example/a/very-long-way/x ./";
    const key = "https://packages.example/key";
    const open = { url: "https://packages.example/v{minor}/", containerd: { source, key } };
    const [site, dotted] = ["https://packages.example", "glpat-0.1.abcdefgh%7E"];
    const token = `${site}/priv/0123456789abcdef`;
    for (const [packages, expected] of [
      [open, []],
      [{ ...open, url: "https://me:CANARY@packages.example/" }, all],
      [{ ...open, url: `${site}/?token=short/` }, all],
      [{ ...open, url: `${site}/${dotted}/` }, all],
      [{ ...open, url: `${token}/` }, all],
      [{ ...open, containerd: { source: `${token} ./`, key } }, all],
      [{ ...open, containerd: { source, key: `${token}/key` } }, all],
    ] as const) {
      const some = await build({ kubernetes: { packages } });
      assert.deepEqual(secret(some), expected);
      for (const row of some) assert.ok(!clear(row).includes("0123456789abcdef"), row.name);
    }
    for (const [mirror, expected] of [
      ["https://harbor.example/v2/dockerhub", []],
      ["https://mirror.example/t/0123456789abcdef/v2", all],
    ] as const) {
      const registries = { "docker.io": { mirrors: [mirror] } };
      assert.deepEqual(secret(await build({ kubernetes: { registries } })), expected);
    }
    const steps = { beforeKubeadm: "curl -u me:CANARY https://site.example" };
    const workers = { general: { ...smallest.workers.general, steps } };
    const own = all.filter((name) => name.startsWith("dev-workers-general"));
    assert.deepEqual(secret(await build({ workers })), own);
  });

  it("register the same resources in a preview", async () => {
    assert.deepEqual(shape(await build(asked, true)), shape(rows));
  });
});
