import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { golden } from "../../../support/golden.js";
import { Operator } from "../../../support/commands/test-user.js";
import { prepareReadyCloud } from "../../../support/cloud/ready-cluster.js";

interface Refused {
  readonly args: readonly string[];
  /** Environment variables; `HOME` in a value becomes the operator's home directory. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files in the home directory, by name; null creates a directory. */
  readonly files?: Readonly<Record<string, string | null>>;
}

const stacks = ["..", ".", "", "../../etc/passwd", "a b", "a/b", "org/project/dev", "a\nb"];
const up = (env: Readonly<Record<string, string>>, files?: Refused["files"]): Refused => ({
  args: ["up"],
  env,
  files,
});
const backend = (PULUMI_BACKEND_URL: string, files?: Refused["files"]) =>
  up({ PULUMI_BACKEND_URL }, files);
const site = (path: string, files?: Refused["files"]) => up({ STACKADM_SITE: path }, files);

const rows: readonly Refused[] = [
  ...[...stacks, "-x", "--json", "a".repeat(101), "a;b", "$HOME", "é", "none"].map((stack) => ({
    args: ["up", "--stack", stack],
  })),
  ...["status", "preview", "destroy", "kubeconfig", "outputs", "unlock", "refresh", "doctor"].map(
    (command) => ({ args: [command, "--stack", ".."] }),
  ),
  ...[["up", "--stack"], ["deploy"], ["destory"], ["up", "--yess"], ["up", "dev"], ["UP"]].map(
    (args) => ({ args }),
  ),
  ...[
    ["up", "--cwd"],
    ["up", "--cwd", "/not/there"],
    ["status", "-C", ""],
    ["up", "--refresh=no"],
    ["up", "--force", "now"],
    ["status", "--json=yes"],
    ["env", "x"],
  ].map((args) => ({ args })),
  ...[["destroy"], ["destroy", "--abandon"], ["destroy", "--yes=no"], ["unlock", "--force"]].map(
    (args) => ({ args }),
  ),
  ...["Dev_1", "", "a".repeat(29), "-a", "a-"].map((name) => ({
    args: ["orphans", "--cluster", name],
  })),
  ...["xyz", "", "0123456789AB", "0123456789abc"].map((id) => ({
    args: ["orphans", "--identity", id],
  })),
  ...["--volumes", "--floating-ips", "--retained"].map((option) => ({ args: ["orphans", option] })),
  ...["banana", "/srv/stacks", "ftp://x/y", "file://stacks", "file://./stacks", "s3://"].map(
    (url) => backend(url),
  ),
  ...["postgres://", "postgres://?sslmode=off", "gs://", "azblob:///x", "FILE:///x"].map((url) =>
    backend(url),
  ),
  ...["https://me:SECRET@", "file:///not/there", "file://~/nowhere"].map((url) => backend(url)),
  backend("file://HOME/file", { file: "" }),
  ...["prefix=team/", "create_dir=true&key=x"].map((query) => backend(`file://HOME/s?${query}`)),
  site("/not/there.yaml"),
  site("HOME/site", { site: null }),
  ...["a: [", "- a", "hello", "7", "a: b: c"].map((text) => site("HOME/site", { site: text })),
  up({ PULUMI_CONFIG_PASSPHRASE_FILE: "/not/there" }),
  up({ PULUMI_CONFIG_PASSPHRASE_FILE: "HOME/directory" }, { directory: null }),
  up({ XDG_STATE_HOME: "HOME/file" }, { file: "" }),
  ...["s3://bucket", "postgres://me:SECRET@db.example/stacks"].map((PULUMI_BACKEND_URL) =>
    // State directory of a machine that has no passphrase yet.
    up({ PULUMI_BACKEND_URL, XDG_STATE_HOME: "HOME/new" }),
  ),
  ...[
    ...[
      "{",
      '{"$pulumiSecureStore":1}',
      '{"current":"file://."}',
      '{"current":"file:///not/there"}',
    ],
    ...['{"current":"s3://bucket"}'],
  ].map((login) =>
    up({ PULUMI_CREDENTIALS_PATH: "HOME/user" }, { "user/credentials.json": login }),
  ),
  ...["0", "-1", "abc", "1e3", " 8"].map((parallel) => up({ PULUMI_PARALLEL: parallel })),
  ...["two words", "-prod"].map((owner) => up({ STACKADM_OWNER: owner })),
  ...["maybe", "2", "yes"].map((insecure) => up({ OS_INSECURE: insecure })),
  up({ OS_AUTH_URL: "", OS_CLOUD: "" }),
  up({ OS_AUTH_URL: "", OS_USERNAME: "u" }),
  up({ OS_CLOUD: "c", OS_CLIENT_CONFIG_FILE: "/not/there/clouds.yaml" }),
  up({ OS_CLOUD: "c", OS_CLIENT_CONFIG_FILE: "HOME/c" }, { c: "clouds: {d: {}}" }),
  up({ OS_CLOUD: "c", OS_CLIENT_CONFIG_FILE: "HOME/c" }, { c: null }),
];

describe("errors of the command line", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  before(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
  });
  after(() => cloud.close());

  /** Returns the error of a row: its sentence, and the hint. */
  const refusal = async ({ args, env = {}, files = {} }: Refused): Promise<string> => {
    const operator = new Operator(cloud.environment({ OS_PASSWORD: "SECRET" }));
    try {
      const filled = (text: string): string => text.replaceAll("HOME", operator.home);
      for (const [name, text] of Object.entries(files)) {
        const path = join(operator.home, name);
        mkdirSync(text === null ? path : dirname(path), { recursive: true });
        if (text !== null) writeFileSync(path, text);
      }
      const entries = Object.entries(env).map(([name, value]) => [name, filled(value)] as const);
      const { code, err } = await operator.runWith(Object.fromEntries(entries), ...args);
      const variables = Object.entries(env).map((pair) => pair.join("="));
      const what = [...variables, JSON.stringify(args)].join(" ");
      assert.equal(code, 2, `${what}: ${err}`);
      assert.deepEqual(operator.engine.operations(), [], what);
      const said = err
        .replaceAll(operator.home, "HOME")
        .replaceAll(`${userInfo().homedir}/`, "OWN-HOME/")
        .replaceAll(/\S*\/package\//g, "PACKAGE/")
        .slice(err.indexOf("error:") === -1 ? 0 : undefined);
      assert.ok(
        !said.includes("SECRET") && !said.includes("Unexpected failure"),
        `${what}: ${said}`,
      );
      const from = said.indexOf("error:");
      return `${what}\n${said.slice(Math.max(from, 0)).trimEnd().replaceAll(/^/gm, "  ")}\n`;
    } finally {
      operator.remove();
    }
  };

  it("explain each mistake in one sentence with a fix, before any request or operation", async () => {
    const said: string[] = [];
    for (const row of rows) said.push(await refusal(row));
    assert.deepEqual(cloud.seen, []);
    golden("cli/refused.txt", said.join("\n"));
  });
});
