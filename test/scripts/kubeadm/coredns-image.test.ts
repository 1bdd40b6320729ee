import { strict as assert } from "node:assert";
import type { Outcome, Sandbox } from "../../support/machine/sandbox.js";
import { converge, staticPods } from "../../support/machine/static-pod-stubs.js";

const dns = "dns:\n  imageRepository: own.example/k8s\n  imageTag: v9\n";

/**
 * Stub of kubectl: a file holds CoreDNS's image, and kubeadm lists the image of the document's tag.
 */
const kubectl = [
  'case "$*" in',
  "*readyz*) printf ok ;;",
  "*namespace*) printf 'uid: the-uid\\nclusterName: dev\\n' ;;",
  '*kubeadm-config*) cat "$root/live" ;;',
  '*"set image"*) [ ! -e "$root/no-answer" ] || exit 1; all=$*; printf %s "${all##*coredns=}" >"$root/image" ;;',
  "*containers*) cat $root/image ;;",
  "*availableReplicas*) cat $root/available ;;",
  '*"rollout status"*) ! grep -q broken "$root/image" ;;',
  "esac",
].join("\n");
const kubeadm = [
  'case "$*" in',
  '"config images list --config"*) echo r/kube-proxy:v1; tag=$(sed -n "s/ *imageTag: //p" "$5"); echo "r/coredns:${tag:-v1}" ;;',
  '"init phase control-plane"*) cp "$root/former" "/etc/kubernetes/manifests/kube-$4.yaml" ;;',
  "esac",
].join("\n");

describe("the CoreDNS image of an existing cluster", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = staticPods();
    for (const [name, body] of Object.entries({ kubectl, kubeadm })) machine.stub(name, body);
    machine.put("live", "apiServer: {}\nclusterName: dev\ndns: {}\nscheduler: {}\n");
    machine.put("image", "r/coredns:v1");
    machine.put("available", "2");
    machine.put("former", "former\n");
  });
  afterEach(() => {
    machine.close();
  });
  const run = (CONFIGURATION: string, over: Parameters<typeof converge>[1] = {}): Outcome =>
    converge(machine, { CONFIGURATION, ...over });
  const image = (): string => machine.file("image") ?? "";
  const asked = ({ calls }: Outcome): string[] =>
    calls.filter((call) => /deployment coredns|images list|upload-config/.test(call));

  it("changes the CoreDNS deployment once, and then the cluster's configuration", () => {
    const done = run(dns);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(image(), "r/coredns:v9");
    assert.match(asked(done).at(-1) ?? "", /upload-config/);
    assert.match(
      machine.file("run/stackadm/configuration.yaml") ?? "",
      /^dns:\n {2}imageRepository: own/m,
    );
    assert.deepEqual(asked(run(dns)), []);
  });

  it("restores kubeadm's image if the user no longer sets an image", () => {
    run(dns);
    machine.put("live", `clusterName: dev\n${dns}`);
    const done = run("");
    assert.equal(done.code, 0, done.stderr);
    assert.equal(image(), "r/coredns:v1");
  });

  it("keeps a manually set image if only flags change", () => {
    machine.put("image", "by.hand/coredns:v3");
    const done = run('apiServer:\n  extraArgs:\n    - name: good\n      value: "1"\n');
    assert.equal(done.code, 0, done.stderr);
    assert.equal(image(), "by.hand/coredns:v3");
  });

  it("changes the image only on the machine that initialized the cluster", () => {
    assert.equal(run(dns, { KUBEADM_INIT: "" }).code, 0);
    assert.equal(image(), "r/coredns:v1");
  });

  it("restores the former image if CoreDNS fails with the new one, and reports the failure", () => {
    const { code, stderr, calls } = run(dns.replace("v9", "broken"));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: \[CONFIGURATION_UNDONE\] kubernetes\.images\.coreDns: CoreDNS does not come up with r\/coredns:broken and has r\/coredns:v1 again\n$/,
    );
    assert.equal(image(), "r/coredns:v1");
    assert.ok(!calls.some((call) => call.includes("upload-config")));
  });

  it("skips the wait for CoreDNS if CoreDNS never ran", () => {
    machine.put("available", "");
    assert.equal(run(dns.replace("v9", "broken")).code, 0);
  });

  it("fails if the cluster has no CoreDNS deployment", () => {
    machine.put("image", "");
    const { code, stderr } = run(dns);
    assert.equal(code, 1);
    assert.match(stderr, /kubernetes\.images\.coreDns: the cluster has no deployment coredns/);
  });
});
