import assert from "node:assert/strict";
import type { ResourceEvent } from "../../../../automation/engine/operation-events.js";
import { Redactor, redactProgress } from "../../../../base/terminal/redact-secrets.js";
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

describe("PhaseView", () => {
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
    const phases = new PhaseView({ progress: redactProgress(progress, redactor), direction });
    return {
      take: (event: Parameters<PhaseView["processEvent"]>[0]) => phases.processEvent(event, now),
      finish: (failed: boolean) => {
        phases.finish(failed);
      },
    };
  };
  beforeEach(() => {
    said = [];
    now = 0;
  });

  it("shows a step for each phase, which ends when a later stage starts", () => {
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

  it("shows the phases in reverse during a destroy", () => {
    const shown = view("destroy");
    shown.take(event("started", urns.service));
    shown.take(event("finished", urns.service));
    shown.take(event("started", urns.network));
    assert.deepEqual(said.slice(-1), ["+ Sample services: removing: 1 resource in 0 s"]);
  });

  it("shows the latest output line under its phase, without secrets", () => {
    const shown = view();
    shown.take(event("started", urns.prepare));
    shown.take({
      type: "log",
      urn: urns.prepare,
      text: "one\ninstalling secret-token-value\n",
    });
    assert.equal(said.at(-1), "  vm-prepare: installing [secret]");
  });

  it("shows a running script's duration", () => {
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

  it("ignores output of resources that do not run", () => {
    const shown = view();
    shown.take({ type: "log", urn: urns.prepare, text: "late" });
    assert.deepEqual(said, []);
  });

  it("ends open steps as failed if their resources failed, else as done", () => {
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
