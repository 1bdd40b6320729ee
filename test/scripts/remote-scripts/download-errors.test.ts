import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Sandbox } from "../../support/machine/sandbox.js";

const scripts = ["common.sh", "download-errors.sh"].map((name) =>
  readFileSync(join(__dirname, "../../../components/remote-scripts/scripts", name), "utf8"),
);

/** Errors of crictl 1.36.0 and 1.30, with the messages of containerd 2.4.2 about a registry. */
const fatal = (image: string, said: string): string =>
  `time="2026-11-27T20:15:29Z" level=fatal msg="pulling image: failed to pull and unpack image \\"${image}\\": failed to resolve reference \\"${image}\\": ${said}"`;
const older = (image: string, said: string): string =>
  `FATA[0001] pulling image: rpc error: code = Unknown desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${said}`;
const head = (host: string, status: string): string =>
  `unexpected status from HEAD request to https://${host}/v2/x/manifests/1: ${status}`;
const kubeRouter = "docker.io/cloudnativelabs/kube-router:v2.10.0";
const limited = head("registry-1.docker.io", "429 Too Many Requests");
const later =
  "run the same command again later, as that host limits what one address may fetch and machines behind one router share theirs";
const mirror = (host: string): string =>
  `write a mirror, or a user and a password, in kubernetes.registries["${host}"]`;

describe("the error message of an image pull", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });
  const fault = (image: string, said: string): string => {
    machine.stub("crictl", `cat <<'SAID'\n${said}\nSAID\nexit 1`);
    const body = `step_body() { pull_image 60 ${image} || die "no ${image}$(print_pull_error ${image})"; }`;
    const { stderr } = machine.run([...scripts, body, "run_step test step_body"], {});
    return stderr.trimEnd().split("\n").at(-1) ?? "";
  };

  it("contains the registry's limit and the setting for another registry", () => {
    for (const said of [fatal, older])
      assert.equal(
        fault(kubeRouter, said(kubeRouter, limited)),
        `reason: no ${kubeRouter}: ${limited}; ${later}, or ${mirror("docker.io")}`,
      );
  });

  it("contains the registry's answer, and names docker.io for an image without a registry", () => {
    const [private_, short] = ["harbor.example.org:8443/x:1", "library/x:1"];
    const refused = head("harbor.example.org:8443", "403 Forbidden");
    assert.equal(
      fault(private_, fatal(private_, refused)),
      `reason: no ${private_}: ${refused}; have it let these machines read, or ${mirror("harbor.example.org:8443")}`,
    );
    const unknown = `failed to do request: Head \\"https://x/v2/\\": tls: failed to verify certificate: x509: certificate signed by unknown authority`;
    assert.equal(
      fault(short, fatal(short, unknown)),
      `reason: no ${short}: ${unknown.replaceAll("\\", "")}; have the image trust the authority of what answers there, and look at the machine's clock, or ${mirror("docker.io")}`,
    );
  });

  it("reports a missing answer if crictl prints nothing", () => {
    assert.match(
      fault(kubeRouter, ""),
      /: no answer in time; let the machine reach it, .*, or write a mirror/,
    );
  });

  it("contains the setting for kubeadm's failed pulls, and not for other errors", () => {
    const kubeadm = (said: string): string => {
      const body = `step_body() {\ncat <<'SAID'\n${said}\nSAID\ndie "no$(print_kubeadm_error)"\n}`;
      const { stderr } = machine.run([...scripts, body, "run_step test step_body"], {});
      return stderr.trimEnd().split("\n").at(-1) ?? "";
    };
    const check = (said: string): string =>
      `\t[ERROR ImagePull]: failed to pull image registry.k8s.io/etcd:3.6.8-0: ${said}`;
    assert.equal(
      kubeadm(check(limited)),
      `reason: no: ${check(limited).trim()}; ${later}, or ${mirror("registry.k8s.io")}`,
    );
    const refused = `failed to resolve reference "r/kube-proxy:1": failed to do request: Head "https://r/v2/kube-proxy/manifests/1": dial tcp 192.0.2.1:443: connect: connection refused`;
    assert.match(kubeadm(check(refused)), /refused; let the machine reach it, by a router/);
    assert.equal(kubeadm("\t[ERROR Mem]: too little"), "reason: no: [ERROR Mem]: too little");
  });
});
