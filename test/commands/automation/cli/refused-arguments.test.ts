import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { stringify } from "yaml";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { Operator } from "../../../support/commands/test-user.js";

type Variables = Readonly<Record<string, string | undefined>>;

const auth = {
  auth_url: "http://127.0.0.1:1",
  username: "demo",
  password: "correct horse",
  project_name: "demo",
};
const entry = (changes: object): string => stringify({ clouds: { ours: { auth, ...changes } } });
const authOf = (changes: object): string => entry({ auth: { ...auth, ...changes } });

/** Texts of clouds.yaml with their errors. The selected cloud is `ours`. */
const files: readonly (readonly [what: string, text: string, said: RegExp])[] = [
  ["another cloud", stringify({ clouds: { theirs: {} } }), /no cloud 'ours' .*It holds: theirs/s],
  ["an empty file", "", /no cloud 'ours' .*It holds: none/s],
  ["no clouds", "cloud: {}\n", /no cloud 'ours'/],
  ["invalid YAML", "clouds: [1\n", /clouds\.yaml cannot be read: .* at line 2/],
  ["a list as a cloud", stringify({ clouds: { ours: [1] } }), /clouds\.ours is a list and must/],
  ["no auth", stringify({ clouds: { ours: {} } }), /auth_url, username or user_id, password are/],
  ["no auth_url", authOf({ auth_url: undefined }), /auth_url is missing/],
  [
    "an invalid URL",
    authOf({ auth_url: "keystone" }),
    /'keystone' is not the address .*; write one like/,
  ],
  ["another protocol", authOf({ auth_url: "ftp://k" }), /'ftp:\/\/k' is not the address .*; write/],
  ["no user", authOf({ username: undefined }), /username or user_id is missing/],
  ["no password", authOf({ password: undefined }), /password is missing/],
  ["an unknown auth type", entry({ auth_type: "v3kerberos" }), /'v3kerberos' .*; write one of/],
  ["no token", entry({ auth_type: "token" }), /token is missing/],
  ["no secret", entry({ auth_type: "v3applicationcredential" }), /application_credential_secret/],
  [
    "an unknown interface",
    entry({ interface: "secret" }),
    /'secret' is not an interface; write one/,
  ],
  ["a certificate without a key", entry({ cert: "/x" }), /cert or key is missing/],
  ["a missing CA file", entry({ cacert: "/nowhere.pem" }), /'\/nowhere\.pem'/],
  ["an unset variable", entry({ cacert: "$NOWHERE/x" }), /needs the variable \$NOWHERE/],
  [
    "text instead of a boolean",
    entry({ verify: "maybe" }),
    /clouds\.ours\.verify is text and must be/,
  ],
  ["an unknown profile", entry({ profile: "nobodys" }), /there is no profile 'nobodys'/],
];

/** Environment variables with their errors. */
const variables: readonly (readonly [changes: Variables, said: RegExp])[] = [
  [{ OS_AUTH_URL: "cloud" }, /auth_url 'cloud' is not the address .*; write one like/],
  [{ OS_AUTH_URL: "ftp://cloud" }, /auth_url 'ftp:\/\/cloud' is not the address/],
  [{ OS_USERNAME: undefined }, /OS_USERNAME or OS_USER_ID is missing/],
  [{ OS_PASSWORD: undefined }, /OS_PASSWORD is missing/],
  [{ OS_AUTH_TYPE: "kerberos" }, /auth_type 'kerberos' is not supported; write one of/],
  [{ OS_INTERFACE: "secret" }, /'secret' is not an interface; write one of/],
  [{ OS_CACERT: "/nowhere.pem" }, /'\/nowhere\.pem'/],
  [{ OS_CERT: "/x" }, /cert or key is missing/],
  [{ OS_CLOUD: "nobodys" }, /'nobodys'/],
  [{ STACKADM_SITE: "/nowhere.yaml" }, /STACKADM_SITE: \/nowhere\.yaml does not exist; name/],
  [{ PULUMI_BACKEND_URL: "ftp://x" }, /'ftp:\/\/x' is not the address of a backend.*write one/s],
  [{ PULUMI_BACKEND_URL: "somewhere" }, /'somewhere' is not the address of a backend/],
  [{ PULUMI_CONFIG_PASSPHRASE_FILE: "/nowhere.txt" }, /_FILE: \/nowhere\.txt does not exist/],
];

const stacks = [
  ...["../dev", "../../etc/passwd", "a/b", "/dev", "organization/dev", "", ".", "..", "-x"],
  ...["a b", "ä", "~", "dev\n", "dev\u0000", "C:\\dev", "DEV?", "$HOME", "`id`", "x".repeat(101)],
];

/** Command lines with their errors. */
const lines: readonly (readonly [args: readonly string[], said: RegExp])[] = [
  [["upp"], /unknown command 'upp'\n\(Did you mean up\?\)/],
  [["Up"], /unknown command 'Up'/],
  [["up", "--forse"], /unknown option '--forse'/],
  [["up", "--yes"], /unknown option '--yes'/],
  [["up", "everything"], /too many arguments for 'up'/],
  [["up", "-s"], /argument missing/],
  [["destroy", "everything"], /too many arguments for 'destroy'/],
  [["status", "--delete"], /unknown option '--delete'/],
  [["status", "dev"], /too many arguments for 'status'/],
  [["orphans", "--cluster"], /argument missing/],
  [["orphans", "--identity"], /argument missing/],
  [["doctor", "--fix"], /unknown option '--fix'/],
];

describe("a command with invalid settings or arguments", function () {
  this.timeout(60_000);
  let cloud: FakeCloud;
  let operator: Operator;
  before(async () => {
    cloud = await startFakeCloud();
    operator = new Operator();
  });
  after(async () => {
    operator.remove();
    await cloud.close();
  });
  /**
   * Runs a command that must fail with this message: in at most two lines in addition to the steps, before
   * any request and any operation.
   */
  const refused = async (env: Variables, args: readonly string[], said: RegExp): Promise<void> => {
    const { code, out, err } = await operator.runWith(env, ...args);
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, said);
    assert.doesNotMatch(err, /^\s+at .*:\d+:\d+/m, "a stack trace is no sentence");
    assert.doesNotMatch(err, /correct horse/);
    assert.deepEqual([cloud.seen, operator.engine.operations()], [[], []]);
  };
  const openrc = (): Variables => cloud.environment();

  for (const [what, text, said] of files)
    it(`fails before the first request: ${what} in clouds.yaml`, async () => {
      const file = join(operator.home, "clouds.yaml");
      writeFileSync(file, text);
      try {
        await refused({ OS_CLIENT_CONFIG_FILE: file, OS_CLOUD: "ours" }, ["up"], said);
      } finally {
        rmSync(file);
      }
    });

  for (const [changes, said] of variables)
    it(`fails before the first request: ${inspect(changes)}`, () =>
      refused({ ...openrc(), ...changes }, ["up"], said));

  for (const stack of stacks)
    it(`fails before the first request: a stack named ${JSON.stringify(stack)}`, async () => {
      for (const command of [["up"], ["destroy", "--yes"], ["kubeconfig"]])
        await refused(openrc(), [...command, `--stack=${stack}`], /is not the name of a stack/);
    });

  for (const [args, said] of lines)
    it(`fails before the first request: stackadm ${args.join(" ")}`, () =>
      refused(openrc(), args, said));
});
