import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { Failure } from "../../../base/failures/failure.js";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterComponentArgs } from "../../../components/cluster-arguments.js";
import { computeChecksum } from "../../../components/pulumi/checksum.js";
import type { LocalContext } from "../../../components/lookup/local-context.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";
import { isSecret, plain } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { annotationsOf, named } from "./addons-example.js";

const build = (over: Partial<ClusterComponentArgs> = {}): Promise<readonly Row[]> =>
  clusterRows({ ...smallest, ...over });
const stringData = (rows: readonly Row[]): Readonly<Record<string, unknown>> => {
  const data = named(rows, "dev-addons-cloud-config-secret").inputs["stringData"];
  return (isSecret(data) ? (data as { value: object }).value : data) as Record<string, unknown>;
};
const clear = (value: unknown): string => JSON.stringify(value);

const withoutCloud: LocalContext = { connect: () => Promise.reject(new Failure("FAILED", "no")) };
const clientCertificate = { certificate: "CERT", privateKey: "CANARY" };

type Credential = NonNullable<ClusterComponentArgs["credential"]>;
const authScope = "openstack:identity/getAuthScope:getAuthScope";

describe("graph: the cluster's access to the cloud", () => {
  it("uses a supplied application credential and creates none", async () => {
    for (const secret of ["CANARY", pulumi.secret("CANARY")]) {
      const rows = await build({ credential: { id: "supplied", secret } });
      assert.ok(!rows.some(({ type }) => type.includes("applicationCredential")));
      const holders = rows.filter(({ inputs }) => clear(inputs).includes("CANARY"));
      assert.deepEqual(
        holders.map(({ name }) => name),
        ["dev-addons-cloud-config-secret"],
      );
      const conf = stringData(rows)["cloud.conf"];
      assert.ok(isSecret(conf) || isSecret(holders[0]?.inputs["stringData"]));
      assert.match(clear(conf), /application-credential-id = \\"supplied\\"/);
    }
  });

  it("uses a supplied user in the cluster's project and creates no credential", async () => {
    const names = [
      [{ username: "shop" }, /username = \\"shop\\"\\nuser-domain-name = \\"Default\\"/],
      [{ userId: "5d6a" }, /user-id = \\"5d6a\\"/],
    ] as const;
    for (const [name, shown] of names) {
      const rows = await build({ credential: { ...name, password: pulumi.secret("CANARY") } });
      assert.ok(!rows.some(({ type }) => type.includes("applicationCredential")));
      const holders = rows.filter(({ inputs }) => clear(inputs).includes("CANARY"));
      assert.deepEqual(
        holders.map(({ name: holder }) => holder),
        ["dev-addons-cloud-config-secret"],
      );
      const conf = stringData(rows)["cloud.conf"];
      assert.ok(isSecret(conf) || isSecret(holders[0]?.inputs["stringData"]));
      for (const part of [shown, /password = \\"CANARY\\"/, /tenant-id = \\"project-id\\"/])
        assert.match(clear(conf), part);
      assert.doesNotMatch(clear(conf), /application-credential/);
    }
  });

  it("restarts controllers for a new password, by a digest that resists guessing", async () => {
    const digests = async (password: string): Promise<unknown[]> => {
      const rows = await build({ credential: { username: "shop", password } });
      const conf = plain(stringData(rows)["cloud.conf"]);
      const found = ["cloud-controller-daemon-set", "storage-controller"].map(
        (name) => annotationsOf(named(rows, `dev-addons-${name}`))["checksum/config"],
      );
      assert.ok(!found.includes(computeChecksum(conf, undefined)));
      return found;
    };
    const [one, other] = [await digests("one"), await digests("other")];
    one.forEach((digest, index) => {
      assert.match(String(digest), /^[0-9a-f]{64}$/);
      assert.notEqual(digest, other[index]);
    });
    assert.deepEqual(await digests("one"), one, "nothing to do the second time");
  });

  it("creates a new application credential for another generation or expiry", async () => {
    const type = "openstack:identity/applicationCredential:ApplicationCredential";
    const made = async (
      credential?: ClusterComponentArgs["credential"],
    ): Promise<readonly Row[]> => {
      const rows = (await build({ credential })).filter((row) => row.type === type);
      assert.equal(rows.length, 1);
      return rows;
    };
    const end = "2027-03-01T00:00:00Z";
    const found = [
      ...(await made()),
      ...(await made({ generation: 1 })),
      ...(await made({ generation: 1, expiresAt: end })),
    ];
    assert.deepEqual(
      found.map(({ name }) => name),
      ["", "-1", "-1-2027-03-01T00-00-00Z"].map((suffix) => `dev-credential-credential${suffix}`),
    );
    const names = new Set(found.map(({ inputs }) => plain(inputs["name"])));
    assert.equal(names.size, 3, "Keystone takes a name once");
    const descriptions = new Set(found.map(({ inputs }) => plain(inputs["description"])));
    assert.equal(descriptions.size, 1, "each says whose it is");
    assert.deepEqual(
      found.map(({ inputs }) => inputs["expiresAt"]),
      [undefined, undefined, end],
    );
  });

  it("creates a separate application credential for each set of access rules", async () => {
    const rule = { service: "key-manager", method: "GET", path: "/v1/containers/*" } as const;
    const made = async (over: Partial<ClusterComponentArgs>): Promise<Row> => {
      const type = "openstack:identity/applicationCredential:ApplicationCredential";
      const [row, ...more] = (await build(over)).filter((one) => one.type === type);
      assert.deepEqual(more, []);
      assert.ok(row);
      return row;
    };
    const of = (...accessRules: NonNullable<Credential["accessRules"]>) =>
      made({ credential: { accessRules } });
    const [none, all] = [await made({}), await of("controllers")];
    const [own, both] = [await of(rule), await of("controllers", rule)];
    assert.equal("accessRules" in none.inputs, false);
    assert.deepEqual(own.inputs["accessRules"], [rule]);
    const counts = [all, both].map(({ inputs }) => (inputs["accessRules"] as object[]).length);
    assert.equal(counts[1], (counts[0] ?? 0) + 1);
    const names = [none, own, all, both].map(({ name }) => name);
    assert.equal(new Set(names).size, 4);
    assert.match(own.name, /^dev-credential-credential-rules-[0-9a-f]{8}$/);
    assert.equal((await of(rule, "controllers")).name, both.name, "their order is nothing");
    const credential: Credential = { accessRules: ["controllers"] };
    const more = [
      await made({ credential, podNetwork: "cloud-routes" }),
      await made({
        credential,
        loadBalancer: { defaultTlsContainerRef: "https://k/v1/secrets/1" },
      }),
    ];
    assert.equal(new Set([all, ...more].map(({ name }) => name)).size, 3);
  });

  it("gives the application credential only named or required roles", async () => {
    const rolesOf = async (held: readonly string[], roles?: string[]): Promise<unknown> => {
      const scope = {
        ...cloudAnswers.lookups?.[authScope]?.({}),
        roles: held.map((roleName) => ({ roleId: roleName, roleName })),
      };
      const lookups = { ...cloudAnswers.lookups, [authScope]: () => scope };
      const program = () => new Cluster("dev", { ...smallest, credential: roles && { roles } });
      const rows = await graph(program, { ...cloudAnswers, lookups });
      return named(rows, "dev-credential-credential").inputs["roles"];
    };
    assert.deepEqual(await rolesOf(["admin", "_member_"]), ["_member_"]);
    assert.deepEqual(await rolesOf(["admin", "tenant", "lb"], ["tenant", "lb"]), ["tenant", "lb"]);
  });

  it("passes the operator's CA certificate to the controllers", async () => {
    const operator = { connect: () => Promise.reject(new Failure("FAILED", "no")) };
    const rows = await build({ operator: { ...operator, caCertificate: "PEM" } });
    assert.equal(stringData(rows)["ca.crt"], "PEM");
    assert.match(clear(stringData(rows)["cloud.conf"]), /ca-file/);
    assert.equal("ca.crt" in stringData(await build({ operator })), false);
  });

  it("passes the operator's client certificate to the controllers, with a secret key", async () => {
    const rows = await build({ operator: { ...withoutCloud, clientCertificate } });
    const holders = rows.filter(({ inputs }) => clear(inputs).includes("CANARY"));
    assert.deepEqual(
      holders.map(({ name }) => name),
      ["dev-addons-cloud-config-secret"],
    );
    const data = holders[0]?.inputs["stringData"];
    const { "client.crt": certificate, "client.key": key, "cloud.conf": conf } = stringData(rows);
    for (const part of [certificate, key]) assert.ok(isSecret(part) || isSecret(data));
    assert.deepEqual([plain(certificate), plain(key)], ["CERT", "CANARY"]);
    assert.match(
      plain(conf),
      /cert-file = "\/etc\/config\/client\.crt"\nkey-file = "\/etc\/config/,
    );
    const without = await build({ operator: withoutCloud });
    assert.deepEqual(Object.keys(stringData(without)), ["cloud.conf"]);
  });

  it("restarts the controllers after a change of a certificate", async () => {
    const digests = async (over: Partial<LocalContext>): Promise<unknown[]> => {
      const rows = await build({ operator: { ...withoutCloud, ...over } });
      return ["cloud-controller-daemon-set", "storage-controller"].map(
        (name) => annotationsOf(named(rows, `dev-addons-${name}`))["checksum/config"],
      );
    };
    const all = [
      ...[{}, { caCertificate: "PEM" }, { caCertificate: "OTHER" }, { clientCertificate }],
      { clientCertificate: { ...clientCertificate, certificate: "OTHER" } },
      { clientCertificate: { ...clientCertificate, privateKey: "OTHER" } },
    ];
    const found: unknown[][] = [];
    for (const one of all) found.push(await digests(one));
    for (const index of [0, 1]) {
      const seen = found.map((one) => String(one[index]));
      for (const digest of seen) assert.match(digest, /^[0-9a-f]{64}$/);
      assert.equal(new Set(seen).size, all.length);
    }
  });

  it("passes the CA certificate to each prepared machine, or an empty value", async () => {
    const operator = { connect: () => Promise.reject(new Failure("FAILED", "no")) };
    const written: Partial<ClusterComponentArgs> = {
      topology: "ha",
      etcd: { kind: "dedicated", flavor: "medium" },
    };
    const prepares = async (more: object): Promise<string[]> =>
      (await build({ ...written, operator: { ...operator, ...more } }))
        .filter(({ name }) => name.endsWith("-prepare"))
        .map(({ inputs }) => renderSentScript(inputs));
    const [own, none] = [await prepares({ caCertificate: "PEM\n" }), await prepares({})];
    assert.equal(own.length, 3 + 3 + 2);
    for (const stdin of own) assert.match(stdin, /^CLOUD_AUTHORITY='PEM'$/m);
    assert.equal(none.length, own.length);
    for (const stdin of none) assert.match(stdin, /^CLOUD_AUTHORITY=''$/m);
  });

  it("records only the presence of a certificate in the immutable values", async () => {
    const kept = async (more: Partial<LocalContext>): Promise<readonly unknown[]> => {
      const rows = await build({ operator: { ...withoutCloud, ...more } });
      const stdin = renderSentScript(named(rows, "dev-control-plane-0-init").inputs);
      assert.doesNotMatch(stdin, /operator\./);
      return Object.entries(named(rows, "dev-frozen").inputs["environment"] as object).filter(
        ([path]) => path.startsWith("operator."),
      );
    };
    for (const caCertificate of ["PEM", "OTHER"])
      assert.deepEqual(await kept({ caCertificate }), [["operator.caCertificate", "own"]]);
    assert.deepEqual(await kept({ clientCertificate }), [["operator.clientCertificate", "own"]]);
    assert.deepEqual(await kept({}), []);
  });

  it("omits the cloud controller and the kubelets' cloud provider if disabled", async () => {
    const rows = await build({ cloudController: { enabled: false } });
    assert.ok(!rows.some(({ name }) => name.includes("cloud-controller")));
    const scripts = rows.filter(({ name }) => /-(init|join)$/.test(name));
    assert.equal(scripts.length, 3);
    for (const { inputs } of scripts)
      assert.doesNotMatch(renderSentScript(inputs), /^KUBEADM_\w+='[^']*cloud-provider/m);
    const frozen = named(rows, "dev-frozen").inputs;
    assert.match(clear(frozen), /"cloudController\.enabled":"false"/);
    assert.doesNotMatch(clear(named(await build(), "dev-frozen").inputs), /cloudController/);
  });
});
