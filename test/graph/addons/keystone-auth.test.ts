import { strict as assert } from "node:assert";
import { Failure } from "../../../base/failures/failure.js";
import { X509Certificate } from "node:crypto";
import type { ClusterComponentArgs } from "../../../components/cluster-arguments.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { isSecret } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { annotationsOf, named, reaches, shape } from "./addons-example.js";

const build = (over: Partial<ClusterComponentArgs> = {}, preview = false) =>
  clusterRows({ ...smallest, ...over }, { preview });
const withKeystone = { kubernetes: { keystone: {} } };
const threeOf = { topology: "ha", controlPlane: { flavor: "medium" } } as const;
const clear = (value: unknown): string => JSON.stringify(value);
const own = "dev-addons-keystone-auth";

const contentOf = (rows: readonly Row[]): Record<string, string> => {
  const { stringData } = named(rows, "dev-addons-keystone-auth-secret").inputs;
  assert.ok(isSecret(stringData));
  return (stringData as { value: Record<string, string> }).value;
};

const scriptOf = (rows: readonly Row[], name: string): string =>
  renderSentScript(named(rows, name).inputs);

describe("graph: Keystone authentication", () => {
  it("adds only the webhook's resources, also in a preview", async () => {
    const without = await build();
    const rows = await build(withKeystone);
    const preview = await build(withKeystone, true);
    const before = new Set(shape(without));
    assert.deepEqual(
      rows
        .filter((row) => !before.has(shape([row])[0] ?? ""))
        .map(({ name }) => name)
        .sort(),
      [own, `${own}-daemon-set`, `${own}-secret`],
    );
    assert.deepEqual(shape(preview).sort(), shape(rows).sort());
    const [pods, secret] = ["daemon-set", "secret"].map(
      (name) => named(rows, `dev-addons-keystone-auth-${name}`).urn,
    );
    assert.ok(reaches(rows, pods ?? "", secret ?? ""));
  });

  it("configures no webhook by default", async () => {
    const script = scriptOf(await build(), "dev-control-plane-0-init");
    assert.match(script, /^CONFIGURATION='apiServer:$/m);
    assert.doesNotMatch(script, /keystone|token-webhook/);
  });

  it("configures every control plane with the webhook's certificate", async () => {
    const rows = await build({ ...withKeystone, ...threeOf });
    const { "tls.crt": certificate = "", "tls.key": key = "" } = contentOf(rows);
    assert.ok(new X509Certificate(certificate).checkIP("127.0.0.1"));
    for (const name of ["0-init", "1-join", "2-join"]) {
      const script = scriptOf(rows, `dev-control-plane-${name}`);
      const [, data = ""] = /^keystone-webhook-\S+ ([^\s']+)'?$/m.exec(script) ?? [];
      const file = Buffer.from(data, "base64").toString();
      assert.ok(file.includes(Buffer.from(certificate).toString("base64")), name);
      assert.match(script, /authentication-token-webhook-config-file/);
      assert.doesNotMatch(script, /authorization-webhook/);
      assert.ok(!script.includes(key.split("\n")[1] ?? ""), name);
    }
  });

  it("keeps the webhook's private key in one Secret only", async () => {
    const rows = await build(withKeystone);
    const key = contentOf(rows)["tls.key"]?.split("\n")[1] ?? "";
    assert.match(key, /^[A-Za-z0-9+/=]{60,}$/);
    assert.deepEqual(
      rows.filter((row) => clear(row).includes(key)).map(({ name }) => name),
      ["dev-addons-keystone-auth-secret"],
    );
  });

  it("uses the cluster's cloud with its CA certificate, or another Keystone", async () => {
    const operator = { connect: () => Promise.reject(new Failure("FAILED", "no")) };
    const rows = await build({ ...withKeystone, operator: { ...operator, caCertificate: "PEM" } });
    const pods = named(rows, "dev-addons-keystone-auth-daemon-set");
    assert.equal(contentOf(rows)["ca.crt"], "PEM");
    assert.match(clear(pods.inputs), /--keystone-ca-file=/);
    const authUrl = /auth-url = "([^"]+)"/;
    const conf = clear(named(rows, "dev-addons-cloud-config-secret").inputs).replaceAll("\\", "");
    assert.ok(clear(pods.inputs).includes(`"${authUrl.exec(conf)?.[1] ?? "nothing"}"`));
    const elsewhere = await build({
      kubernetes: { keystone: { url: "https://id.example.org/v3" } },
    });
    const others = clear(named(elsewhere, "dev-addons-keystone-auth-daemon-set").inputs);
    assert.match(others, /https:\/\/id\.example\.org\/v3/);
    assert.doesNotMatch(others, /--keystone-ca-file=/);
  });

  it("passes policy rules to the webhook, and restarts the webhook after a change", async () => {
    const ruled = (project: string) =>
      build({ kubernetes: { keystone: { policy: [{ projects: [project] }] } } });
    const one = await ruled("one");
    const other = await ruled("other");
    const digest = (rows: readonly Row[]): unknown =>
      annotationsOf(named(rows, "dev-addons-keystone-auth-daemon-set"))["checksum/config"];
    assert.notEqual(digest(one), digest(other));
    assert.match(contentOf(one)["policy.json"] ?? "", /"projects":\["one"\]/);
    assert.match(scriptOf(one, "dev-control-plane-0-init"), /Node,RBAC,Webhook/);
  });
});
