import { strict as assert } from "node:assert";
import { statSync } from "node:fs";
import { join } from "node:path";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  getPreparationValues,
  preparationScripts,
} from "../../../../components/machine/preparation.js";
import { renderProxyFiles } from "../../../../components/machine/proxy-documents.js";
import { renderRegistryLogins } from "../../../../components/machine/registry-documents.js";
import { freshDebian } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";
import { smallest } from "../../../support/config/spec.js";

const ca = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
const password = "CANARY&@PAUSE@$x";
const url = "http://me:CANARY@proxy.example:3128";

const specOf = (registries: object = {}) => {
  const proxy = { https: url, noProxy: ["registry.example.org"] };
  const result = parseClusterSpec({
    ...smallest,
    kubernetes: { registries },
    network: { proxy },
  });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};
const values = (registries: object = {}): Record<string, string> => ({
  ...getPreparationValues(specOf(registries), "worker"),
  VOLUMES: "",
  ADMIN_ADDRESS: "",
  REGISTRY_AUTH: "",
  PROXY: "",
  CLOUD_AUTHORITY: "",
});
const signedIn = renderRegistryLogins([{ host: "r.example", user: "me", password }]);
const proxied = renderProxyFiles(specOf(), { http: url, https: url });

/** Returns whether a call downloads something, instead of reading the time. */
const downloads = (call: string): boolean => call.startsWith("curl ") && !call.includes(" --head ");

describe("the download settings of prepare.sh", () => {
  let prepared: Sandbox;
  let restore: () => void;
  let machine: Sandbox;
  /** Replaces the prepared machine by a new one. */
  const fresh = (): void => {
    machine = new Sandbox(freshDebian);
  };
  const run = (over: Record<string, string> = {}, registries: object = {}): Outcome => {
    const done = machine.run(preparationScripts, { ...values(registries), ...over });
    assert.equal(done.code, 0, done.stderr);
    for (const shown of [done.stdout, done.stderr, ...done.calls])
      assert.doesNotMatch(shown, /CANARY/);
    return done;
  };
  const restarts = ({ calls }: Outcome): number =>
    calls.filter((call) => call === "systemctl restart containerd").length;
  const mode = (path: string): string =>
    (statSync(join(machine.root, path)).mode & 0o777).toString(8);
  before(() => {
    fresh();
    run();
    prepared = machine;
    restore = prepared.keep();
  });
  beforeEach(() => {
    machine = prepared;
    restore();
  });
  afterEach(() => {
    if (machine !== prepared) machine.close();
  });
  after(() => {
    prepared.close();
  });

  const certificates = "etc/containerd/certs.d";
  const config = "etc/containerd/config.toml";

  describe("registries", () => {
    it("writes registry files without restarting containerd, and deletes files of unset registries", () => {
      machine.put(`${certificates}/by.hand/hosts.toml`, "mine\n");
      const both = { "a.example": { ca }, "docker.io": { mirrors: ["https://a.example"] } };
      assert.equal(restarts(run({}, both)), 0);
      assert.equal(machine.file(`${certificates}/a.example/ca.crt`), `${ca}\n`);
      assert.match(machine.file(`${certificates}/docker.io/hosts.toml`) ?? "", /a\.example/);
      run({}, { "docker.io": { mirrors: ["https://b.example"] } });
      assert.equal(machine.file(`${certificates}/a.example/ca.crt`), undefined);
      assert.equal(machine.file(`${certificates}/a.example/hosts.toml`), undefined);
      assert.match(machine.file(`${certificates}/docker.io/hosts.toml`) ?? "", /b\.example/);
      run();
      assert.equal(machine.file(`${certificates}/docker.io/hosts.toml`), undefined);
      assert.equal(machine.file(`${certificates}/by.hand/hosts.toml`), "mine\n");
    });

    it("keeps a registry whose name ends with the name of a deleted registry", () => {
      run({}, { "a.example": { ca }, "x.a.example": { ca } });
      run({}, { "x.a.example": { ca } });
      assert.equal(machine.file(`${certificates}/x.a.example/ca.crt`), `${ca}\n`);
      assert.equal(machine.file(`${certificates}/a.example/ca.crt`), undefined);
    });

    it("stores passwords in a root-only file, and restarts containerd once after a change", () => {
      assert.equal(mode(config), "644");
      const done = run({ REGISTRY_AUTH: signedIn });
      assert.equal(restarts(done), 1);
      assert.ok((machine.file(config) ?? "").includes(signedIn));
      assert.match(machine.file(config) ?? "", /sandbox = "r\/pause:3\.10"/);
      assert.equal(mode(config), "600");
      assert.equal(restarts(run({ REGISTRY_AUTH: signedIn })), 0);
      assert.equal(restarts(run()), 1);
      assert.doesNotMatch(machine.file(config) ?? "", /CANARY|auth/);
      assert.equal(mode(config), "644");
    });
  });

  describe("the cloud's CA certificate", () => {
    const file = "usr/local/share/ca-certificates/stackadm-cloud.crt";
    const update = "update-ca-certificates";
    const updates = ({ calls }: Outcome): number =>
      calls.filter((call) => call.trim() === update).length;

    it("is trusted before the first download", () => {
      fresh();
      const { calls } = run({ CLOUD_AUTHORITY: ca });
      assert.equal(machine.file(file), `${ca}\n`);
      const trusted = calls.findIndex((call) => call.trim() === update);
      assert.ok(trusted >= 0, calls.join("\n"));
      assert.ok(trusted < calls.findIndex(downloads));
    });

    it("is replaced by another certificate, and removed if the cloud has none", () => {
      run({ CLOUD_AUTHORITY: ca });
      assert.equal(updates(run({ CLOUD_AUTHORITY: "OTHER" })), 1);
      assert.equal(machine.file(file), "OTHER\n");
      assert.equal(updates(run()), 1);
      assert.equal(machine.file(file), undefined);
      assert.equal(updates(run()), 0, "machines of other clouds are left as they are");
    });

    it("is trusted in the next run if a run was interrupted before the update", () => {
      machine.put(file, `${ca}\n`);
      assert.equal(updates(run({ CLOUD_AUTHORITY: ca })), 1);
    });

    it("is removed in the next run if a removal was interrupted or failed", () => {
      run({ CLOUD_AUTHORITY: ca });
      machine.stub(update, "exit 1");
      const { code, stderr } = machine.run(preparationScripts, values());
      assert.notEqual(code, 0);
      assert.match(stderr, /^reason: machine cannot forget the cloud's CA certificate/m);
      assert.equal(machine.file(file), undefined);
      machine.stub(update, "exit 0");
      assert.equal(updates(run()), 1);
      assert.equal(updates(run()), 0);
      assert.equal(machine.file(`${file}.withdrawn`), undefined);
    });

    it("causes an error if the machine cannot trust the certificate", () => {
      machine.stub(update, "exit 1");
      const { code, stderr } = machine.run(preparationScripts, {
        ...values(),
        CLOUD_AUTHORITY: ca,
      });
      assert.notEqual(code, 0);
      assert.match(stderr, /^reason: machine cannot trust the cloud's CA certificate/m);
    });
  });

  describe("a proxy", () => {
    const apt = "etc/apt/apt.conf.d/95stackadm-proxy";
    const unit = "etc/systemd/system/containerd.service.d/20-stackadm-proxy.conf";
    const environment = "var/lib/stackadm/proxy/environment";
    const curls = ["curl-http", "curl-https"].map((name) => `var/lib/stackadm/proxy/${name}`);

    it("is configured for apt, curl and containerd in root-only files, and restarts containerd once", () => {
      const done = run({ PROXY: proxied });
      assert.match(machine.file(apt) ?? "", /^Acquire::https::Proxy "http:\/\/me:CANARY@/m);
      assert.match(machine.file(environment) ?? "", /^HTTPS_PROXY='http:\/\/me:CANARY@/m);
      assert.match(
        machine.file(unit) ?? "",
        /^\[Service\]\nEnvironmentFile=\S*\/proxy\/environment\n$/,
      );
      for (const path of [apt, environment, ...curls]) assert.equal(mode(path), "600", path);
      assert.equal(restarts(done), 1);
      const order = (wanted: string): number => done.calls.indexOf(wanted);
      assert.ok(order("systemctl daemon-reload") < order("systemctl restart containerd"));
      assert.equal(restarts(run({ PROXY: proxied })), 0);
    });

    it("is used for the first download of the repository key", () => {
      fresh();
      const key = run({ PROXY: proxied }).calls.find(downloads) ?? "";
      assert.match(key, / --config \S+\/proxy\/curl-https https:\/\/\S+Release\.key$/);
    });

    it("restarts containerd after a change or a removal, and leaves no file after a removal", () => {
      run({ PROXY: proxied });
      const other = renderProxyFiles(specOf(), {
        http: undefined,
        https: "http://other.example:1",
      });
      assert.equal(restarts(run({ PROXY: other })), 1);
      assert.doesNotMatch(machine.file(apt) ?? "", /CANARY/);
      const done = run();
      assert.equal(restarts(done), 1);
      assert.ok(done.calls.includes("systemctl daemon-reload"));
      for (const path of [apt, unit, environment, ...curls])
        assert.equal(machine.file(path), undefined, path);
      assert.equal(restarts(run()), 0);
    });

    it("is not configured for kubeadm, kubelet or pods", () => {
      run({ PROXY: proxied });
      for (const path of ["etc/environment", "etc/default/kubelet", "etc/profile.d/proxy.sh"])
        assert.equal(machine.file(path), undefined, path);
    });
  });
});
