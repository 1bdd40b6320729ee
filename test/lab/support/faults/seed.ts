import { createHash, randomInt } from "node:crypto";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import { parseUrn } from "../../../../automation/pulumi/urn.js";
import { Failure } from "../../../../base/failures/failure.js";

/*
 * Calculates the course of a random fault run from its seed. A moment is a position in a count (of
 * resources that the engine starts, or of writing calls to the cloud) and not a time. So a seed
 * always produces the same moment.
 */

/** Resources of the engine that are counted to determine the moment of a fault. */
export type Counted = "all" | "of the machines" | "of the cloud";

interface Fault {
  /** Description of the fault. */
  readonly says: string;
  readonly counted: Counted;
}

/** Faults in the order in which consecutive seeds use them. */
export const faults = {
  engine: { says: "the engine is killed", counted: "all" },
  worker: { says: "the worker process is killed", counted: "all" },
  ssh: { says: "an SSH connection is cut", counted: "of the machines" },
  reboot: { says: "the control plane is reset", counted: "of the machines" },
  deleted: { says: "a worker's server is deleted", counted: "of the machines" },
  controller: { says: "the cloud controller is killed", counted: "of the machines" },
  "409": { says: "a writing call to the cloud returns 409", counted: "of the cloud" },
  "500": { says: "a writing call to the cloud returns 500", counted: "of the cloud" },
  "503": { says: "a writing call to the cloud returns 503", counted: "of the cloud" },
  lost: { says: "the response to a writing call to the cloud is lost", counted: "of the cloud" },
  many: { says: "5 % of all calls to the cloud fail", counted: "of the cloud" },
} as const satisfies Readonly<Record<string, Fault>>;
export type FaultName = keyof typeof faults;

/**
 * Failure of a call to the cloud. A number is the HTTP status of the answer. With `lost`, the cloud
 * executes the call, but the client gets no answer.
 */
export type CallFault = 409 | 500 | 503 | "lost";

/** Properties of a call to the cloud that determine whether the call fails. */
export interface Call {
  /** Number of this call, counted from 1. */
  readonly number: number;
  /**
   * Number of this call among the writing calls of the program, counted from 1. Undefined for
   * reading calls, and for calls of machines.
   */
  readonly write?: number;
  readonly method: string;
}

/** Course of one run. */
export interface FaultRun {
  readonly seed: number;
  readonly fault: FaultName;
  /**
   * Moment of the fault, from 0 (the first counted resource or call) to just below 1 (the last).
   */
  readonly at: number;
  /** Random number that selects one of several possible targets, from 0 to just below 1. */
  readonly which: number;
}

/**
 * Returns a random number from 0 to just below 1, evenly distributed. The same arguments always
 * return the same number.
 */
export function randomNumber(seed: number, ...what: readonly (string | number)[]): number {
  const digest = createHash("sha256")
    .update([seed, ...what].join(" "))
    .digest();
  return digest.readUInt32BE() / 2 ** 32;
}

const pick = <Item>(items: readonly [Item, ...Item[]], part: number): Item =>
  items[Math.floor(part * items.length)] ?? items[0];

/** Returns the course of a run for a seed. Consecutive seeds use all faults in order. */
export function faultRunOf(seed: number): FaultRun {
  const names = Object.keys(faults) as FaultName[];
  const fault = names[seed % names.length] ?? "engine";
  return { seed, fault, at: randomNumber(seed, "at"), which: randomNumber(seed, "which") };
}

/**
 * Returns the position of the moment among `count` items, counted from 1. Returns 1 if `count` is
 * 0.
 */
export const momentOf = ({ at }: Pick<FaultRun, "at">, count: number): number =>
  1 + Math.floor(at * count);

/** Percentage of calls that fail. */
const often = 5;

const types: Readonly<Record<Counted, RegExp>> = {
  all: /^(?!pulumi:)/,
  "of the machines": /^(command:remote:|kubernetes:)/,
  "of the cloud": /^openstack:/,
};

/** Returns whether the event starts a counted resource. Providers are not counted. */
export const begins = (event: OperationEvent, counted: Counted): boolean =>
  event.type === "resource" &&
  event.state === "started" &&
  types[counted].test(parseUrn(event.urn).type);

/**
 * Returns a function that decides whether and how a call fails. `writes` is the expected number of
 * writing calls of the program.
 */
export function failingCalls(
  draw: FaultRun,
  writes: number,
): (call: Call) => CallFault | undefined {
  const { seed, fault } = draw;
  if (fault === "many")
    return ({ number, write }) => {
      if (randomNumber(seed, "call", number) >= often / 100) return undefined;
      const ways: readonly [CallFault, ...CallFault[]] = [500, 503, "lost"];
      // Only writing calls return 409, because reading calls cannot conflict.
      return pick(write === undefined ? ways : [409, ...ways], randomNumber(seed, "way", number));
    };
  const way = wayOf(fault);
  const moment = momentOf(draw, writes);
  return ({ write }) => (way !== undefined && write === moment ? way : undefined);
}

/**
 * Returns how the call fails for a fault that affects a single call. Returns undefined for other
 * faults.
 */
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
  throw new Failure(
    "FAILED",
    `${name}: '${written}' is not a whole number from ${least} on.`,
    `Write one like ${name}=3.`,
  );
}

/**
 * Returns the seeds of the runs, which are consecutive. The environment may contain the first seed.
 * Otherwise, the first seed is random.
 * @default one run, three in CI
 */
export function seedsIn(env: NodeJS.ProcessEnv): number[] {
  const runs = wholeNumber(env, runsVariable, 1) ?? (env["CI"] === "true" ? 3 : 1);
  const first = wholeNumber(env, seedVariable, 0) ?? randomInt(1_000_000);
  return Array.from({ length: runs }, (_, index) => first + index);
}

/** Returns the command that repeats one run. */
export const repeatedBy = (seed: number): string =>
  `${seedVariable}=${seed} npx mocha --exit test/lab/random.test.ts`;
