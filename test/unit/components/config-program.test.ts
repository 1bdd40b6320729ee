import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { mergeDefaults, choosePublicKey } from "../../../components/schema/merge-defaults.js";
import { getOperatorContext, readConfig } from "../../../config.js";
import { fakeProject, startFakeCloud } from "../../support/cloud/fake-openstack.js";
import { smallest } from "../../support/config/spec.js";

describe("stack configuration", () => {
  let directory = "";
  const before = process.env["STACKADM_SITE"];
  const use = (cluster: unknown, site?: string): void => {
    const key = "stackadm:cluster";
    pulumi.runtime.setAllConfig(cluster === undefined ? {} : { [key]: JSON.stringify(cluster) });
    delete process.env["STACKADM_SITE"];
    if (site === undefined) return;
    const file = join(directory, "site.yaml");
    writeFileSync(file, site);
    process.env["STACKADM_SITE"] = file;
  };
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-config-"));
    await pulumi.runtime.setMocks(
      { newResource: () => ({ id: "", state: {} }), call: () => ({}) },
      "stackadm",
      "staging",
    );
  });
  afterEach(() => {
    pulumi.runtime.setAllConfig({});
    rmSync(directory, { recursive: true });
    if (before === undefined) delete process.env["STACKADM_SITE"];
    else process.env["STACKADM_SITE"] = before;
  });

  it("names the cluster after the stack by default", async () => {
    const { name, ...unnamed } = smallest;
    use(unnamed);
    assert.equal((await readConfig()).name, "staging");
    use({ ...unnamed, name });
    assert.equal((await readConfig()).name, "dev");
  });

  it("overrides the site's defaults key by key", async () => {
    use(
      { ...smallest, kubernetes: { registry: { plainHttp: false } } },
      "kubernetes: {registry: {prefix: mirror.example, plainHttp: true}}\nloadBalancer: {provider: ovn}\n",
    );
    const { kubernetes, loadBalancer } = await readConfig();
    assert.deepEqual(kubernetes.registry, { prefix: "mirror.example", plainHttp: false });
    assert.equal(loadBalancer.provider, "ovn");
  });

  it("replaces a list of the site instead of appending", async () => {
    use({ ...smallest, zones: ["b"] }, "zones: [a, c]\n");
    assert.deepEqual((await readConfig()).zones, ["b"]);
  });

  it("is refused with the file's name and all problems", async () => {
    use({ ...smallest, image: "", samples: "yes" });
    await assert.rejects(readConfig, (error: Error) => {
      assert.ok(pulumi.RunError.isInstance(error));
      assert.match(error.message, /^\[INVALID_CONFIG\] Pulumi\.staging\.yaml is not valid:\n/);
      assert.match(error.message, /\n {2}cluster\.image: .*\n {2}cluster\.samples: /);
      return true;
    });
  });

  it("requires a peer's password to be encrypted", async () => {
    const peers = [{ address: "10.0.0.1", asn: 1, password: "CANARY" }];
    const podNetwork = { kind: "kube-router", peers } as const;
    use({ ...smallest, podNetwork });
    await assert.rejects(readConfig, (error: Error) => {
      assert.match(error.message, /cluster\.podNetwork\.peers\[0\]\.password: is not encrypted/);
      assert.doesNotMatch(error.message, /CANARY/);
      return true;
    });
    const key = "stackadm:cluster";
    pulumi.runtime.setAllConfig({ [key]: JSON.stringify({ ...smallest, podNetwork }) }, [key]);
    assert.equal((await readConfig()).podNetwork.kind, "kube-router");
  });

  for (const [key, credential] of Object.entries({
    secret: { id: "an-id", secret: "CANARY" },
    password: { username: "shop", password: "CANARY" },
  }))
    it(`requires the ${key} of a credential to be encrypted`, async () => {
      use({ ...smallest, credential });
      await assert.rejects(readConfig, (error: Error) => {
        const sentence = `cluster.credential.${key}: is not encrypted; write it with`;
        assert.ok(error.message.includes(sentence), error.message);
        assert.doesNotMatch(error.message, /CANARY/);
        return true;
      });
      const all = "stackadm:cluster";
      pulumi.runtime.setAllConfig({ [all]: JSON.stringify({ ...smallest, credential }) }, [all]);
      assert.deepEqual((await readConfig()).credential, credential);
    });

  it("is refused if missing, with what to write", async () => {
    use(undefined);
    await assert.rejects(readConfig, /cluster\.image: is missing/);
  });

  it("is refused if the site's file is unreadable", async () => {
    use(smallest);
    process.env["STACKADM_SITE"] = join(directory, "none.yaml");
    await assert.rejects(readConfig, /STACKADM_SITE: .*none\.yaml.*; name a readable YAML file/);
  });

  it("is refused if the site's file has another format, with the file's name", async () => {
    for (const text of ["root:x:0:0:root", "- a\n- b\n", "a: [1"]) {
      use(smallest, text);
      await assert.rejects(
        readConfig,
        /STACKADM_SITE: .*; name a readable YAML file, or unset it/s,
      );
    }
  });

  it("works without a site file and with an empty one", async () => {
    use(smallest, "");
    assert.equal((await readConfig()).kubernetes.registry.prefix, "registry.k8s.io");
  });

  describe("mergeDefaults", () => {
    const json = fc.jsonValue().filter((any) => any !== null);
    const same = (one: unknown, other: unknown): boolean =>
      JSON.stringify(one) === JSON.stringify(other);

    it("returns the other side if one side is empty", () => {
      fc.assert(
        fc.property(
          json,
          (any) =>
            same(mergeDefaults(any, undefined), any) && same(mergeDefaults(undefined, any), any),
        ),
      );
    });

    it("prefers the upper value", () => {
      fc.assert(
        fc.property(fc.string(), json, json, (key, under, over) => {
          if (typeof under === "object" || typeof over === "object" || key === "__proto__") return;
          assert.deepEqual(mergeDefaults({ [key]: under, other: 1 }, { [key]: over }), {
            [key]: under,
            other: 1,
            [key]: over,
          });
        }),
      );
    });

    it("keeps false, zero and empty strings", () => {
      assert.deepEqual(mergeDefaults({ a: true, b: 1, c: "x" }, { a: false, b: 0, c: "" }), {
        a: false,
        b: 0,
        c: "",
      });
    });
  });

  describe("choosePublicKey", () => {
    it("prefers an ed25519 key of the agent, and omits its comment", () => {
      const keys = ["ssh-rsa AAAAR me@here", "ssh-ed25519 AAAAE me@here"];
      assert.equal(choosePublicKey(keys), "ssh-ed25519 AAAAE");
    });

    it("falls back to the first key, and returns none without keys", () => {
      assert.equal(choosePublicKey(["ssh-rsa AAAAR a", "ssh-rsa AAAAS b"]), "ssh-rsa AAAAR");
      assert.equal(choosePublicKey([]), undefined);
    });
  });

  describe("getOperatorContext", () => {
    const operator = (settings: Record<string, string>, secret: readonly string[] = []) => {
      pulumi.runtime.setAllConfig(settings, [...secret]);
      return getOperatorContext();
    };
    const variables = ["OS_CLOUD", "OS_AUTH_URL", "OS_PASSWORD", "OS_CLIENT_CONFIG_FILE"] as const;
    const kept = variables.map((name) => [name, process.env[name]] as const);
    beforeEach(() => {
      for (const name of variables) Reflect.deleteProperty(process.env, name);
    });
    after(() => {
      for (const [name, value] of kept)
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
    });

    it("returns the ssh-agent of the environment", () => {
      assert.equal(operator({}).agentSocket, process.env["SSH_AUTH_SOCK"]);
    });

    it("signs in to the cloud of the stack's configuration without any variable", async () => {
      const cloud = await startFakeCloud();
      try {
        const env = cloud.environment();
        const settings = {
          "openstack:authUrl": env["OS_AUTH_URL"] ?? "",
          "openstack:userName": "demo",
          "openstack:password": "correct horse",
          "openstack:tenantName": "demo",
          "openstack:region": "one",
          "openstack:cacertFile": join(directory, "ca.pem"),
        };
        writeFileSync(join(directory, "ca.pem"), "-----BEGIN CERTIFICATE-----\n");
        const { connect, caCertificate } = operator(settings, ["openstack:password"]);
        assert.equal((await connect()).projectId, fakeProject);
        assert.equal(caCertificate, "-----BEGIN CERTIFICATE-----\n");
      } finally {
        await cloud.close();
      }
    });

    it("refuses a password in plain text, without the password in the message", () => {
      const settings = { "openstack:authUrl": "http://k", "openstack:password": "correct horse" };
      assert.throws(
        () => operator(settings),
        /^Error: \[CLOUD_NOT_CONFIGURED\] Pulumi\.staging\.yaml: openstack:password must be encrypted(?!.*horse)/,
      );
    });

    it("refuses a variable that the provider would combine with the stack's cloud, and names both", () => {
      const file = join(directory, "clouds.yaml");
      writeFileSync(
        file,
        "clouds: {prod: {auth: {auth_url: 'http://k', application_credential_id: i, application_credential_secret: s}}}",
      );
      process.env["OS_CLIENT_CONFIG_FILE"] = file;
      operator({ "openstack:cloud": "prod" });
      process.env["OS_PASSWORD"] = "of another cloud";
      assert.throws(
        () => operator({ "openstack:cloud": "prod" }),
        /combine OS_PASSWORD of the environment with the login of cloud 'prod' \(openstack:cloud in Pulumi\.staging\.yaml\)/,
      );
    });
  });
});
