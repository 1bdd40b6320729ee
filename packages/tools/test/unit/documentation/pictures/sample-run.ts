import type {
  OperationEvent,
  OperationEventBody,
} from "../../../../../../automation/engine/operation-events.js";

const start = Date.parse("2026-01-02T03:04:05.000Z");

/** Event without its number. */
type Moment = readonly [seconds: number, body: OperationEventBody];

const step = (title: string, from: number, to: number): Moment[] => [
  [from, { type: "step", state: "begin", title, expectedSeconds: 5 }],
  [to, { type: "step", state: "end", title, outcome: "done", seconds: to - from }],
];

const cluster = "urn:pulumi:prod::stackadm::stackadm:index:Cluster";

/** Returns the events of work on a resource in the network phase. */
const work = (name: string, from: number, to: number): Moment[] => {
  const kind = "openstack:networking/network:Network";
  const urn = `${cluster}$stackadm:network:Network$${kind}::${name}`;
  const body = { type: "resource", urn, name, kind, change: "create" } as const;
  return [
    [from, { ...body, state: "started" }],
    [to, { ...body, state: "finished" }],
  ];
};

/** Returns the events with numbers and times. */
export const numbered = (moments: readonly Moment[]): readonly OperationEvent[] =>
  [...moments]
    .sort(([one], [other]) => one - other)
    .map(([seconds, body], index) => ({
      v: 1,
      operation: "id",
      n: index + 1,
      stack: "prod",
      at: new Date(start + seconds * 1000).toISOString(),
      ...body,
    }));

/** Moments of an invented `up`. */
export const sampleMoments: readonly Moment[] = [
  [0, { type: "queued", name: "up", behind: 0 }],
  ...step("Ask the cloud", 0, 2),
  ...step("Bring up the cluster", 2, 60),
  ...work("one", 3, 20),
  ...work("two", 10, 30),
  ...work("three", 20, 25),
  ...step("Verify the cluster", 60, 70),
  [65, { type: "step", state: "progress", title: "Verify the cluster", detail: "at 192.0.2.7" }],
  [70, { type: "log", text: "written to /home/user" }],
  [70, { type: "done", ok: true }],
];
