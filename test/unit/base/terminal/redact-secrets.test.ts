import assert from "node:assert/strict";
import fc from "fast-check";
import { Failure } from "../../../../base/failures/failure.js";
import {
  addKubeconfigSecrets,
  Redactor,
  createRedactor,
  redactError,
} from "../../../../base/terminal/redact-secrets.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("Redactor", () => {
  it("redacts every string of a value at any depth", () => {
    const redactor = new Redactor();
    redactor.add({ a: ["first-secret", { b: "second-secret" }], n: 12345678, none: null });
    assert.equal(
      redactor.clean("first-secret and second-secret but 12345678"),
      "[secret] and [secret] but 12345678",
    );
  });

  it("redacts single lines of a multi-line secret", () => {
    const redactor = new Redactor();
    redactor.add("-----BEGIN-----\nAAAABBBBCCCC\n");
    assert.equal(redactor.clean("x AAAABBBBCCCC y"), "x [secret] y");
  });

  it("keeps short values, which occur by chance", () => {
    const redactor = new Redactor();
    redactor.add(["dev", "a", ""]);
    assert.equal(redactor.clean("dev a"), "dev a");
  });

  it("redacts the longest secret first, so that no part remains", () => {
    const redactor = new Redactor();
    redactor.add(["password", "password-and-more"]);
    assert.equal(redactor.clean("password-and-more"), "[secret]");
  });

  it("leaves no secret in any text", () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9+/]{12,40}$/);
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1 }), fc.string(), (secrets, noise) => {
        const redactor = new Redactor();
        redactor.add(secrets);
        const cleaned = redactor.clean(secrets.join(noise));
        for (const one of nonEmpty(secrets)) assert.ok(!cleaned.includes(one));
      }),
    );
  });

  it("redacts passwords of the environment, but not variable names", () => {
    const redactor = createRedactor({
      OS_PASSWORD: "correct horse",
      OS_APPLICATION_CREDENTIAL_SECRET: "application-secret",
      PULUMI_CONFIG_PASSPHRASE: "passphrase-value",
      OS_USERNAME: "demo-user-name",
      PULUMI_CONFIG_PASSPHRASE_FILE: "/path/to/passphrase",
      PULUMI_BACKEND_URL: "postgres://stacks:database-secret@host.example.org/stacks",
    });
    assert.equal(
      redactor.clean(
        "correct horse application-secret passphrase-value database-secret demo-user-name /path/to/passphrase",
      ),
      "[secret] [secret] [secret] [secret] demo-user-name /path/to/passphrase",
    );
  });

  it("redacts keys and tokens of a kubeconfig, but not its other words", () => {
    const redactor = new Redactor();
    addKubeconfigSecrets(
      redactor,
      "clusters:\n  - name: kubernetes-cluster\nusers:\n  - user:\n      client-key-data: S0VZS0VZS0VZ\n      token: abcdef.0123456789\n",
    );
    assert.equal(
      redactor.clean("kubernetes-cluster S0VZS0VZS0VZ abcdef.0123456789"),
      "kubernetes-cluster [secret] [secret]",
    );
  });

  it("redacts secrets in a thrown error, which stays the same object", () => {
    const said = "unable to open bucket postgres://stacks:database-secret@host.example.org/stacks";
    const error = new Failure("FAILED", said, "Ask database-secret.");
    const env = {
      PULUMI_BACKEND_URL: "postgres://stacks:database-secret@host.example.org/stacks",
    };
    assert.equal(redactError(error, env), error);
    assert.deepEqual(
      [error.code, error.sentence, error.message, error.hint],
      [
        "FAILED",
        "unable to open bucket postgres://stacks:[secret]@host.example.org/stacks",
        "unable to open bucket postgres://stacks:[secret]@host.example.org/stacks",
        "Ask [secret].",
      ],
    );
    assert.doesNotMatch(error.stack ?? "", /database-secret/);
    assert.equal(redactError("text", env), "text");
  });
});
