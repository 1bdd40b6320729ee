import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { splitFailureCode } from "../../base/failures/failure.js";
import type { FailureCode } from "../../base/failures/failure-codes.js";
import { copiedScriptsType, scriptType } from "../../components/remote-scripts/script-type.js";
import {
  findPathServerId,
  findScriptServerId,
} from "../../components/remote-scripts/script-steps.js";
import { findResourcePhase, type Phase } from "./phases.js";
import { pulumiProviderType, parseUrn, getShortType } from "./urn.js";

export interface ResourceChange {
  readonly urn: string;
  readonly name: string;
  readonly type: string;
  readonly phase: Phase | undefined;
  /** Pulumi's name of the operation: create, update, delete, replace, ... */
  readonly operation: string;
}

/**
 * Event of a running operation, decoded from an event of the engine. Engine events that no listener
 * needs are dropped.
 */
export type DecodedEngineEvent =
  | {
      readonly type: "started";
      readonly at: number;
      readonly change: ResourceChange;
      /** ID of the server on which a script of this program runs. Absent for other resources. */
      readonly serverId?: string;
    }
  | {
      readonly type: "finished";
      readonly at: number;
      readonly change: ResourceChange;
      readonly id: string;
    }
  | {
      readonly type: "failed";
      readonly at: number;
      readonly change: ResourceChange;
      /** Planned inputs of the resource, without the values of secrets. */
      readonly inputs?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "unchanged"; readonly at: number; readonly change: ResourceChange }
  /** Line of a running script's output, or of a provider's progress. Shown until the next line. */
  | { readonly type: "log"; readonly at: number; readonly urn: string; readonly text: string }
  /** Sign of life: the server runs, and the script has run on it for `seconds`. */
  | {
      readonly type: "alive";
      readonly at: number;
      readonly urn: string;
      readonly serverId: string;
      /** Names of the machines on the SSH route to the server. */
      readonly through: readonly string[];
      readonly step: string;
      readonly seconds: number;
    }
  | {
      readonly type: "message";
      readonly at: number;
      readonly urn: string;
      readonly severity: "info" | "warning" | "error";
      readonly text: string;
      /**
       * Failure code that our program or script put before the text. Absent if the text has no
       * code.
       */
      readonly code?: FailureCode;
    }
  | {
      /**
       * Event about the program's outputs. `same` is whether all outputs are unchanged. The engine
       * does not detect changes of secret outputs.
       */
      readonly type: "outputs";
      readonly at: number;
      readonly same: boolean;
    }
  | {
      readonly type: "summary";
      readonly at: number;
      readonly seconds: number;
      readonly changes: Readonly<Record<string, number>>;
    };

const resourceSchema = z.looseObject({
  id: z.string().optional(),
  custom: z.boolean().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
});
const metadataSchema = z.looseObject({
  op: z.string(),
  urn: z.string(),
  new: resourceSchema.nullish(),
  old: resourceSchema.nullish(),
});
const stepSchema = z.looseObject({ metadata: metadataSchema });
const eventSchema = z.looseObject({
  timestamp: z.number().default(0),
  resourcePreEvent: stepSchema.optional(),
  resOutputsEvent: stepSchema.optional(),
  resOpFailedEvent: stepSchema.optional(),
  diagnosticEvent: z
    .looseObject({
      urn: z.string().optional(),
      message: z.string(),
      severity: z.string(),
      ephemeral: z.boolean().optional(),
    })
    .optional(),
  summaryEvent: z
    .looseObject({
      durationSeconds: z.number().default(0),
      resourceChanges: z.record(z.string(), z.number()).nullish(),
    })
    .optional(),
});

/** Names of the engine's operations that change nothing. */
export const unchangedOperations: ReadonlySet<string> = new Set([
  "same",
  "read",
  "refresh",
  "read-replacement",
]);

function changeOf(metadata: z.infer<typeof metadataSchema>): ResourceChange {
  const { type, name } = parseUrn(metadata.urn);
  return {
    urn: metadata.urn,
    name,
    type: getShortType(type),
    phase: findResourcePhase(metadata.urn),
    operation: metadata.op,
  };
}

/**
 * Matches escape sequences of terminals, and the engine's colour markup, for example `<{%reset%}>`.
 */
const escapes = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*[A-Za-z]|<\\{%[^%]*%\\}>`, "g");
export const stripTerminalEscapes = (text: string): string => text.replaceAll(escapes, "");

function severityOf(severity: string): "info" | "warning" | "error" | undefined {
  if (severity === "error" || severity === "warning") return severity;
  return severity.startsWith("info") ? "info" : undefined;
}

type Raw = z.infer<typeof eventSchema>;

/**
 * Returns whether a step has nothing to do in the cloud, because the step is about a component or
 * the engine's own provider. Such steps are ignored.
 */
const isNoWork = ({ urn, old, new: next }: z.infer<typeof metadataSchema>): boolean =>
  (next?.custom ?? old?.custom) !== true || parseUrn(urn).type === pulumiProviderType;

/** Type of the stack's own resource. The outputs of this resource are the program's outputs. */
const stackType = "pulumi:pulumi:Stack";

const outputsOf = (resource: z.infer<typeof resourceSchema> | null | undefined): object =>
  resource?.outputs ?? {};

const idOf = ({ old, new: next }: z.infer<typeof metadataSchema>): string =>
  next?.id ?? old?.id ?? "";

const inputsOf = ({ new: next }: z.infer<typeof metadataSchema>): Record<string, unknown> =>
  next?.inputs ?? {};

/**
 * Returns the ID of the server to which a script connects. Returns no ID for other resources, and
 * for a script whose command is secret.
 */
function startedOn(metadata: z.infer<typeof metadataSchema>): { readonly serverId?: string } {
  const { type } = parseUrn(metadata.urn);
  const inputs = (metadata.new ?? metadata.old)?.inputs ?? {};
  const ids: Readonly<Record<string, string | undefined>> = {
    [scriptType]: findScriptServerId(inputs),
    [copiedScriptsType]: findPathServerId(inputs["remotePath"]),
  };
  // Commands and copies of the user are not watched.
  const id = ids[type];
  return id !== undefined && isServerId.test(id) ? { serverId: id } : {};
}

function decodeStep(event: Raw): DecodedEngineEvent | undefined {
  const {
    timestamp: at,
    resourcePreEvent: begun,
    resOutputsEvent: ended,
    resOpFailedEvent,
  } = event;
  const metadata = (begun ?? ended ?? resOpFailedEvent)?.metadata;
  if (!metadata) return undefined;
  if (ended && parseUrn(metadata.urn).type === stackType)
    return {
      type: "outputs",
      at,
      same: isDeepStrictEqual(outputsOf(metadata.old), outputsOf(metadata.new)),
    };
  if (isNoWork(metadata)) return undefined;
  const change = changeOf(metadata);
  if (resOpFailedEvent) return { type: "failed", at, change, inputs: inputsOf(metadata) };
  const unchanged = unchangedOperations.has(change.operation);
  if (begun)
    return unchanged
      ? { type: "unchanged", at, change }
      : { type: "started", at, change, ...startedOn(metadata) };
  return unchanged ? undefined : { type: "finished", at, change, id: idOf(metadata) };
}

/** Decodes an event of the engine. Returns undefined for events that no listener needs. */
export function decodeEvent(raw: unknown): DecodedEngineEvent | undefined {
  const parsed = eventSchema.safeParse(raw);
  if (!parsed.success) return undefined;
  const event = parsed.data;
  const at = event.timestamp;
  if (event.summaryEvent) {
    const { durationSeconds, resourceChanges } = event.summaryEvent;
    return { type: "summary", at, seconds: durationSeconds, changes: resourceChanges ?? {} };
  }
  return event.diagnosticEvent ? decodeMessage(at, event.diagnosticEvent) : decodeStep(event);
}

/**
 * Pattern of the server ID in a line that `report_alive` in
 * components/remote-scripts/scripts/common.sh prints. The pattern is strict, because the ID becomes
 * part of URLs.
 */
const serverId = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const machineName = "[a-z][a-z0-9-]{0,62}";
const isServerId = new RegExp(`^${serverId}$`);
const signOfLife = new RegExp(`^alive (${serverId}(?:,${machineName})*) (\\S+) (\\d+) s$`);
const signsOfLife = new RegExp(`${signOfLife.source}\n?`, "gm");

/**
 * Returns the name of the machine on which a script runs: the name of the script's resource without
 * the name of the step. Example: `dev-general-0` for `dev-general-0-join`.
 */
export function getScriptMachineName(urn: string, step: string): string {
  const { name } = parseUrn(urn);
  return name.endsWith(`-${step}`) ? name.slice(0, -step.length - 1) : name;
}

/** Matches a warning in a script's output. The warning is no failure, but is shown permanently. */
const remark = /^note: (.+)$/m;

function decodeLine(at: number, urn: string, text: string): DecodedEngineEvent {
  const [, note] = remark.exec(text) ?? [];
  if (note !== undefined) return { type: "message", at, urn, severity: "warning", text: note };
  const [, path = "", step, seconds] = signOfLife.exec(text) ?? [];
  const [own = "", ...through] = path.split(",");
  return step === undefined
    ? { type: "log", at, urn, text }
    : { type: "alive", at, urn, serverId: own, through, step, seconds: Number(seconds) };
}

function decodeMessage(
  at: number,
  diagnostic: { urn?: string; message: string; severity: string; ephemeral?: boolean },
): DecodedEngineEvent | undefined {
  const severity = severityOf(diagnostic.severity);
  const text = stripTerminalEscapes(diagnostic.message).trimEnd();
  if (severity === undefined || text.trim() === "") return undefined;
  const urn = diagnostic.urn ?? "";
  if (diagnostic.ephemeral === true) return decodeLine(at, urn, text);
  // The error of a failed script contains all of the script's output, including signs of life.
  const failure = splitFailureCode(text.replaceAll(signsOfLife, "").trimEnd());
  return { type: "message", at, urn, severity, ...failure };
}
