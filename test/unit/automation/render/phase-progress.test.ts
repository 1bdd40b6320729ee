import assert from "node:assert/strict";
import type { ResourceEvent } from "../../../../automation/engine/operation-events.js";
import { Redactor } from "../../../../base/terminal/redact-secrets.js";
import { parseUrn, getShortType } from "../../../../automation/pulumi/urn.js";
import type { Progress } from "../../../../base/progress.js";
import { PhaseView } from "../../../../automation/render/phase-progress.js";

const urns = {
  network: "urn:pulumi:dev::p::stackadm:network:Network$openstack:networking/network:Network::net",
  server: "urn:pulumi:dev::p::stackadm:machine:Machine$openstack:compute/instance:Instance::vm",
  prepare: "urn:pulumi:dev::p::stackadm:kubeadm:WorkerPool$command:remote:Command::vm-prepare",
  service: "urn:pulumi:dev::p::stackadm:addons:Samples$kubernetes:core/v1:Service::web",
};

const event = (state: "started" | "finished" | "failed", urn: string): ResourceEvent => {
  const { type, name } = parseUrn(urn);
  return { type: "resource", state, urn, name, kind: getShortType(type), change: "create" };
};

describe("what a person sees of the phases of an operation", () => {
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
  const view = (direction: "up" | "destroy" = "up") => {
    const phases = new PhaseView({ progress, direction, redactor });
    return {
      take: (event: Parameters<PhaseView["take"]>[0]) => phases.take(event, now),
      finish: (failed: boolean) => {
        phases.finish(failed);
      },
    };
  };
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
      urn: urns.prepare,
      text: "one\ninstalling secret-token-value\n",
    });
    assert.equal(said.at(-1), "  vm-prepare: installing [secret]");
  });

  it("says how long a script runs that gives a sign of life", () => {
    const shown = view();
    shown.take(event("started", urns.prepare));
    shown.take({
      type: "machine",
      machine: "vm",
      script: "prepare",
      seconds: 80,
      urn: urns.prepare,
    });
    assert.equal(said.at(-1), "  vm: prepare, 1 min 20 s");
  });

  it("passes over lines of what does not run", () => {
    const shown = view();
    shown.take({ type: "log", urn: urns.prepare, text: "late" });
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
