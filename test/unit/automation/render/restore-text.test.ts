import { renderRestorePlan } from "../../../../automation/render/restore-text.js";
import type { RestorePlan } from "../../../../automation/backup/restore-plan.js";
import { golden } from "../../../support/golden.js";
import { outputsOf } from "../backup/support.js";

const file = { file: "", bytes: 1, sha256: "" };

describe("renderRestorePlan", () => {
  const at = (takenAt: string, changes: Partial<RestorePlan>, majority = true): string => {
    const { nodes, etcd } = outputsOf(3, 3);
    const apiServers = nodes.filter(({ role }) => role === "control-plane");
    const plan: RestorePlan = {
      backup: {
        directory: "",
        format: 1,
        takenAt,
        stack: "dev",
        cluster: "dev",
        identities: [],
        archives: [],
        state: file,
        snapshot: { machine: "dev-etcd-2", majority, ...file },
      },
      unpack: [],
      members: etcd ?? [],
      apiServers,
      without: [],
      ...changes,
    };
    return renderRestorePlan(plan, Date.parse("2026-11-25T20:00:00Z"));
  };

  it("matches the reviewed text", () => {
    const { nodes } = outputsOf(3);
    const [first, ...others] = nodes.filter(({ role }) => role === "control-plane");
    if (!first) throw new Error("no control plane");
    golden(
      "restore-plan.txt",
      [
        at("2026-11-25T19:15:00Z", {}),
        at("2026-11-25T02:00:00Z", { members: [first, ...others], apiServers: [first, ...others] }),
        at("2026-11-25T19:59:00Z", {}, false),
        at("2026-11-18T20:00:00Z", {
          members: [first],
          apiServers: [first],
          without: others,
          unpack: [{ machine: first, file: "dev-control-plane-0.tgz", sha256: "" }],
        }),
        at("2026-11-25T19:15:00Z", {
          members: [],
          apiServers: [first],
          without: others,
          unpack: [{ machine: first, file: "dev-control-plane-0.tgz", sha256: "" }],
        }),
      ].join("\n\n") + "\n",
    );
  });
});
