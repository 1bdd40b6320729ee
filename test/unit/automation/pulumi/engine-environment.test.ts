import assert from "node:assert/strict";
import {
  findDroppedVariables,
  getEngineEnvironment,
  getGrpcVariables,
} from "../../../../automation/pulumi/engine-environment.js";

describe("getEngineEnvironment", () => {
  it("passes on every variable that does not belong to Pulumi", () => {
    const env = {
      PATH: "/bin",
      LANG: "de_DE.UTF-8",
      SSH_AUTH_SOCK: "/agent",
      AWS_PROFILE: "p",
      AZURE_STORAGE_KEY: "k",
      GOOGLE_CREDENTIALS: "{}",
      PGPASSWORD: "p",
      OS_CLOUD: "c",
      HTTPS_PROXY: "http://proxy:3128",
      CLOUDFLARE_API_TOKEN: "t",
      MY_PROGRAM: "1",
      NODE_OPTIONS: "--max-old-space-size=4096",
    };
    assert.deepEqual(getEngineEnvironment(env), env);
    assert.deepEqual(findDroppedVariables(env), []);
  });

  it("passes on Pulumi's variables for backend, secrets, plugins, speed and diagnosis", () => {
    const env = {
      PULUMI_ACCESS_TOKEN: "t",
      PULUMI_BACKEND_URL: "s3://b",
      PULUMI_CONFIG_PASSPHRASE: "",
      PULUMI_CONFIG_PASSPHRASE_FILE: "/f",
      PULUMI_HOME: "/h",
      PULUMI_PARALLEL: "8",
      PULUMI_DIY_BACKEND_PARALLEL: "8",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PULUMI_DEBUG_GRPC: "/log",
      PULUMI_CI_SYSTEM: "mine",
      PULUMI_K8S_CLIENT_QPS: "50",
      PULUMI_STACK: "dev",
    };
    assert.deepEqual(getEngineEnvironment(env), env);
  });

  it("drops and reports variables that change what an operation does, known or not", () => {
    const dropped = {
      PULUMI_K8S_DELETE_UNREACHABLE: "true",
      PULUMI_K8S_SKIP_UPDATE_UNREACHABLE: "true",
      PULUMI_K8S_ENABLE_PATCH_FORCE: "false",
      PULUMI_KUBERNETES_MANAGED_BY_LABEL: "me",
      PULUMI_OPTION_TARGET: "a",
      PULUMI_CONTINUE_ON_ERROR: "true",
      PULUMI_RUN_PROGRAM: "true",
      PULUMI_SKIP_CHECKPOINTS: "true",
      PULUMI_DIY_BACKEND_LEGACY_LAYOUT: "true",
      PULUMI_NODEJS_MONITOR: "127.0.0.1:1",
      PULUMI_SOME_FUTURE_SWITCH: "1",
      PULUMI_HOME_OF_MINE: "x",
    };
    assert.deepEqual(getEngineEnvironment({ HOME: "/root", ...dropped }), { HOME: "/root" });
    assert.deepEqual(findDroppedVariables(dropped), Object.keys(dropped).sort());
  });

  it("passes on the patch force that the toolchain sets for an older plugin", () => {
    const env = { PULUMI_K8S_ENABLE_PATCH_FORCE: "true" };
    assert.deepEqual([getEngineEnvironment(env), findDroppedVariables(env)], [env, []]);
  });
});

describe("getGrpcVariables", () => {
  const directHosts = (env: NodeJS.ProcessEnv): string | undefined =>
    getGrpcVariables(env)["no_grpc_proxy"];
  const proxy = "http://proxy.example:3128";

  it("are empty without a proxy in lower case, which alone concerns gRPC", () => {
    for (const env of [{}, { HTTPS_PROXY: proxy }, { http_proxy: "" }])
      assert.deepEqual(getGrpcVariables(env), {});
  });

  it("name the loopback hosts for each proxy variable", () => {
    for (const name of ["grpc_proxy", "https_proxy", "http_proxy"])
      assert.equal(directHosts({ [name]: proxy }), "127.0.0.1,localhost,::1");
  });

  it("keep the user's hosts, without the blanks that the library would compare", () => {
    assert.equal(
      directHosts({ https_proxy: proxy, no_proxy: "localhost, .corp" }),
      "localhost,.corp,127.0.0.1,::1",
    );
    assert.equal(
      directHosts({ https_proxy: proxy, no_proxy: ".corp", no_grpc_proxy: "mine" }),
      "mine,127.0.0.1,localhost,::1",
    );
  });
});
