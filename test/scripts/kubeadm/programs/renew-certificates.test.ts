import { strict as assert } from "node:assert";
import { chmodSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { renewCertificatesProgram } from "../../../../components/kubeadm/node-scripts.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

const day = 86_400_000;
const components = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const home = "etc/kubernetes";
const former = `${home}/stackadm-former-certificates`;
const leaves = [
  ...["apiserver", "apiserver-kubelet-client", "apiserver-etcd-client", "front-proxy-client"],
  ...["etcd/server", "etcd/peer", "etcd/healthcheck-client"],
].map((name) => `pki/${name}.crt`);
const kubeconfigs = ["admin.conf", "controller-manager.conf", "scheduler.conf"];

/** Returns openssl's output for a certificate that is `past` days old and valid for `left` days. */
const life = (past: number, left: number): string => {
  const at = (days: number) => new Date(Date.now() + days * day).toUTCString();
  return `notBefore=${at(-past)}\nnotAfter=${at(left)}\n`;
};
const inKubeconfig = (certificate: string): string =>
  `users:\n- user:\n    client-certificate-data: ${Buffer.from(certificate).toString("base64")}\n`;

const stubs = {
  hostname: "echo machine",
  cp: 'exec /bin/cp "$@"',
  curl: "printf ok",
  // A certificate file contains openssl's output for the certificate.
  openssl: "cat",
  kubeadm: 'cp -a "$root/new/." /etc/kubernetes/',
  // kubelet restarts a stopped container. A broken component only starts with its former
  // certificates.
  crictl: [
    'name=$(echo "$*" | sed "s/.*\\^//; s/\\\\$.*//")',
    'case "$*" in',
    'ps*) if [ -e "$root/broken-$name" ] && ! cmp -s /etc/kubernetes/pki/apiserver.crt "$root/former"; then exit 0; fi',
    '  cat "$root/containers/$name" ;;',
    'stop*) for id; do :; done; echo "$id-again" >"$root/containers/${id%%-[0-9]*}" ;;',
    "esac",
  ].join("\n"),
  kubectl: [
    'case "$*" in',
    "*readyz*) printf ok ;;",
    '*"get pods"*) cat "$root/pods" ;;',
    '*annotate*) [ ! -e "$root/silent" ] ;;',
    "esac",
  ].join("\n"),
};

/** Returns a control plane whose certificates are all valid for `left` more days of one year. */
function controlPlane(left: number): Sandbox {
  const machine = new Sandbox(stubs);
  for (const [folder, certificate] of [
    [home, life(365 - left, left)],
    ["new", life(0, 365)],
  ] as const) {
    for (const file of leaves) machine.put(`${folder}/${file}`, certificate);
    for (const file of kubeconfigs) machine.put(`${folder}/${file}`, inKubeconfig(certificate));
  }
  for (const file of ["ca", "front-proxy-ca", "etcd/ca"])
    machine.put(`${home}/pki/${file}.crt`, life(365 - left, 3650));
  for (const name of components) {
    machine.put(`containers/${name}`, `${name}-1\n`);
    machine.put(`${home}/manifests/${name}.yaml`, "host: 127.0.0.1\n");
  }
  machine.put("former", machine.file(`${home}/pki/apiserver.crt`) ?? "");
  machine.put("pods", "True\nTrue\n");
  machine.put("var/lib/stackadm/init.done");
  return machine;
}

describe("renew-certificates.sh", () => {
  let machine: Sandbox;
  afterEach(() => {
    machine.close();
  });
  /** Runs the script with shorter waits. */
  const run = (verb = "renew"): Outcome =>
    machine.execute(
      renewCertificatesProgram.replace(
        "stable_seconds=5 start_seconds=180",
        "stable_seconds=0 start_seconds=1",
      ),
      verb,
    );
  const stopped = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => /^crictl stop .* (\S+)$/.exec(call)?.[1] ?? []);
  const said = ({ calls }: Outcome): string =>
    calls.find((call) => call.startsWith("kubectl annotate")) ?? "";
  const isSigned = ({ calls }: Outcome): boolean => calls.includes("kubeadm certs renew all");
  const apiServer = (): string | undefined => machine.file(`${home}/pki/apiserver.crt`);

  it("keeps certificates with more than a third of their lifetime left, and records the next expiry", () => {
    machine = controlPlane(130);
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.ok(!isSigned(done));
    assert.deepEqual(stopped(done), []);
    const [, by = "", end = ""] =
      /annotate node machine --overwrite stackadm\.io\/certificates=(\S+Z) (\S+Z) admin\.conf$/.exec(
        said(done),
      ) ?? [];
    assert.equal(Math.round((Date.parse(end) - Date.now()) / day), 130);
    assert.equal(Math.round((Date.parse(end) - Date.parse(by)) / day), 61);
  });

  it("renews all certificates if one has less left, and restarts each component except etcd", () => {
    machine = controlPlane(130);
    machine.put(`${home}/pki/front-proxy-client.crt`, life(245, 120));
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.ok(isSigned(done));
    assert.deepEqual(
      stopped(done),
      components.map((name) => `${name}-1`),
    );
    assert.equal(apiServer(), machine.file("new/pki/apiserver.crt"));
    assert.equal(machine.file(`${former}/admin.conf`), undefined);
    assert.match(said(done), /Z admin\.conf$/);
    assert.deepEqual(stopped(run()), [], "once");
  });

  it("checks the certificates in kubeconfigs", () => {
    machine = controlPlane(200);
    machine.put(`${home}/scheduler.conf`, inKubeconfig(life(265, 100)));
    assert.ok(isSigned(run()));
  });

  it("renews certificates of any age on `now`", () => {
    machine = controlPlane(360);
    assert.equal(stopped(run("now")).length, 3);
  });

  it("waits while a control plane component is not healthy, until the expiry is near", () => {
    machine = controlPlane(100);
    machine.put("pods", "True\nFalse\n");
    const waiting = run();
    assert.equal(waiting.code, 1);
    assert.match(waiting.stderr, /not all of the control plane is well, so machine keeps its/);
    assert.ok(!isSigned(waiting));
    machine.close();
    machine = controlPlane(50);
    machine.put("pods", "True\nFalse\n");
    assert.ok(isSigned(run()));
  });

  for (const name of components)
    it(`restores the former certificates if ${name} fails with the new ones`, () => {
      machine = controlPlane(100);
      machine.put(`broken-${name}`);
      const { code, stderr, calls } = run();
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`${name} does not come up with its new certificates; machine has its former`),
      );
      assert.equal(apiServer(), machine.file("former"));
      assert.equal(machine.file(`${former}/admin.conf`), undefined);
      // Components that had started with the new certificates restart.
      const again = stopped({ code, stderr, calls, stdout: "" }).map((id) => id.split("-1")[0]);
      const begun = components.slice(0, components.indexOf(name) + 1);
      assert.deepEqual([...new Set(again)], begun);
    });

  it("retries a failed renewal after a day, or immediately on `now`", () => {
    machine = controlPlane(100);
    machine.put("broken-kube-apiserver");
    run();
    rmSync(join(machine.root, "broken-kube-apiserver"));
    const soon = run();
    assert.ok(!isSigned(soon));
    assert.match(said(soon), /Z admin\.conf$/);
    const yesterday = new Date(Date.now() - day - 60_000);
    utimesSync(join(machine.root, "var/lib/stackadm/certificates.failed"), yesterday, yesterday);
    assert.ok(isSigned(run()));
    assert.equal(machine.file("var/lib/stackadm/certificates.failed"), undefined);
    machine.put("var/lib/stackadm/certificates.failed");
    assert.ok(isSigned(run("now")));
  }).timeout(180_000);

  it("keeps the new certificates after the former ones expired, even if a component does not start", () => {
    machine = controlPlane(-1);
    machine.put("broken-kube-apiserver");
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.equal(apiServer(), machine.file("new/pki/apiserver.crt"));
  });

  it("restarts no component if kubeadm fails or signs no newer certificate", () => {
    for (const body of ["rm -f /etc/kubernetes/pki/apiserver.crt; exit 1", "exit 0"]) {
      machine = controlPlane(100);
      machine.stub("kubeadm", body);
      const done = run();
      assert.equal(done.code, 1, body);
      assert.deepEqual(stopped(done), []);
      assert.equal(apiServer(), machine.file("former"));
      machine.close();
    }
    machine = controlPlane(100);
  });

  it("skips certificates that end with their CA, and records the CA's expiry", () => {
    machine = controlPlane(100);
    for (const file of ["ca", "front-proxy-ca", "etcd/ca"])
      machine.put(`${home}/pki/${file}.crt`, life(3600, 99));
    const done = run();
    assert.ok(!isSigned(done));
    assert.match(said(done), /Z pki\/ca\.crt$/);
  });

  it("never renews etcd's own CA and client certificates, and records their expiry", () => {
    machine = controlPlane(300);
    machine.put(`${home}/etcd/ca.crt`, life(3600, 100));
    machine.put(`${home}/etcd/client.crt`, life(3600, 99));
    const done = run();
    assert.ok(!isSigned(done));
    assert.match(said(done), /Z etcd\/client\.crt$/);
  });

  it("restores the former certificates of an interrupted renewal on `back`", () => {
    machine = controlPlane(200);
    machine.put(`${former}/pki/apiserver.crt`, "FORMER");
    const mode = (folder: string): number => statSync(join(machine.root, folder)).mode & 0o777;
    const before = mode(home);
    chmodSync(join(machine.root, former), 0o700);
    assert.equal(run("back").code, 0);
    assert.equal(mode(home), before);
    assert.equal(apiServer(), "FORMER");
    assert.equal(machine.file(`${former}/pki/apiserver.crt`), undefined);
    assert.equal(run("back").code, 0, "nothing to do");
  });

  it("fails if the API refuses the record, if no certificate exists, or for another subcommand", () => {
    machine = controlPlane(200);
    machine.put("silent");
    assert.match(run().stderr, /does not take when its certificates end/);
    rmSync(join(machine.root, home), { recursive: true });
    assert.match(run().stderr, /there are no certificates in/);
    assert.equal(run("other").code, 64);
  });
});
