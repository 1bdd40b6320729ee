import assert from "node:assert/strict";
import type { DecodedEngineEvent } from "../../../../automation/pulumi/events.js";
import { explainMessages } from "../../../../automation/engine/engine-errors.js";
import { prependFailureCode, splitFailureCode } from "../../../../base/failures/failure.js";
import {
  engineMessages,
  explain,
  script,
  server,
  stack,
} from "../../../support/engine/engine-messages.js";

describe("explainMessages for a single error", () => {
  for (const { code, urn = "", own, text, sentence } of engineMessages)
    it(`returns ${code} for: ${text.split("\n")[0]?.slice(0, 70) ?? ""}`, () => {
      const error = explain(urn, own ? prependFailureCode(code, text) : text);
      assert.equal(error.code, code);
      assert.match(error.sentence, sentence);
      assert.doesNotMatch(error.sentence.replaceAll(/`.*`/g, ""), /\{who\}|\{message\}|\$\d/);
      assert.ok(error.hint.length > 10, "no hint");
    });

  it("returns the failed resource", () => {
    assert.deepEqual(explain(server, "x").subject, {
      urn: server,
      resource: "dev-general-0-server",
    });
    assert.deepEqual(explain("", "x").subject, {});
  });

  it("returns the exit code of the failure code", () => {
    assert.equal(explain("", "Authentication failed").exitCode, 3);
    assert.equal(explain("", prependFailureCode("INVALID_CONFIG", "x")).exitCode, 2);
    assert.equal(explain("", "boom").exitCode, 1);
  });
});

const error = (text: string, urn = ""): DecodedEngineEvent => ({
  type: "message",
  at: 0,
  urn,
  severity: "error",
  ...splitFailureCode(text),
});

describe("explainMessages for several errors", () => {
  it("omits errors that only repeat others", () => {
    const errors = explainMessages([
      error("update failed", stack),
      error("No valid host was found", server),
    ]);
    assert.deepEqual(
      errors.map(({ code }) => code),
      ["SERVER_ERROR"],
    );
  });

  it("keeps a repeated error if there is no other", () => {
    assert.equal(explainMessages([error("update failed", stack)]).length, 1);
  });

  it("omits messages that are not errors", () => {
    assert.deepEqual(
      explainMessages([{ type: "message", at: 0, urn: "", severity: "warning", text: "careful" }]),
      [],
    );
  });

  it("puts the cause before its consequences", () => {
    const errors = explainMessages([
      error("after 30 failed attempts: dial tcp: i/o timeout", script),
      error(
        prependFailureCode("SERVER_NEVER_BOOTED", "The machine never answered on SSH; ..."),
        stack,
      ),
      error("something else"),
    ]);
    assert.equal(errors[0]?.code, "SERVER_NEVER_BOOTED");
  });

  it("puts Nova's error about a server before another server's timeout", () => {
    const errors = explainMessages([
      error(
        prependFailureCode("SERVER_NEVER_BOOTED", "The machine never answered on SSH; ..."),
        stack,
      ),
      error(prependFailureCode("SERVER_ERROR", "... is ERROR: No valid host."), stack),
    ]);
    assert.deepEqual(
      errors.map(({ code }) => code),
      ["SERVER_ERROR", "SERVER_NEVER_BOOTED"],
    );
  });

  it("puts the program's error before the provider's, because the program's has more details", () => {
    const errors = explainMessages([
      error("Error waiting for instance (b1) to become ready: unexpected state 'ERROR'", server),
      error(
        prependFailureCode("SERVER_ERROR", "Nova could not make it; ... is ERROR: No valid host."),
        stack,
      ),
    ]);
    assert.match(errors[0]?.message ?? "", /^Nova could not make .*No valid host/);
  });

  it("puts other errors before the program's error about a failed prerequisite", () => {
    const errors = explainMessages([
      error(prependFailureCode("FAILED", "Something that others wait for failed."), stack),
      error("something new", server),
    ]);
    assert.match(errors[0]?.message ?? "", /something new$/);
  });
});
