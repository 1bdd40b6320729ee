import assert from "node:assert/strict";
import fc from "fast-check";
import { explainMessages } from "../../../../automation/engine/engine-errors.js";
import { prependFailureCode, splitFailureCode } from "../../../../base/failures/failure.js";
import { failureCodes, type FailureCode } from "../../../../base/failures/failure-codes.js";
import {
  engineMessages,
  explain,
  script,
  stack,
  type EngineMessage,
} from "../../../support/engine/engine-messages.js";

/** Arbitrary log or console output of a machine, which may look like any kind of failure. */
const log = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.constantFrom(
        ...engineMessages.flatMap(({ text }) => text.split("\n")),
        ...failureCodes.map((code) => prependFailureCode(code, "x")),
        ...failureCodes.map((code) => `reason: ${prependFailureCode(code, "x")}`),
      ),
    ),
    { maxLength: 8 },
  )
  .map((lines) => lines.join("\n"));

describe("log of a machine", () => {
  const status = 'Process exited with status 1: running "sudo -n bash -s":';

  it("does not change the reason that the script reports", () => {
    const reasons = fc.constantFrom(
      "the disk is full",
      prependFailureCode("NOT_READY", "it is late"),
    );
    fc.assert(
      fc.property(log, reasons, (lines, reason) => {
        const alone = explain(script, `${status}\nreason: ${reason}\n`);
        const among = explain(script, `${status}\n${lines}\nreason: ${reason}\n`);
        assert.deepEqual([among.code, among.message], [alone.code, alone.message]);
      }),
    );
  });

  it("does not change the code of a killed script's error", () => {
    fc.assert(
      fc.property(log, (lines) => {
        assert.equal(explain(script, `${status}\n${lines}\nlast words`).code, "COMMAND_FAILED");
      }),
    );
  });

  it("does not change the code of an error that quotes the machine's console", () => {
    fc.assert(
      fc.property(log, fc.constantFrom(...failureCodes), (lines, code) => {
        const said = "The machine dev-general-1 never answered.\nLast lines of its console:\n";
        const { code: found, message } = explain(
          stack,
          prependFailureCode(code, `${said}${lines}`),
        );
        assert.equal(found, code);
        assert.ok(message.startsWith("The machine dev-general-1 never answered."));
      }),
    );
  });

  it("does not change which error comes first", () => {
    fc.assert(
      fc.property(log, (lines) => {
        const own = prependFailureCode(
          "SERVER_NEVER_BOOTED",
          `The machine never answered.\n${lines}`,
        );
        const plain = "after 30 failed attempts: dial tcp: i/o timeout";
        const [first] = explainMessages([
          { type: "message", at: 0, urn: script, severity: "error", text: plain },
          { type: "message", at: 0, urn: stack, severity: "error", ...splitFailureCode(own) },
        ]);
        assert.equal(first?.code, "SERVER_NEVER_BOOTED");
      }),
    );
  });
});

/** Names that users choose, including words that have a meaning in errors. */
const names = fc.oneof(
  fc.constantFrom("samples", "gold", "quota", "exceeded", "timeout", "loadbalancer", "network"),
  fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,15}[a-z0-9])?$/),
);

const named = ({ text }: EngineMessage): boolean => /\bdev\b/.test(text);

describe("name of a cluster", () => {
  const renamed = (text: string, name: string): string =>
    text.replaceAll(/\bdev\b/g, name).replaceAll("'dev'", `'${name}'`);
  for (const { code, urn = "", own, text } of engineMessages.filter(named))
    it(`does not change the code ${code}: ${text.split("\n")[0]?.slice(0, 60) ?? ""}`, () => {
      fc.assert(
        fc.property(names, (name) => {
          const said = renamed(own ? prependFailureCode(code, text) : text, name);
          assert.equal(explain(renamed(urn, name), said).code, code);
        }),
      );
    });

  const recorded: readonly (readonly [FailureCode, string])[] = [
    ["KUBERNETES_REFUSED", 'namespaces "NAME" not found'],
    ["KUBERNETES_REFUSED", 'Deployment.apps "NAME" is invalid: spec.template: Invalid value'],
    ["NAME_OCCUPIED", 'configmaps "NAME" already exists\n\nThe resource already exists in'],
  ];
  for (const [code, reason] of recorded)
    it(`does not change the code ${code} of a Kubernetes object: ${reason.split("\n")[0] ?? ""}`, () => {
      fc.assert(
        fc.property(names, (name) => {
          const urn = `urn:pulumi:${name}::stackadm::a:b:C$kubernetes:core/v1:ConfigMap::${name}`;
          const said = `resource "${urn}" was not successfully created by the Kubernetes API server: ${reason.replace("NAME", name)}`;
          assert.equal(explain(urn, said).code, code);
        }),
      );
    });
});
