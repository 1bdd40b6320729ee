import { createHash, randomInt } from "node:crypto";
import type { ClusterEvent } from "../../../automation/cluster/events.js";
import { parseUrn } from "../../../automation/cluster/urn.js";
import { UserError } from "../../../base/user-error.js";

/*
 * What a random run of the fault tests does, drawn from its seed. A moment is a part of what can be counted (resources that the engine
 * begins with, writing calls to the cloud) and no time on a clock, so that the same seed meets the same moment again.
 */

/** Of which of the engine's resources a moment is counted. */
export type Counted = "all" | "of the machines" | "of the cloud";

interface Fault {
  /** For people: what happens. */
  readonly says: string;
  readonly counted: Counted;
}

/** The faults in the order in which seeds that follow each other have them. */
export const faults = {
  engine: { says: "the engine is killed", counted: "all" },
  worker: { says: "the worker process is killed", counted: "all" },
  ssh: { says: "an SSH connection is cut", counted: "of the machines" },
  reboot: { says: "the control plane is reset", counted: "of the machines" },
  deleted: { says: "a worker's server is deleted", counted: "of the machines" },
  controller: { says: "the cloud controller is killed", counted: "of the machines" },
  "409": { says: "a writing call to the cloud is answered with 409", counted: "of the cloud" },
  "500": { says: "a writing call to the cloud is answered with 500", counted: "of the cloud" },
  "503": { says: "a writing call to the cloud is answered with 503", counted: "of the cloud" },
  lost: { says: "the answer to a writing call to the cloud is lost", counted: "of the cloud" },
  many: { says: "5 % of all calls to the cloud fail", counted: "of the cloud" },
} as const satisfies Readonly<Record<string, Fault>>;
export type FaultName = keyof typeof faults;

/** How one call to the cloud fails: an answer of this status, or none to a call that was carried out. */
export type CallFault = 409 | 500 | 503 | "lost";

/** A call to the cloud as far as draws depend on it. */
export interface Call {
  /** How many there were, this one included. */
  readonly number: number;
  /** How many writing ones of the program there were, this one included. Absent: it reads, or is a machine's. */
  readonly write?: number;
  readonly method: string;
}

/** What one run does. */
export interface Draw {
  readonly seed: number;
  readonly fault: FaultName;
  /** When: from 0, with the first of what is counted, to below 1, with the last. */
  readonly at: number;
  /** Which of several that may be hit, from 0 to below 1. */
  readonly which: number;
}

/** From 0 to below 1, evenly, and the same again for the same words: no draw depends on how many there were before. */
export function drawn(seed: number, ...what: readonly (string | number)[]): number {
  const digest = createHash("sha256")
    .update([seed, ...what].join(" "))
    .digest();
  return digest.readUInt32BE() / 2 ** 32;
}

const pick = <Item>(items: readonly [Item, ...Item[]], part: number): Item =>
  items[Math.floor(part * items.length)] ?? items[0];

/** Every fault comes in as many seeds that follow each other as there are faults. */
export function drawOf(seed: number): Draw {
  const names = Object.keys(faults) as FaultName[];
  const fault = names[seed % names.length] ?? "engine";
  return { seed, fault, at: drawn(seed, "at"), which: drawn(seed, "which") };
}

/** Which of `count` it is, from 1 on; with none: the first that comes. */
export const momentOf = ({ at }: Pick<Draw, "at">, count: number): number =>
  1 + Math.floor(at * count);

/** Of 100 calls. */
const often = 5;

const types: Readonly<Record<Counted, RegExp>> = {
  all: /^(?!pulumi:)/,
  "of the machines": /^(command:remote:Command|kubernetes:)/,
  "of the cloud": /^openstack:/,
};

/** Whether the engine begins with one of those that are counted; providers are no work. */
export const begins = (event: ClusterEvent, counted: Counted): boolean =>
  event.type === "started" && types[counted].test(parseUrn(event.change.urn).type);

/** How each call to the cloud fails, if it does. `writes`: how many writing calls of the program are expected. */
export function failingCalls(draw: Draw, writes: number): (call: Call) => CallFault | undefined {
  const { seed, fault } = draw;
  if (fault === "many")
    return ({ number, write }) => {
      if (drawn(seed, "call", number) >= often / 100) return undefined;
      const ways: readonly [CallFault, ...CallFault[]] = [500, 503, "lost"];
      // Nothing stands in the way of a question.
      return pick(write === undefined ? ways : [409, ...ways], drawn(seed, "way", number));
    };
  const way = wayOf(fault);
  const moment = momentOf(draw, writes);
  return ({ write }) => (way !== undefined && write === moment ? way : undefined);
}

/** How a single call fails; undefined for faults of another kind. */
function wayOf(fault: FaultName): CallFault | undefined {
  if (fault === "lost") return fault;
  const status = Number(fault);
  return status === 409 || status === 500 || status === 503 ? status : undefined;
}

export const runsVariable = "STACKADM_RANDOM_RUNS";
export const seedVariable = "STACKADM_RANDOM_SEED";

function wholeNumber(env: NodeJS.ProcessEnv, name: string, least: number): number | undefined {
  const written = env[name];
  if (written === undefined || written === "") return undefined;
  const number = Number(written);
  if (/^\d+$/.test(written) && number >= least && Number.isSafeInteger(number)) return number;
  throw new UserError(
    `${name}: '${written}' is not a whole number from ${least} on.`,
    `Write one like ${name}=3.`,
  );
}

/** The seed of each run: those that follow the first, which is drawn by lot where the environment names none. Default: one run, three in CI. */
export function seedsIn(env: NodeJS.ProcessEnv): number[] {
  const runs = wholeNumber(env, runsVariable, 1) ?? (env["CI"] === "true" ? 3 : 1);
  const first = wholeNumber(env, seedVariable, 0) ?? randomInt(1_000_000);
  return Array.from({ length: runs }, (_, index) => first + index);
}

/** The words that repeat one run. */
export const repeatedBy = (seed: number): string =>
  `${seedVariable}=${seed} npx mocha --exit test/lab/random.test.ts`;
