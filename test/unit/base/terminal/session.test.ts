import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { run } from "../../../../base/run-command.js";
import {
  renderSshAgentLines,
  renderExportLines,
  quoteShellWord,
} from "../../../../automation/cli/commands/env.js";
import { toFailure, formatFailure } from "../../../../base/terminal/session.js";
import { Failure } from "../../../../base/failures/failure.js";
import { CloudError } from "../../../../openstack/http/cloud-error.js";

describe("toFailure", () => {
  const table: [string, unknown, string, number][] = [
    ["keeps the failure of an operation", new Failure("STACK_LOCKED", "x"), "STACK_LOCKED", 4],
    ["converts a refused sign-in", new CloudError("unauthenticated", "x"), "AUTH_FAILED", 3],
    ["converts an unreachable cloud", new CloudError("unreachable", "x"), "CLOUD_UNREACHABLE", 3],
    [
      "converts an invalid cloud configuration",
      new CloudError("configuration", "x"),
      "CLOUD_NOT_CONFIGURED",
      2,
    ],
    ["converts an exceeded quota", new CloudError("quota", "x"), "QUOTA_EXCEEDED", 3],
    ["keeps a failure with its own hint", new Failure("FAILED", "x", "y"), "FAILED", 1],
    ["keeps a usage failure", new Failure("INVALID_USAGE", "x", "y"), "INVALID_USAGE", 2],
    ["keeps the failure of a missing tool", new Failure("TOOL_MISSING", "x"), "TOOL_MISSING", 1],
    ["converts an unforeseen error", new TypeError("x is undefined"), "FAILED", 1],
    ["converts a thrown value that is not an error", "just text", "FAILED", 1],
  ];
  for (const [what, error, code, exitCode] of table)
    it(what, () => {
      const known = toFailure(error);
      assert.equal(known.code, code);
      assert.equal(known.exitCode, exitCode);
    });

  it("returns CANCELLED after Ctrl-C, with any error of the interrupted work", () => {
    const known = toFailure(new Error("aborted"), AbortSignal.abort());
    assert.equal(known.code, "CANCELLED");
    assert.equal(known.exitCode, 130);
    assert.match(known.hint, /same command again/);
  });

  it("keeps the code after Ctrl-C if the cancellation cannot be the cause", () => {
    for (const code of ["SERVER_STOPPED", "VERIFY_FAILED", "AUTH_FAILED"] as const)
      assert.equal(toFailure(new Failure(code, "x"), AbortSignal.abort()).code, code);
    const brokenOff = new CloudError("unreachable", "x");
    assert.equal(toFailure(brokenOff, AbortSignal.abort()).code, "CANCELLED");
  });

  const sentences: [string, unknown, string][] = [
    [
      "the error's message",
      new Error("EBUSY: resource busy, rmdir '/x'"),
      "EBUSY: resource busy, rmdir '/x'",
    ],
    ["the error's type", new TypeError("x is undefined."), "TypeError: x is undefined"],
    ["at least the word Error", new Error(""), "Error"],
    ["the thrown text", "just text", "just text"],
  ];
  for (const [what, error, said] of sentences)
    it(`returns a sentence with ${what} for an unforeseen error, and explains how to get details`, () => {
      const { sentence, hint } = toFailure(error);
      assert.equal(sentence, `Unexpected failure: ${said}.`);
      assert.match(hint, /^Run the same command again.* STACKADM_DEBUG=1 .*report/);
    });

  it("shows the stack trace of an unforeseen error with STACKADM_DEBUG=1", () => {
    const error = new TypeError("x is undefined");
    const shown = formatFailure(error, toFailure(error), {});
    assert.equal(shown.split("\n").length, 2, shown);
    const debug = { STACKADM_DEBUG: "1" };
    assert.match(formatFailure(error, toFailure(error), debug), /\n {4}at .*session\.test\.ts/);
    const known = new Failure("FAILED", "x", "y");
    assert.equal(formatFailure(known, toFailure(known), debug), "error: x\n  y");
  });

  it("shows the code of a failure, and the place of the code on the page of failure codes", () => {
    const known = new Failure("STACK_LOCKED", "x", "y");
    const [, , line = ""] = formatFailure(known, toFailure(known), {}).split("\n");
    assert.equal(line, "  STACK_LOCKED: docs/reference/failures.md#stack_locked");
  });

  it("keeps sentence and hint", () => {
    const known = toFailure(new CloudError("conflict", "in use", "wait"));
    assert.equal(known.sentence, "in use");
    assert.equal(known.hint, "wait");
  });
});

describe("variables for a shell", () => {
  it("are lines to evaluate", () => {
    assert.equal(
      renderExportLines({ OS_CLOUD: "lab", PATH: "/a:/b c" }),
      "export OS_CLOUD=lab\nexport PATH='/a:/b c'",
    );
  });

  it("start an SSH agent with the program's key", async () => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm a key's "));
    try {
      const key = join(directory, "id");
      await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "ours", "-f", key]);
      const script = `unset SSH_AUTH_SOCK\n${renderSshAgentLines(key)}\nssh-add -L\nssh-agent -k`;
      const { stdout } = await run("sh", ["-ec", script]);
      assert.match(stdout, /^ssh-ed25519 \S+ ours$/m);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("are unchanged after evaluation by a shell", async () => {
    for (const value of ["plain", "a b", "it's", "$HOME `id` $(id)", "a\nb", '"', "\\", ""]) {
      const { stdout } = await run("sh", ["-c", `printf %s ${quoteShellWord(value)}`]);
      assert.equal(stdout.replace(/\n$/, ""), value.replace(/\n$/, ""));
    }
  });

  it("are quoted unless they contain only characters without a meaning for shells", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (value) => {
        const word = quoteShellWord(value);
        assert.ok(word.startsWith("'") || /^[A-Za-z0-9_./:=@%+,-]+$/.test(word));
      }),
    );
  });
});
