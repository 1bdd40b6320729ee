import { failureCodes, getFailureRow } from "../../../base/failures/failure-codes.js";
import { generatedPage, sentence } from "./markdown.js";

const exitCodes = [
  [0, "success"],
  [1, "something failed; finished steps are kept"],
  [2, "the configuration, the command line or the environment is wrong"],
  [3, "the cloud refuses, does not answer, or has no room for the cluster"],
  [4, "another operation holds the stack's lock"],
  [5, "the cluster exists, but a part of it does not work"],
  [6, "`--expect-no-changes`: something would change"],
  [130, "stopped by SIGINT, SIGTERM or SIGHUP"],
] as const;

/** Returns the text of docs/reference/failures.md, with a heading for each code. */
export const failuresPage = (): string =>
  [
    ...generatedPage("Failure codes", "base/failures/failure-codes.ts"),
    "Every failure has a message, a hint and one of these codes. Codes and exit codes do not change between releases.",
    "",
    "- The command line prints the code below the hint, with the link to its section on this page. For `FAILED` and `INVALID_USAGE` it prints only the message and the hint.",
    "- With `--json`, the last line is `" +
      '{"type":"error","code":...,"message":...,"hint":...}`. The fields `urn` and `resource` name the failed resource, if there is one. See [events](events.md#error).',
    "- The Automation API throws a `ClusterError` with `code`, `sentence`, `hint`, `exitCode` and `subject`.",
    "- Plain `pulumi up` shows the code in brackets before the message.",
    "",
    "| Exit code | Meaning |",
    "| --- | --- |",
    ...exitCodes.map(([code, meaning]) => `| ${code} | ${meaning} |`),
    "",
    ...failureCodes.flatMap((code) => {
      const { exitCode, sentence: text, hint } = getFailureRow(code);
      return [`## ${code}`, "", `${sentence(text)} Exit code ${exitCode}.`, "", hint, ""];
    }),
  ].join("\n");
