import { z } from "zod";

/*
 * Conditions under which a caller continues without a value. A caller that catches every error
 * would hide defects of the program.
 */

/** Returns whether the operating system refused a call, for example because a file is missing. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error;

/** Returns whether a file does not exist. */
export const isMissingFileError = (error: unknown): boolean =>
  isSystemError(error) && error.code === "ENOENT";

/** Returns whether a text is not JSON, or its value has another shape. */
export const isInvalidFormatError = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof z.ZodError;
