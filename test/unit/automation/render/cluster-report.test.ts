import assert from "node:assert/strict";
import fc from "fast-check";
import { phaseFacts, type Phase } from "../../../../automation/pulumi/phases.js";
import {
  renderSampleChecksTable,
  renderAddonChecks,
  renderNextCommands,
  renderVerificationTables,
  convertPhaseTimes,
  renderPhaseTimesTable,
} from "../../../../automation/render/cluster-report.js";
import type { NodeReport } from "../../../../automation/verify/read-nodes.js";
import { golden } from "../../../support/golden.js";

const node = (fields: Partial<NodeReport>): NodeReport => ({
  name: "dev-control-plane-0",
  role: "control plane",
  version: "v1.36.3",
  internalAddress: "10.0.0.10",
  externalAddress: "203.0.113.7",
  zone: "zone-a",
  providerId: "openstack:///1",
  ready: true,
  reason: "",
  ...fields,
});

describe("report at the end of `up`", () => {
  it("matches the reviewed text", () => {
    const late = { ready: false, reason: "the cloud controller manager has not initialized it" };
    const worker = { name: "dev-general-0", role: "general", internalAddress: "10.0.0.11" };
    const nodes = [node({}), node({ ...worker, externalAddress: "", zone: "", ...late })];
    const [seen, failed] = [
      {
        name: "external service",
        where: "http://203.0.113.9/",
        ok: true,
        answer: "HTTP 200: web-1",
      },
      { name: "claim", where: "samples/data", ok: false, answer: "writer-0 has not read anything" },
    ];
    const machines = [
      { name: "etcd member", where: "dev-etcd-0", ok: true, answer: "HTTP 200: healthy" },
      { name: "etcd member", where: "dev-etcd-1", ok: false, answer: "dev-etcd-1 is silent" },
    ];
    const times = [
      { title: "Lab", milliseconds: 61_000 },
      { title: "Servers", milliseconds: 34_600, resources: 3 },
    ];
    const parts = [
      ...renderVerificationTables({
        nodes,
        machines,
        services: [seen],
        addons: [
          {
            name: "add-on",
            where: "kube-system/csi",
            ok: false,
            answer: "2 of 3 pods are available",
          },
        ],
        claims: [failed],
        ok: false,
      }),
      renderPhaseTimesTable(times, 95_600),
      renderNextCommands("dev", "/state/kubeconfig-dev", { onLab: true }),
      renderNextCommands("prod", "/state/kubeconfig-prod", {
        onLab: false,
        advice: "kubectl is not installed on this machine: install one",
      }),
    ];
    golden("report.txt", `${parts.join("\n\n")}\n`);
  });

  it("never shows a failed check as passed, with any content of the answer", () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (answer, ok) => {
        const check = { name: "n", where: "w", ok, answer };
        const text = renderSampleChecksTable({ services: [check], claims: [] });
        return text.includes("FAILED:") === (!ok || answer.includes("FAILED:"));
      }),
    );
  });

  it("shows only add-ons that lack pods, or the number of add-ons", () => {
    const addons = [
      { name: "add-on", where: "kube-system/csi", ok: true, answer: "3 of 3 pods are available" },
      { name: "add-on", where: "traefik/traefik", ok: false, answer: "1 of 2 pods are available" },
    ];
    const text = renderAddonChecks({ addons });
    assert.match(text, /^ADD-ON +WHERE +ANSWER\nadd-on +traefik\/traefik +FAILED: 1 of 2 pods/);
    assert.doesNotMatch(text, /csi/);
    assert.equal(
      renderAddonChecks({ addons: addons.slice(0, 1) }),
      "All pods of 1 add-ons are available.",
    );
  });

  it("names the stack only in commands that require the name", () => {
    for (const onLab of [true, false]) {
      assert.doesNotMatch(renderNextCommands("dev", "/k", { onLab }), /--stack/);
      const lines = renderNextCommands("prod", "/k", { onLab }).split("\n");
      for (const line of lines.filter((one) => /stackadm (destroy|status)/.test(one)))
        assert.match(line, / --stack prod /);
    }
  });

  it("suggests stopping the lab only to users of the lab", () => {
    assert.match(renderNextCommands("dev", "/k", { onLab: true }), /lab down/);
    assert.doesNotMatch(renderNextCommands("dev", "/k", { onLab: false }), /lab/);
  });
});

describe("times of an operation", () => {
  const phases = Object.keys(phaseFacts) as Phase[];

  it("contain each phase's title, duration and number of created resources", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...phases),
        fc.nat(),
        fc.nat(),
        fc.nat(50),
        (phase, startedAt, took, resources) => {
          const time = { phase, startedAt, endedAt: startedAt + took, resources, failed: false };
          assert.deepEqual(convertPhaseTimes([time]), [
            { title: phaseFacts[phase].title, milliseconds: took, resources },
          ]);
        },
      ),
    );
  });

  it("end with the total duration, which is less than the sum because phases overlap", () => {
    const table = renderPhaseTimesTable(
      [
        { title: "A", milliseconds: 40_000 },
        { title: "B", milliseconds: 40_000 },
      ],
      50_000,
    );
    assert.match(table, /\nIn all {2}50 s$/);
  });
});
