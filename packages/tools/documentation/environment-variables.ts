/** Program that reads a variable. `the tests` includes the tools and the benchmarks of a checkout. */
export type VariableReader =
  "stackadm" | "Pulumi" | "OpenStack's provider" | "the toolchain" | "the lab" | "the tests";

export interface EnvironmentVariable {
  readonly name: string;
  /** Value and effect, as Markdown. Begins with a small letter and has no full stop. */
  readonly meaning: string;
  /** Value of an unset variable, as Markdown. Absent: nothing happens without the variable. */
  readonly default?: string;
  readonly readBy: readonly VariableReader[];
}

export interface VariableSection {
  readonly title: string;
  /** Paragraphs above the list, as Markdown. */
  readonly intro: readonly string[];
  readonly variables: readonly EnvironmentVariable[];
  /** Paragraphs below the list, as Markdown. */
  readonly remarks?: readonly string[];
}

const readBy =
  (...readers: readonly VariableReader[]) =>
  (name: string, meaning: string, otherwise?: string): EnvironmentVariable => ({
    name,
    meaning,
    ...(otherwise !== undefined && { default: otherwise }),
    readBy: readers,
  });

const ours = readBy("stackadm");
const cloud = readBy("stackadm", "OpenStack's provider");
const engine = readBy("stackadm", "Pulumi");
const lab = readBy("the lab");
const toolchain = readBy("the toolchain");
const tests = readBy("the tests");

const stackadmVariables: VariableSection = {
  title: "stackadm",
  intro: [],
  variables: [
    ours(
      "STACKADM_SITE",
      "absolute path of a YAML file with [site defaults](../set-up/site-defaults.md)",
      "none; on the lab, the `site.yaml` of the lab",
    ),
    ours(
      "STACKADM_OWNER",
      "name of the pipeline and its environment, such as `prod-pipeline`. The next command with the same name takes over a stack that a [killed job](../team/ci.md#what-happens-if-a-job-is-stopped) holds. At most 100 letters, digits and `._/@:-`. Every reader of the state can read the name, so it must not be a secret. No effect with Pulumi Cloud",
      "none; no stack is taken over",
    ),
    ours(
      "STACKADM_DEBUG",
      "if set, to any value, an unexpected error is printed with its stack trace",
    ),
    ours(
      "STACKADM_STAND_INS",
      "`1` allows the package `@stackadm/toolchain` to build or replace missing programs of Pulumi on any cloud. Test equipment; on the lab, this is always allowed",
    ),
    toolchain(
      "STACKADM_KUBERNETES_PLUGIN",
      "`stand-in` or `built`: what `@stackadm/toolchain` uses if the official Kubernetes plugin is missing",
      "`stand-in`",
    ),
    readBy("stackadm", "the lab")(
      "STACKADM_LAB_NAME",
      "name of the lab, and of its entry in `clouds.yaml`",
      "`stackadm-lab`",
    ),
  ],
};

const cloudVariables: VariableSection = {
  title: "Cloud",
  intro: [
    "`OS_CLOUD` or `OS_AUTH_URL` must be set, unless the settings of the stack name a cloud or the lab runs. Settings `openstack:*` of the stack win over these variables. Details: [cloud connection](../set-up/cloud-connection.md).",
  ],
  variables: [
    cloud(
      "OS_CLOUD",
      "entry of `clouds.yaml`. With this variable, the variables of the [login](#login) are ignored",
      "on the lab, the entry of the lab",
    ),
    cloud(
      "OS_CLIENT_CONFIG_FILE",
      "path of `clouds.yaml`",
      "the first of `./clouds.yaml`, `~/.config/openstack/clouds.yaml` and `/etc/openstack/clouds.yaml`",
    ),
    cloud("OS_REGION_NAME", "region; overrides the entry"),
    ours(
      "OS_INTERFACE",
      "`public`, `internal` or `admin`; overrides the entry. stackadm passes the value to OpenStack's provider as `OS_ENDPOINT_TYPE`",
      "`public`",
    ),
    cloud("OS_ENDPOINT_TYPE", "older name of `OS_INTERFACE`. `OS_INTERFACE` has priority"),
    cloud("OS_CACERT", "file in PEM with the CA of the cloud; overrides the entry"),
    cloud("OS_CERT", "file in PEM with the client certificate; overrides the entry"),
    cloud("OS_KEY", "file in PEM with the key of the client certificate; overrides the entry"),
    cloud(
      "OS_INSECURE",
      "`true` accepts any certificate of the cloud; overrides the entry",
      "`false`",
    ),
  ],
  remarks: ["Not read: `OS_CLIENT_SECURE_FILE`, `OS_CLIENT_VENDOR_FILE`."],
};

const loginVariables: VariableSection = {
  title: "Login",
  intro: ["Without `OS_CLOUD`, the variables of an openrc file are the login."],
  variables: [
    cloud("OS_AUTH_URL", "URL of Keystone, version 3"),
    cloud(
      "OS_AUTH_TYPE",
      "`password`, `token` or `v3applicationcredential`, or the first two with `v3` before them",
      "follows from the other variables",
    ),
    cloud("OS_USERNAME", "name of the user"),
    cloud("OS_USER_ID", "ID of the user, instead of the name"),
    cloud("OS_PASSWORD", "password of the user"),
    cloud("OS_TOKEN", "token, instead of user and password"),
    cloud("OS_AUTH_TOKEN", "older name of `OS_TOKEN`"),
    cloud("OS_APPLICATION_CREDENTIAL_ID", "ID of an application credential"),
    cloud(
      "OS_APPLICATION_CREDENTIAL_NAME",
      "name of an application credential, instead of the ID; also needs `OS_USERNAME`",
    ),
    cloud("OS_APPLICATION_CREDENTIAL_SECRET", "secret of the application credential"),
    cloud("OS_PROJECT_ID", "ID of the project"),
    cloud("OS_PROJECT_NAME", "name of the project, instead of the ID"),
    cloud("OS_TENANT_ID", "older name of `OS_PROJECT_ID`"),
    cloud("OS_TENANT_NAME", "older name of `OS_PROJECT_NAME`"),
    cloud("OS_USER_DOMAIN_ID", "ID of the user's domain", "`default`, if no domain is named"),
    cloud("OS_USER_DOMAIN_NAME", "name of the user's domain"),
    cloud("OS_PROJECT_DOMAIN_ID", "ID of the project's domain", "`default`, if no domain is named"),
    cloud("OS_PROJECT_DOMAIN_NAME", "name of the project's domain"),
    cloud("OS_DOMAIN_ID", "ID of the domain of user and project, if theirs are not set"),
    cloud("OS_DOMAIN_NAME", "name of the domain of user and project, if theirs are not set"),
    cloud("OS_DEFAULT_DOMAIN", "ID of these domains, if no domain is named", "`default`"),
  ],
};

const pulumiVariables: VariableSection = {
  title: "Pulumi",
  intro: [],
  variables: [
    engine(
      "PULUMI_BACKEND_URL",
      "URL of the backend with the state; has priority over `backend.url` in `Pulumi.yaml`. Accepted: `file://`, `s3://`, `gs://`, `azblob://`, `postgres://`, `http://`, `https://`. The directory of a `file://` URL must exist and be writable, unless the URL has `?create_dir=true`. The path is absolute, from `/` or `~`. The parameters `prefix` and `key` are refused",
      "the backend that `pulumi login` selected, else the directory `pulumi` in the state directory ([which backend is used](../team/backend.md))",
    ),
    engine(
      "PULUMI_CONFIG_PASSPHRASE_FILE",
      "file with the passphrase of the stacks",
      "the file `passphrase` in the state directory, which stackadm creates, if the backend is stackadm's directory; else none",
    ),
    engine(
      "PULUMI_CONFIG_PASSPHRASE",
      "the passphrase itself. If set, even to an empty text, the file is not used",
    ),
    engine(
      "PULUMI_PARALLEL",
      "number of resources that the engine works on at once. Use a smaller number if the cloud answers 429",
      "`64`",
    ),
    engine(
      "PULUMI_HOME",
      "directory with Pulumi's programs and plugins, and with the login",
      "`~/.pulumi`",
    ),
    engine(
      "PULUMI_CREDENTIALS_PATH",
      "directory with `credentials.json`, the file of `pulumi login`",
      "`PULUMI_HOME`",
    ),
    engine(
      "PULUMI_ACCESS_TOKEN",
      "token of Pulumi's service. If no one is logged in, it selects Pulumi Cloud as the backend",
    ),
    engine(
      "PULUMI_API",
      "URL of the service to which `PULUMI_ACCESS_TOKEN` belongs",
      "`https://api.pulumi.com`",
    ),
  ],
  remarks: [
    "Pulumi, its backends, plugins and your program read more variables, for example `AWS_ACCESS_KEY_ID` for S3. stackadm passes every variable on whose name does not begin with `PULUMI_` or `OS_`.",
    [
      "Of the names that begin with `PULUMI_`, only these are passed on. A warning names the others, for example `PULUMI_OPTION_TARGET`, `PULUMI_CONTINUE_ON_ERROR` or `PULUMI_K8S_DELETE_UNREACHABLE`, because they change what an operation does ([0066](../decisions/0066-passed-environment.md)):",
      "",
      "- backend, login and secrets: the variables above, `PULUMI_CONSOLE_DOMAIN`, `PULUMI_DEFAULT_ORGANIZATION`, `PULUMI_CREDENTIAL_STORE`, `PULUMI_CLOUD_SECRET_OVERRIDE`, and most of `PULUMI_DIY_BACKEND_*`;",
      "- programs and plugins: `PULUMI_SKIP_UPDATE_CHECK`, `PULUMI_IGNORE_AMBIENT_PLUGINS`, `PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION`, `PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES`, `PULUMI_GITSSH_PASSPHRASE`;",
      "- speed and diagnosis: `PULUMI_PARALLEL_*`, `PULUMI_DEBUG_*`, `PULUMI_LOG_*`, `PULUMI_OTEL_*`, `PULUMI_TRACING_*`;",
      "- facts for your program and for Pulumi's service: `PULUMI_STACK`, `PULUMI_PROJECT`, `PULUMI_ORG`, `PULUMI_CI_*`, `PULUMI_GIT_*`, `PULUMI_VCS_*`;",
      "- Kubernetes: `PULUMI_K8S_CLIENT_*`, `PULUMI_K8S_SUPPRESS_*`, `PULUMI_K8S_HELM_*`.",
    ].join("\n"),
    "Of the names that begin with `OS_`, these are left out: variables of a login that is not used, and `OS_SWAUTH`, `OS_DELAYED_AUTH`, `OS_ALLOW_REAUTH` and `OS_USE_OCTAVIA`.",
    "stackadm sets `PATH` (tools first), `PULUMI_SKIP_UPDATE_CHECK=true`, the backend, the passphrase file and `SSH_AUTH_SOCK` for the engine. It sets `PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true` if the package `@stackadm/toolchain` provides a program, and `no_grpc_proxy` with the hosts of this machine if `http_proxy`, `https_proxy` or `grpc_proxy` is set. `stackadm env` prints these variables. If no agent has a key, it prints lines that start an agent, in place of `SSH_AUTH_SOCK`.",
  ],
};

const machineVariables: VariableSection = {
  title: "Your machine",
  intro: [],
  variables: [
    engine(
      "SSH_AUTH_SOCK",
      "socket of the ssh-agent with the login key",
      "without an agent or without a key, stackadm starts an agent with its own key for the duration of the command",
    ),
    readBy("stackadm", "the lab")(
      "XDG_STATE_HOME",
      "absolute path; stackadm keeps in its directory `stackadm` what cannot be created again (see below)",
      "`~/.local/state`",
    ),
    readBy("stackadm", "the lab")(
      "XDG_CACHE_HOME",
      "absolute path; stackadm keeps in its directory `stackadm` what it can create again: `scripts/`, `manifests/`, `toolchain/`",
      "`~/.cache`",
    ),
    ours("HOME", "directory that replaces `~` in the paths of `clouds.yaml`"),
    ours("PATH", "searched for `pulumi`, its plugins, `ssh-agent`, `ssh-add` and `kubectl`"),
    engine(
      "HTTPS_PROXY",
      "proxy for `https://`, such as `http://proxy.example.org:3128`, for all requests of stackadm, Pulumi and its plugins. See [Through a proxy](../set-up/cloud-connection.md#through-a-proxy)",
    ),
    engine("HTTP_PROXY", "proxy for `http://`"),
    engine(
      "NO_PROXY",
      "hosts that are reached without the proxy: names, domains, addresses, ranges and `*`, with commas between them. This machine is always reached directly",
    ),
    ours("CI", "if set, progress is printed as plain lines, without redrawing"),
    ours("TERM", "`dumb`: progress is printed as plain lines, without redrawing"),
    ours("TMPDIR", "place of the socket of an agent that stackadm starts", "`/tmp`"),
  ],
  remarks: [
    "Values of `XDG_STATE_HOME` and `XDG_CACHE_HOME` that are not absolute paths are ignored. The names of the three variables for proxies may be written in lower case. The proxy of the machines is a [setting](../set-up/proxy.md).",
    "The state directory contains:",
    [
      "- `pulumi/`: state, if no other backend is set;",
      "- `passphrase`, and `ssh/id_ed25519`, the login key that stackadm creates;",
      "- `work/<stack>-<8 digits>/`: private directory of a stack with the kubeconfig, the timeline page and notes about running engines. Each combination of backend, project and stack has another directory.",
    ].join("\n"),
  ],
};

const labVariables: VariableSection = {
  title: "Lab and tests",
  intro: ["Variables of [the lab](../../packages/lab/README.md) and of the tests in a checkout."],
  variables: [
    lab("STACKADM_LAB_MANAGEMENT", "network of the lab's APIs, a /24", "`172.29.0.0/24`"),
    lab("STACKADM_LAB_EXTERNAL", "external network of the lab, a /24", "`172.29.1.0/24`"),
    lab("STACKADM_LAB_SERVICES", "second external network, a /24", "`172.29.2.0/24`"),
    lab(
      "STACKADM_LAB_MIRROR",
      "`never`, `auto`, or the URL of a copy of the Kubernetes packages: what the lab builds and what it fetches",
      "`never`",
    ),
    tests("STACKADM_EVIDENCE", "`1`: test runs add records to `docs/evidence.jsonl`"),
    tests(
      "STACKADM_RANDOM_RUNS",
      "number of runs with random faults",
      "one run, or three if `CI` is `true`",
    ),
    tests("STACKADM_RANDOM_SEED", "seed of the first run with random faults", "a random seed"),
    tests("STACKADM_CYCLES", "number of times that `cycles.test.ts` runs `up` and `destroy`", "3"),
    tests("STACKADM_TEST_OPENSTACK", "version of the OpenStack plugin in lab tests"),
    tests("STACKADM_TEST_COREUTILS", "directory with other coreutils for tests of scripts"),
    tests(
      "STACKADM_UPDATE_GOLDEN",
      "`1`: rewrites the golden files; `npm run test:golden` sets the variable",
    ),
    tests("STACKADM_TOOLCHAIN_BIN", "directory with Pulumi's programs for engine tests"),
    tests("STACKADM_PULUMI", "path of `pulumi` for the engine tests of the toolchain"),
    tests("STACKADM_PULUMI_HOME", "Pulumi's home directory in engine tests"),
    tests("STACKADM_TEST_ALL", "set by `npm test -- --all` for its own processes"),
    tests("STACKADM_SITE_REPOSITORY", "set by `npm run site` for its process, from `--repository`"),
    tests("STACKADM_BENCH", "set by the benchmarks for the processes that they measure"),
  ],
};

/** Table of every environment variable that the code reads, in the order of the page. */
export const variableSections: readonly VariableSection[] = [
  stackadmVariables,
  cloudVariables,
  loginVariables,
  pulumiVariables,
  machineVariables,
  labVariables,
];

export const environmentVariables: readonly EnvironmentVariable[] = variableSections.flatMap(
  ({ variables }) => variables,
);
