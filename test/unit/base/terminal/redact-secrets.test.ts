import assert from "node:assert/strict";
import { inspect } from "node:util";
import fc from "fast-check";
import { Failure } from "../../../../base/failures/failure.js";
import {
  addKubeconfigSecrets,
  Redactor,
  createRedactor,
  redactError,
  redactProgress,
} from "../../../../base/terminal/redact-secrets.js";
import { formatRedactedJson } from "../../../../base/terminal/session.js";
import type { Step } from "../../../../base/progress.js";
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
    assert.equal(redactError(error, createRedactor(env)), error);
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
    assert.equal(redactError("database-secret", createRedactor(env)), "[secret]");
  });

  it("redacts private keys and passwords in URLs that it does not know", () => {
    const redactor = new Redactor();
    const key = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----";
    for (const [text, cleaned] of [
      [`a ${key} b`, "a [secret] b"],
      [`a ${JSON.stringify(key)} b`, 'a "[secret]" b'],
      ["users:\n  client-key-data: S0VZ\n  x: 1", "users:\n  client-key-data: [secret]\n  x: 1"],
      ["at http://ann:word@proxy:3128/x", "at http://ann:[secret]@proxy:3128/x"],
      ["at s3://b?x=1&token=word&y=2", "at s3://b?x=1&token=[secret]&y=2"],
      ["https://cloud.example:5000/v3 for ann@x", "https://cloud.example:5000/v3 for ann@x"],
    ] as const)
      assert.equal(redactor.clean(text), cleaned);
  });

  it("accepts variables with invalid JSON, URLs and characters", () => {
    const redactor = createRedactor({
      A_CREDENTIALS: '{"private_key": "one\ntwo-lines"}',
      A_URL: "x://a:%zz-password@b?token=%",
      A_TOKEN: "\ud800-lone-surrogate",
    });
    assert.equal(redactor.clean("two-lines %zz-password"), "two-lines [secret]");
  });

  it("keeps data of programs, even if a secret is an ordinary word", () => {
    const redactor = createRedactor({ OS_PASSWORD: "openstack" });
    const urn = "urn:pulumi:dev::p::openstack:networking/network:Network::net";
    const variables = { PULUMI_BACKEND_URL: "postgres://ann:openstack@db/s" };
    const fields = { type: "result", urn, variables, path: "/srv/openstack/kubeconfig" };
    assert.deepEqual(JSON.parse(formatRedactedJson(fields, redactor)), fields);
    const text = formatRedactedJson({ at: new Date(0), text: "openstack" }, redactor);
    assert.equal(text, '{"at":"1970-01-01T00:00:00.000Z","text":"[secret]"}');
  });
});

/** Environments that contain a secret, each in another place. */
const sources: Readonly<Record<string, (secret: string) => NodeJS.ProcessEnv>> = {
  "OpenStack's password": (secret) => ({ OS_PASSWORD: secret }),
  "OpenStack's passcode": (secret) => ({ OS_PASSCODE: secret }),
  "OpenStack's token": (secret) => ({ OS_AUTH_TOKEN: secret }),
  "an application credential": (secret) => ({ OS_APPLICATION_CREDENTIAL_SECRET: secret }),
  "the passphrase": (secret) => ({ PULUMI_CONFIG_PASSPHRASE: secret }),
  "the token of Pulumi's service": (secret) => ({ PULUMI_ACCESS_TOKEN: secret }),
  "the key of a bucket": (secret) => ({ AWS_SECRET_ACCESS_KEY: secret }),
  "the session of a bucket": (secret) => ({ AWS_SESSION_TOKEN: secret }),
  "the key of a storage account": (secret) => ({ AZURE_STORAGE_KEY: secret }),
  "credentials in JSON": (secret) => ({
    GOOGLE_CREDENTIALS: JSON.stringify({ type: "service_account", private_key: secret }),
  }),
  "the password of a database": (secret) => ({ PGPASSWORD: secret }),
  "a token of the user's program": (secret) => ({ CLOUDFLARE_API_TOKEN: secret }),
  "a private key as text": (secret) => ({
    OS_KEY: `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`,
  }),
  "the URL of a backend": (secret) => ({
    PULUMI_BACKEND_URL: `postgres://ann:${encodeURIComponent(secret)}@db/s`,
  }),
  "the query of a URL": (secret) => ({
    PULUMI_BACKEND_URL: `postgres://db/s?user=ann&password=${encodeURIComponent(secret)}`,
  }),
  "the URL of a proxy": (secret) => ({
    https_proxy: `http://ann:${encodeURIComponent(secret)}@proxy:3128`,
  }),
};

/** Exits of the program: what a text looks like behind each of them. */
const exits: Readonly<Record<string, (text: string, redactor: Redactor) => string>> = {
  text: (text, redactor) => redactor.clean(text),
  "a JSON line": (text, redactor) =>
    formatRedactedJson({ type: "log", text, list: [{ detail: text }] }, redactor),
  "an event": (text, redactor) =>
    JSON.stringify(redactor.cleanFields({ type: "done", error: { message: text, hint: text } })),
  "an error": (text, redactor) => {
    const cause = new AggregateError([new Error(text)], text);
    const error = new Failure("FAILED", text, text, { resource: text });
    Object.assign(error, { cause, request: { headers: [text] } });
    assert.equal(redactError(error, redactor), error);
    const seen = [error, error.cause, cause.errors[0] as Error].map((one) =>
      inspect(one, { depth: 6 }),
    );
    return [JSON.stringify(error), error.stack, ...seen].join("\n");
  },
  "the progress": (text, redactor) => {
    const shown: string[] = [];
    const show = (...texts: unknown[]): void => void shown.push(...texts.map(String));
    const begin = (title: string): Step => {
      show(title);
      return { update: show, done: show, failed: show };
    };
    const progress = redactProgress({ note: show, step: begin }, redactor);
    progress.note(text);
    const step = progress.step(text);
    step.update(text);
    step.done(text);
    step.failed(text);
    return shown.join("\n");
  },
};

describe("a secret", () => {
  const secrets = fc.stringMatching(/^[!-~]{12,30}$/);
  const forms = [
    (secret: string) => secret,
    encodeURIComponent,
    (secret: string) => JSON.stringify(secret).slice(1, -1),
  ];
  for (const [source, environment] of Object.entries(sources))
    for (const [exit, leave] of Object.entries(exits))
      it(`in ${source} leaves through ${exit} in no form`, () => {
        fc.assert(
          fc.property(secrets, (secret) => {
            const written = forms.map((form) => form(secret));
            const left = leave(
              `before ${written.join(" and ")} after`,
              createRedactor(environment(secret)),
            );
            assert.match(left, /before/);
            for (const one of nonEmpty(written)) assert.ok(!left.includes(one), left);
          }),
          { numRuns: 50 },
        );
      });
});
