import { UserError } from "../automation/user-error.js";

/** What kind of answer the cloud gave; decides the error code an embedding program sees. */
export type CloudErrorKind =
  | "configuration"
  | "unreachable"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "quota"
  | "failed";

/** A cloud that refused, or was not there: one sentence and a hint. */
export class CloudError extends UserError {
  constructor(
    readonly kind: CloudErrorKind,
    message: string,
    hint?: string,
    /** HTTP status of the answer; undefined when there was none. */
    readonly status?: number,
  ) {
    super(message, hint);
    this.name = "CloudError";
  }
}

/** OpenStack services word their errors in four shapes; this finds the sentence in each. */
export function messageInBody(body: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return body.trim().slice(0, 300);
  }
  return sentenceIn(parsed) ?? body.trim().slice(0, 300);
}

function sentenceIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const record = value as Record<string, unknown>;
  for (const key of ["message", "faultstring", "debuginfo"]) {
    const text = record[key];
    if (typeof text === "string" && text !== "") return text;
  }
  for (const inner of Object.values(record)) {
    const found = sentenceIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

const kinds: Readonly<Record<number, CloudErrorKind>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  413: "quota",
};

/** The error for an HTTP answer that is not a success. */
export function errorForStatus(what: string, status: number, body: string): CloudError {
  const said = messageInBody(body);
  const quota = /quota|OverLimit|exceed/i.test(said);
  const kind = quota && status !== 404 ? "quota" : (kinds[status] ?? "failed");
  return new CloudError(
    kind,
    `${what}: the cloud answered ${status}${said === "" ? "" : `: ${said}`}`,
    undefined,
    status,
  );
}
