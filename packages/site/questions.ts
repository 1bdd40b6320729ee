/** Page that answers a question of operators, and searches for this question. */
export interface Question {
  readonly page: string;
  readonly searches: readonly string[];
}

export const questions: readonly Question[] = [
  {
    page: "docs/operate/upgrade-kubernetes.md",
    searches: ["upgrade one minor", "kubernetes minor upgrade"],
  },
  {
    page: "docs/incidents/node-not-ready.md",
    searches: ["node is NotReady", "notready"],
  },
  {
    page: "docs/incidents/quota-exceeded.md",
    searches: ["quota used up", "quota exceeded"],
  },
  {
    page: "docs/team/share-a-stack.md",
    searches: ["share the stack", "shared backend"],
  },
  {
    page: "docs/operate/rotate-secrets.md",
    searches: ["rotate the credential", "credential rotation"],
  },
  {
    page: "docs/operate/restore.md",
    searches: ["restore etcd", "disaster recovery"],
  },
  {
    page: "docs/set-up/machines.md",
    searches: ["add a GPU pool", "gpu"],
  },
  {
    page: "docs/set-up/network.md",
    searches: ["use an existing network", "existing router"],
  },
  {
    page: "docs/operate/destroy.md",
    searches: ["what does destroy keep", "destroy retained"],
  },
  {
    page: "docs/team/ci.md",
    searches: ["run it in CI", "ci exit code"],
  },
];
