import { UserError } from "../user-error.js";

/** What went wrong, for programs: stable across releases. */
export const errorCodes = [
  "INVALID_CONFIG",
  "CLOUD_NOT_CONFIGURED",
  "CLOUD_UNREACHABLE",
  "AUTH_FAILED",
  "FORBIDDEN",
  "PREFLIGHT_FAILED",
  "QUOTA_EXCEEDED",
  "NOT_FOUND",
  "NAME_OCCUPIED",
  "HOST_KEY_MISMATCH",
  "SSH_UNREACHABLE",
  "SSH_KEY_REFUSED",
  "SERVER_ERROR",
  "SERVER_NEVER_BOOTED",
  "LOAD_BALANCER_ERROR",
  "COMMAND_FAILED",
  "KUBERNETES_UNREACHABLE",
  "KUBERNETES_REFUSED",
  "NOT_READY",
  "STACK_LOCKED",
  "STACK_NOT_FOUND",
  "ENGINE_KILLED",
  "CANCELLED",
  "TOOL_MISSING",
  "VERIFY_FAILED",
  "FAILED",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** The exit code of the command line for each error code; anything not listed is 1. */
const exitCodes: Partial<Record<ErrorCode, number>> = {
  INVALID_CONFIG: 2,
  CLOUD_NOT_CONFIGURED: 2,
  CLOUD_UNREACHABLE: 3,
  AUTH_FAILED: 3,
  FORBIDDEN: 3,
  PREFLIGHT_FAILED: 3,
  QUOTA_EXCEEDED: 3,
  STACK_LOCKED: 4,
  VERIFY_FAILED: 5,
  CANCELLED: 130,
};

/** Where it went wrong. */
export interface ErrorSubject {
  readonly urn?: string;
  /** The resource's logical name. */
  readonly resource?: string;
}

/** A cluster operation that failed: a stable code, one sentence, a hint, and the resource at fault. */
export class ClusterError extends UserError {
  constructor(
    readonly code: ErrorCode,
    readonly sentence: string,
    hint?: string,
    readonly subject: ErrorSubject = {},
  ) {
    super(sentence, hint, exitCodes[code] ?? 1);
    this.name = "ClusterError";
  }
}
