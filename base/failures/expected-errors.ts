import { z } from "zod";

/*
 * Checks for expected errors, after which a caller continues without a value. A caller must not
 * catch all errors, because this would hide defects of the program.
 */

/** Returns whether a system call failed, for example because a file is missing. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error;

/** Returns whether a file does not exist. */
export const isMissingFileError = (error: unknown): boolean =>
  isSystemError(error) && error.code === "ENOENT";

/** Returns whether the error means that a text is not JSON or does not match its schema. */
export const isInvalidFormatError = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof z.ZodError;
