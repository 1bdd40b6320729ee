import { strict as assert } from "node:assert";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import {
  controlPlaneMachine,
  runControlPlane,
  type controlPlaneValues,
} from "../../support/machine/control-plane.js";
import type { Outcome, Sandbox } from "../../support/machine/sandbox.js";
import {
  converge,
  flag,
  kubeadmCalls,
  staticPods,
} from "../../support/machine/static-pod-stubs.js";

describe("static pod patches on a control plane", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = staticPods();
  });
  afterEach(() => {
    machine.close();
  });
  const run = (over?: Partial<typeof controlPlaneValues>): Outcome => converge(machine, over);
  const manifest = (name: string): string =>
    machine.file(`etc/kubernetes/manifests/kube-${name}.yaml`) ?? "";
  const mode = (path: string): number => statSync(join(machine.root, path)).mode & 0o777;

  const directory = "etc/kubernetes/stackadm-patches";
  const patches = (...texts: string[]): { PATCHES: string } => ({
    PATCHES: texts
      .map((text, index) => {
        const name = `kube-scheduler000${String(index)}+strategic.json`;
        return `${name} ${Buffer.from(text).toString("base64")}`;
      })
      .join("\n"),
  });
  const restarts = ({ stderr }: Outcome): string[] =>
    [...stderr.matchAll(/: (\S+) starts with its new (.*)/g)].map(([, name, what]) =>
      [name, what].join(" "),
    );

  it("applies patches once, from files that only root can read", () => {
    run({ CONFIGURATION: flag("good") });
    const wanted = { CONFIGURATION: flag("good"), ...patches("one\n", "two\n") };
    const done = run(wanted);
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(restarts(done), ["kube-scheduler flags and patches"]);
    assert.match(manifest("scheduler"), /one\ntwo\n$/);
    assert.equal(mode(directory), 0o700);
    assert.equal(mode(`${directory}/kube-scheduler0000+strategic.json`), 0o600);
    const [, init] = parseAllDocuments(machine.file("document") ?? "").map(
      (each) => each.toJS() as { patches?: { directory: string } },
    );
    assert.match(init?.patches?.directory ?? "", /\/etc\/kubernetes\/stackadm-patches$/);
    assert.deepEqual(kubeadmCalls(run(wanted)), []);
  });

  it("keeps manual changes in the cluster's configuration", () => {
    const done = run(patches("one\n"));
    assert.equal(done.code, 0, done.stderr);
    assert.match(machine.file("document") ?? "", /name: v\n/);
  });

  it("removes one patch or all patches, and then makes no further kubeadm call", () => {
    run(patches("one\n", "two\n"));
    const one = run(patches("one\n"));
    assert.deepEqual(restarts(one), ["kube-scheduler flags and patches"]);
    assert.match(manifest("scheduler"), /one\n$/);
    const none = run();
    assert.deepEqual(restarts(none), ["kube-scheduler flags"]);
    assert.doesNotMatch(manifest("scheduler"), /one/);
    assert.ok(!existsSync(join(machine.root, directory)));
    assert.doesNotMatch(machine.file("document") ?? "", /^patches:/m);
    assert.deepEqual(kubeadmCalls(run()), []);
  });

  it("restores the former manifest if the component fails with a patch, and converges without patches", () => {
    const { code, stderr } = run(patches("broken\n"));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /CONFIGURATION_UNDONE\] kube-scheduler on dev-control-plane-0 does not come up with its new flags and patches and runs with its former ones again; it said: /,
    );
    assert.equal(manifest("scheduler"), "former\n");
    const back = run();
    assert.equal(back.code, 0, back.stderr);
    assert.equal(kubeadmCalls(back).length, 4, "what has begun ends");
    assert.deepEqual(kubeadmCalls(run()), []);
  });

  it("keeps the former manifest if kubeadm rejects a patch, and reports kubeadm's error", () => {
    machine.stub(
      "kubeadm",
      'case "$*" in *scheduler*) echo "error: could not apply the patch"; exit 1 ;; esac',
    );
    const { code, stderr } = run(patches("x\n"));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /reason: kubeadm did not write the manifest of kube-scheduler: could not apply the patch\n$/,
    );
    assert.equal(manifest("scheduler"), "former\n");
  });

  it("restores the former manifest of an interrupted run, and then applies the patches", () => {
    machine.put("etc/kubernetes/manifests/kube-scheduler.yaml", "broken\n");
    machine.put("etc/kubernetes/stackadm-former/kube-scheduler.yaml", "former\n");
    machine.put("var/lib/stackadm/kept-patches", "not finished");
    machine.put(`${directory}/kube-scheduler0001+json.json`, "stray");
    const done = run(patches("one\n"));
    assert.equal(done.code, 0, done.stderr);
    assert.match(manifest("scheduler"), /one\n$/);
    assert.equal(machine.file(`${directory}/kube-scheduler0001+json.json`), undefined);
  });

  it("records the patches of an interrupted kubeadm init, so that a later run can remove the patches", () => {
    const fresh = controlPlaneMachine();
    fresh.stub("systemd-run", "exit 1");
    runControlPlane(fresh, patches("one\n"));
    assert.equal(fresh.file("var/lib/stackadm/kept-patches"), "not finished");
    assert.notEqual(fresh.file(`${directory}/kube-scheduler0000+strategic.json`), undefined);
    fresh.close();
  });
});
