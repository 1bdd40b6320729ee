import assert from "node:assert/strict";
import {
  findClusterObjects,
  isUnrecorded,
  attributeNamedObject,
  attributeUnrecordedObject,
  attributeUnmarkedObject,
  type AttributionEvidence,
  type Attribution,
} from "../../../../automation/repair/object-attribution.js";
import type { CloudObject } from "../../../../openstack/inventory/inventory.js";
import {
  getClusterDescription,
  getServerGroupName,
} from "../../../../openstack/inventory/ownership.js";
import { object } from "../../../support/cloud/cloud-object.js";

/** State and history with an interrupted run, and a failed run before it. */
const known: AttributionEvidence = {
  owned: new Set(["our network", "our router", "held"]),
  identities: new Set(["0123456789ab"]),
  retained: new Set(["kept"]),
  unsettled: [
    { from: Date.parse("2026-01-02T08:00:00Z"), to: Date.parse("2026-01-02T08:30:00Z") },
    { from: Date.parse("2026-01-02T10:04:00Z"), to: Date.parse("2026-01-02T10:06:00Z") },
    {
      from: Date.parse("2026-01-02T10:00:00Z"),
      to: Date.parse("2026-01-02T10:26:00Z"),
      atMost: true,
    },
  ],
};
const during = "2026-01-02T10:05:00Z";
const tags = (identity: string) => [`stackadm-cluster=dev`, `stackadm-identity=${identity}`];
const metadata = (identity: string) => ({
  "stackadm-cluster": "dev",
  "stackadm-identity": identity,
});
const [ours, theirs] = ["0123456789ab", "ba9876543210"] as const;

/** Objects with the expected verdict, and the reason why ownership is unproven. */
const table: [string, Partial<CloudObject>, Attribution["is"], RegExp?][] = [
  ["an object in the state", { id: "held", kind: "network" }, "held"],
  [
    "a retained object that is no longer in the state",
    { id: "kept", kind: "network", tags: tags(ours), created: during },
    "held",
  ],
  ["the cluster's server", { metadata: metadata(ours), created: during }, "left behind"],
  [
    "the cluster's server, created after the time limit of creates, so that the state is outdated",
    { metadata: metadata(ours), created: "2026-01-02T10:30:00Z" },
    "unproven",
    /perhaps not created during such a run/,
  ],
  [
    "the cluster's server whose create was retried for minutes",
    { metadata: metadata(ours), created: "2026-01-02T10:20:00Z" },
    "left behind",
  ],
  [
    "the cluster's server, created by a run on another machine",
    { metadata: metadata(ours), created: "2026-01-02T10:02:30Z" },
    "left behind",
  ],
  ...(["10:05:00", "10:30:00"] as const).map(
    (time): [string, Partial<CloudObject>, Attribution["is"]] => [
      `the cluster's port attached to a server, created at ${time}`,
      { kind: "port", tags: tags(ours), owner: "compute:az", created: `2026-01-02T${time}Z` },
      time === "10:05:00" ? "left behind" : "unproven",
    ],
  ),
  ["the cluster's server without a creation time", { metadata: metadata(ours) }, "unproven"],
  [
    "the cluster's volume",
    { kind: "volume", metadata: metadata(ours), created: during },
    "left behind",
  ],
  ...["2026-01-02T10:03:59Z", "2026-01-02T10:06:01Z", "2026-01-02T08:30:01Z"].map(
    (created): [string, Partial<CloudObject>, Attribution["is"]] => [
      `a copy of the cluster's volume, created before or after the run: ${created}`,
      { kind: "volume", metadata: metadata(ours), created },
      "unproven",
    ],
  ),
  ["the cluster's network", { kind: "network", tags: tags(ours) }, "left behind"],
  [
    "the cluster's network without tags",
    { kind: "network", description: getClusterDescription({ name: "dev", identity: ours }) },
    "left behind",
  ],
  ...(["port", "floating IP", "security group"] as const).map(
    (kind): [string, Partial<CloudObject>, Attribution["is"]] => [
      `the cluster's ${kind} without tags in an existing network`,
      {
        kind,
        network: "their network",
        description: getClusterDescription({ name: "dev", identity: ours }, "What it is"),
      },
      "left behind",
    ],
  ),
  [
    "the cluster's server group, marked by name",
    { kind: "server group", name: getServerGroupName({ name: "dev", identity: ours }, "general") },
    "left behind",
  ],
  [
    "another cluster's floating IP without tags",
    {
      kind: "floating IP",
      description: getClusterDescription({ name: "dev", identity: theirs }, "Kubernetes API"),
      created: during,
    },
    "another's",
  ],
  [
    "another cluster's router without tags",
    {
      kind: "router",
      description: getClusterDescription({ name: "dev", identity: theirs }),
      created: during,
    },
    "another's",
  ],
  ["the cluster's load balancer", { kind: "load balancer", tags: tags(ours) }, "left behind"],
  [
    "the cluster's application credential",
    {
      kind: "application credential",
      description: `Cloud controller manager and Cinder CSI of cluster dev-${ours}`,
    },
    "left behind",
  ],
  [
    "a server of another cluster with this name",
    { metadata: metadata(theirs), created: during },
    "another's",
  ],
  [
    "another cluster's port in the cluster's network",
    { kind: "port", tags: tags(theirs), network: "our network", created: during },
    "another's",
  ],
  ...(
    [
      "network",
      "subnet",
      "port",
      "router",
      "security group",
      "server group",
      "application credential",
      "floating IP",
      "key pair",
      "server",
      "volume",
      "load balancer",
    ] as const
  ).map((kind): [string, Partial<CloudObject>, Attribution["is"], RegExp] => [
    `a foreign ${kind}, created during the run`,
    { kind, network: "our network", created: during },
    "unproven",
    /nothing on it names its owner/,
  ]),
];

describe("attributeNamedObject", () => {
  for (const [what, fields, is, because] of table)
    it(`returns '${is}' for ${what}`, () => {
      const verdict = attributeNamedObject(object({ name: "dev", ...fields }), known);
      assert.equal(verdict.is, is);
      if (because) assert.match(verdict.is === "unproven" ? verdict.because : "", because);
    });

  it("proves nothing about an object without a mark if every run is settled", () => {
    const settled = { ...known, unsettled: [] };
    const port = object({ kind: "port", network: "our network", created: during });
    assert.equal(attributeNamedObject(port, settled).is, "unproven");
  });

  it("requires every parent of an unmarked part to be in the state", () => {
    const of = (...parents: string[]) =>
      attributeUnmarkedObject({ parents, created: during }, known).is;
    assert.equal(of("our router", "our network"), "left behind");
    assert.equal(of("our router", "their network"), "unproven");
    assert.equal(of(""), "unproven");
  });
});

describe("unrecorded objects", () => {
  const description = getClusterDescription({ name: "dev", identity: ours });
  const lost = (fields: Partial<CloudObject>): boolean => isUnrecorded(object(fields), known);

  const lostVerdict = (fields: Partial<CloudObject>, all: typeof known = known) =>
    attributeUnrecordedObject(object(fields), all).is;

  it("are those that carry the stack's identity and are missing in the state", () => {
    for (const kind of ["network", "port", "floating IP", "security group"] as const)
      assert.ok(lost({ kind, id: "new", description }), kind);
    assert.ok(!lost({ kind: "network", id: "held", description }));
    assert.ok(!lost({ kind: "network", id: "kept", description }), "the program has it stay");
    const foreign = getClusterDescription({ name: "dev", identity: theirs });
    assert.ok(!lost({ kind: "network", id: "new", description: foreign }));
    assert.ok(!lost({ kind: "port", id: "new", network: "our network", created: during }));
  });

  it("exclude objects of the cluster's controllers, and volumes, because copies carry the same mark", () => {
    assert.ok(!lost({ kind: "load balancer", name: `kube_service_dev-${ours}_default_web` }));
    assert.ok(!lost({ kind: "volume", metadata: metadata(ours) }));
  });

  it("are attributed to a failed run only if created during the run, because the state may be outdated", () => {
    const verdict = (created: string) => lostVerdict({ kind: "network", description, created });
    assert.equal(verdict("2026-01-02T08:10:00Z"), "left behind");
    assert.equal(verdict("2026-01-02T09:00:00Z"), "unproven");
    assert.equal(verdict(""), "unproven");
  });

  it("include subnets of owned networks that a failed destroy dropped, whenever they were created", () => {
    const destroyed = { ...known, unsettled: [{ from: 1, to: 2, destroyed: true as const }] };
    const of = (fields: Partial<CloudObject>, all: typeof known = destroyed) =>
      lostVerdict({ kind: "subnet", description, created: during, ...fields }, all);
    assert.equal(of({ network: "our network" }), "left behind");
    assert.equal(of({ network: "their network" }), "unproven");
    assert.equal(of({ kind: "floating IP" }), "unproven");
    assert.equal(of({ network: "our network" }, { ...known, unsettled: [] }), "unproven");
  });

  it("are never attributed if they are servers or ports of servers, which may be in use", () => {
    const of = (fields: Partial<CloudObject>) =>
      lostVerdict({ ...fields, created: "2026-01-02T08:10:00Z" });
    assert.equal(of({ kind: "server", metadata: metadata(ours) }), "unproven");
    assert.equal(of({ kind: "port", description, owner: "compute:nova" }), "unproven");
    assert.equal(of({ kind: "port", description }), "left behind");
  });
});

describe("findClusterObjects", () => {
  const holdings = {
    owned: new Set(["held", "kept", "etcd"]),
    retained: new Set(["kept", "dropped"]),
    identities: new Set([ours]),
  };
  const csi = (identity: string) => ({ "cinder.csi.openstack.org/cluster": `dev-${identity}` });
  const disposals = (...fields: readonly Partial<CloudObject>[]): (string | undefined)[] =>
    fields.map((one) => findClusterObjects([object(one)], holdings)[0]?.disposal);

  it("deletes an object that is in the state or carries the identity", () => {
    const objects = [
      { id: "held", kind: "network" },
      { id: "new", kind: "network", tags: tags(ours) },
      { id: "etcd", kind: "volume", metadata: metadata(ours) },
    ] as const;
    assert.deepEqual(disposals(...objects), ["delete", "delete", "delete"]);
  });

  it("keeps retained objects, and volumes that are not in the state", () => {
    const objects = [
      { id: "kept", kind: "network" },
      { id: "dropped", kind: "network", tags: tags(ours) },
      { id: "copy", kind: "volume", metadata: metadata(ours) },
    ] as const;
    assert.deepEqual(disposals(...objects), ["keep", "keep", "keep"]);
  });

  it("releases volumes of the cluster's controllers, which cannot be recreated", () => {
    assert.deepEqual(disposals({ id: "pv", kind: "volume", metadata: csi(ours) }), ["released"]);
  });

  it("omits objects of other clusters and of no cluster", () => {
    const objects = [
      { id: "foreign", kind: "network", tags: tags(theirs) },
      { id: "pv", kind: "volume", metadata: csi(theirs) },
      { id: "plain", kind: "network" },
    ] as const;
    assert.deepEqual(disposals(...objects), [undefined, undefined, undefined]);
  });
});
