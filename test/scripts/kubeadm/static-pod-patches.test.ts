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

describe("kubeadm's patches on a control plane", () => {
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

  it("are files that only root reads, which kubeadm's document names, and are applied once", () => {
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

  it("alone leave what somebody wrote into the cluster's configuration by hand", () => {
    const done = run(patches("one\n"));
    assert.equal(done.code, 0, done.stderr);
    assert.match(machine.file("document") ?? "", /name: v\n/);
  });

  it("go again when they are taken away, one or all, and then nothing is asked again", () => {
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

  it("with which the component does not come up are taken back, also by the run that asks for none", () => {
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

  it("that kubeadm does not take leave the former manifest, and its reason", () => {
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

  it("of a run that was stopped in between are taken back first, and then come again", () => {
    machine.put("etc/kubernetes/manifests/kube-scheduler.yaml", "broken\n");
    machine.put("etc/kubernetes/stackadm-former/kube-scheduler.yaml", "former\n");
    machine.put("var/lib/stackadm/kept-patches", "not finished");
    machine.put(`${directory}/kube-scheduler0001+json.json`, "stray");
    const done = run(patches("one\n"));
    assert.equal(done.code, 0, done.stderr);
    assert.match(manifest("scheduler"), /one\n$/);
    assert.equal(machine.file(`${directory}/kube-scheduler0001+json.json`), undefined);
  });

  it("with which a first kubeadm init was stopped count as begun, so that they go again when they are taken back by then", () => {
    const fresh = controlPlaneMachine();
    fresh.stub("systemd-run", "exit 1");
    runControlPlane(fresh, patches("one\n"));
    assert.equal(fresh.file("var/lib/stackadm/kept-patches"), "not finished");
    assert.notEqual(fresh.file(`${directory}/kube-scheduler0000+strategic.json`), undefined);
    fresh.close();
  });
});
