import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import { Failure } from "../../../../base/failures/failure.js";
import {
  readEnvironmentSettings,
  readCloudsFileSettings,
} from "../../../../openstack/auth/clouds-file.js";
import { golden } from "../../../support/golden.js";

const url = "auth_url: 'https://k:5000/v3'";
const user = "username: u, password: SECRET, project_name: x";
const entry = (more: string): string => `clouds: {c: {auth: {${url}, ${user}}, ${more}}}`;
const auth = (words: string): string => `clouds: {c: {auth: {${words}}}}`;
const typed = (type: string, words: string): string =>
  `clouds: {c: {auth_type: ${type}, auth: {${words}}}}`;

/** Texts of clouds.yaml without a usable cloud `c`. */
const files: readonly string[] = [
  ...["clouds: [", "- a", "hello", "", "cloud: {}", "clouds: hello", "clouds: [c]"],
  ...[
    "clouds: {other: {}, another: {}}",
    "clouds: {c: hello}",
    "clouds: {c: [a]}",
    "clouds: {c: 7}",
  ],
  ...["clouds: {c: {}}", "clouds: {c: {auth: hello}}", "clouds: {c: {auth: [a]}}"],
  ...[auth(""), auth(user), auth(url), auth(`${url}, password: SECRET`)],
  ...[auth(`${url}, username: u`), auth(`${url}, username: '', password: SECRET`)],
  ...[auth("auth_url: [SECRET], username: u"), auth(`${url}, username: u, password: [SECRET]`)],
  ...[auth(`${url}, username: {a: SECRET}`), auth(`auth_url: banana, ${user}`)],
  ...[auth(`auth_url: 'ftp://k', ${user}`), auth(`auth_url: 'http://', ${user}`)],
  ...[auth(`auth_url: 'k:5000', ${user}`), auth(`auth_url: '/v3', ${user}`)],
  ...[auth(`auth_url: 'http://k:5000/v2.0', ${user}`), auth(`auth_url: 'http://k/v2', ${user}`)],
  auth(`auth_url: 'ftp://me:SECRET@k', ${user}`),
  ...[typed("v3kerberos", url), typed("v2password", `${url}, ${user}`), typed("none", "")],
  ...[typed("[a]", url), typed("v3token", url), typed("token", "token: SECRET")],
  typed("v3applicationcredential", url),
  typed("v3applicationcredential", `${url}, application_credential_id: i`),
  typed("v3applicationcredential", `${url}, application_credential_secret: SECRET`),
  typed(
    "v3applicationcredential",
    `${url}, application_credential_name: n, application_credential_secret: SECRET`,
  ),
  ...[
    entry("verify: maybe"),
    entry("verify: 'true'"),
    entry("insecure: 1"),
    entry("interface: out"),
  ],
  ...[entry("interface: 7"), entry("endpoint_type: adminURLs"), entry("region_name: [a]")],
  ...[entry("regions: r"), entry("regions: []\n, region_name: {}"), entry("cacert: 7")],
  ...[entry("regions: [a, b], region_name: c"), entry("regions: [{values: {}}]")],
  ...[entry("cacert: /nowhere.pem"), entry("cacert: $NOT_SET/ca.pem"), entry("cert: /c.pem")],
  ...[entry("key: /k.pem"), entry("cert: /nowhere.pem, key: /nowhere.pem"), entry("profile: p")],
  ...[entry("profile: [p]"), entry("cloud: p")],
];

const variables: readonly Readonly<Record<string, string>>[] = [
  { OS_AUTH_URL: "" },
  { OS_AUTH_URL: "https://k" },
  { OS_AUTH_URL: "https://k", OS_USERNAME: "u" },
  { OS_AUTH_URL: "https://k", OS_PASSWORD: "SECRET" },
  { OS_AUTH_URL: "https://k", OS_USERNAME: "", OS_PASSWORD: "" },
  { OS_AUTH_URL: "nope", OS_USERNAME: "u", OS_PASSWORD: "SECRET" },
  { OS_AUTH_URL: "https://k/v2.0/", OS_USERNAME: "u", OS_PASSWORD: "SECRET" },
  { OS_AUTH_URL: "https://k", OS_AUTH_TYPE: "v3oidcpassword" },
  { OS_AUTH_URL: "https://k", OS_AUTH_TYPE: "v3applicationcredential" },
  { OS_AUTH_URL: "https://k", OS_APPLICATION_CREDENTIAL_SECRET: "SECRET" },
  { OS_AUTH_URL: "https://k", OS_AUTH_TYPE: "token" },
  { OS_AUTH_URL: "https://k", OS_USERNAME: "u", OS_PASSWORD: "SECRET", OS_INTERFACE: "outside" },
  { OS_AUTH_URL: "https://k", OS_USERNAME: "u", OS_PASSWORD: "SECRET", OS_CACERT: "/nowhere.pem" },
  { OS_AUTH_URL: "https://k", OS_USERNAME: "u", OS_PASSWORD: "SECRET", OS_CERT: "/c.pem" },
];

describe("invalid cloud settings", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "clouds-refused-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** Returns the error's sentence and hint. */
  const refusal = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      assert.ok(error instanceof CloudError || error instanceof Failure, String(error));
      const said = `${error.message}\n    ${error.hint}`.replaceAll(folder, "FOLDER");
      assert.ok(!/(?<!_)SECRET/.test(said), said);
      assert.match(error.message, /^[^\n]+$/);
      return `  ${said.trimEnd()}`;
    }
    return assert.fail("it is taken");
  };

  it("are refused in one sentence without a secret, before any request: clouds.yaml", () => {
    const file = join(folder, "clouds.yaml");
    const said = files.map((text) => {
      writeFileSync(file, text);
      return `${text}\n${refusal(() => readCloudsFileSettings("c", [file], { env: {} }))}\n`;
    });
    golden("clouds-refused.txt", said.join("\n"));
  });

  it("are refused in one sentence without a secret, before any request: variables", () => {
    const said = variables.map((env) => {
      const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      return `${words.join(" ")}\n${refusal(() => readEnvironmentSettings(env))}\n`;
    });
    golden("variables-refused.txt", said.join("\n"));
  });
});
