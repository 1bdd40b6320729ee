import assert from "node:assert/strict";
import type { ClusterEvent } from "../../../../automation/pulumi/events.js";
import { phaseOf } from "../../../../automation/pulumi/phases.js";
import { Redactor } from "../../../../base/terminal/redact-secrets.js";
import { parseUrn, shortType } from "../../../../automation/pulumi/urn.js";
import type { Progress } from "../../../../base/progress.js";
import { OperationView } from "../../../../automation/render/operation-progress.js";

const urns = {
  network: "urn:pulumi:dev::p::stackadm:network:Network$openstack:networking/network:Network::net",
  server: "urn:pulumi:dev::p::stackadm:machine:Machine$openstack:compute/instance:Instance::vm",
  prepare: "urn:pulumi:dev::p::stackadm:kubeadm:WorkerPool$command:remote:Command::vm-prepare",
  service: "urn:pulumi:dev::p::stackadm:addons:Samples$kubernetes:core/v1:Service::web",
};

const event = (type: "started" | "finished" | "failed", urn: string): ClusterEvent => {
  const { type: token, name } = parseUrn(urn);
  const change = { urn, name, type: shortType(token), phase: phaseOf(urn), operation: "create" };
  return type === "finished" ? { type, at: 0, change, id: "" } : { type, at: 0, change };
};

describe("what a person sees of an operation", () => {
  let said: string[];
  let now: number;
  const redactor = new Redactor();
  redactor.add("secret-token-value");
  const progress: Progress = {
    step: (title) => {
      said.push(`> ${title}`);
      return {
        update: (detail) => said.push(`  ${detail}`),
        done: (note) => said.push(`+ ${title}: ${note ?? ""}`),
        failed: () => said.push(`x ${title}`),
      };
    },
    note: (text) => said.push(text),
  };
  const view = (direction: "up" | "destroy" = "up"): OperationView =>
    new OperationView({ progress, direction, redactor, now: () => now });
  beforeEach(() => {
    said = [];
    now = 0;
  });

  it("is a step for each phase, that ends when a later stage has begun", () => {
    const shown = view();
    shown.take(event("started", urns.network));
    now = 5_000;
    shown.take(event("finished", urns.network));
    shown.take(event("started", urns.server));
    now = 9_000;
    shown.take(event("finished", urns.server));
    shown.take(event("started", urns.prepare));
    assert.deepEqual(said, [
      "> Network, router and addresses",
      "  Network net",
      "> Servers",
      "  Instance vm",
      "> Machines boot and are prepared",
      "  Command vm-prepare",
      "+ Network, router and addresses: 1 resource in 5 s",
      "+ Servers: 1 resource in 4 s",
    ]);
  });

  it("goes backwards when a cluster is taken away", () => {
    const shown = view("destroy");
    shown.take(event("started", urns.service));
    shown.take(event("finished", urns.service));
    shown.take(event("started", urns.network));
    assert.deepEqual(said.slice(-1), ["+ Sample services: removing: 1 resource in 0 s"]);
  });

  it("has the newest line of what runs under its phase, without secrets", () => {
    const shown = view();
    shown.take(event("started", urns.prepare));
    shown.take({
      type: "log",
      at: 0,
      urn: urns.prepare,
      text: "one\ninstalling secret-token-value\n",
    });
    assert.equal(said.at(-1), "  vm-prepare: installing [secret]");
  });

  it("says how long a script runs that gives a sign of life", () => {
    const shown = view();
    const alive = {
      type: "alive",
      at: 0,
      urn: urns.prepare,
      serverId: "s",
      through: [],
      seconds: 80,
    } as const;
    shown.take(event("started", urns.prepare));
    shown.take({ ...alive, step: "prepare" });
    assert.equal(said.at(-1), "  vm: prepare, 1 min 20 s");
    shown.take({ ...alive, step: "other" });
    assert.equal(said.at(-1), "  vm-prepare: other, 1 min 20 s");
  });

  it("passes over lines of what does not run", () => {
    const shown = view();
    shown.take({ type: "log", at: 0, urn: urns.prepare, text: "late" });
    assert.deepEqual(said, []);
  });

  it("has warnings and errors as lines that stay, without secrets", () => {
    const shown = view();
    const message = { type: "message", at: 0, urn: urns.server } as const;
    shown.take({ ...message, severity: "error", text: "no host for secret-token-value" });
    shown.take({ ...message, urn: "", severity: "warning", text: "careful" });
    assert.deepEqual(said, ["x vm: no host for [secret]", "! careful"]);
  });

  it("leaves out warnings that nobody can act on", () => {
    const shown = view();
    for (const text of [
      "using pulumi-resource-openstack from $PATH at /x/pulumi-resource-openstack",
      'provider config warning: property "useOctavia" is deprecated: ...',
    ])
      shown.take({ type: "message", at: 0, urn: "", severity: "warning", text });
    assert.deepEqual(said, []);
  });

  it("ends every open step: what failed or still runs badly, the rest well", () => {
    const shown = view();
    shown.take(event("started", urns.network));
    shown.take(event("finished", urns.network));
    shown.take(event("started", urns.server));
    shown.take(event("failed", urns.server));
    shown.finish(true);
    assert.deepEqual(said.slice(-2), [
      "+ Network, router and addresses: 1 resource in 0 s",
      "x Servers",
    ]);
    shown.finish(true);
    assert.equal(said.filter((line) => line === "x Servers").length, 1);
  });
});
