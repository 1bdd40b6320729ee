import assert from "node:assert/strict";
import { errorCodes, type ErrorCode } from "../../../../automation/cluster/cluster-error.js";
import type { ClusterEvent } from "../../../../automation/cluster/events.js";
import { explainAll, explainMessage } from "../../../../automation/cluster/explain.js";

const server =
  "urn:pulumi:dev::stackadm::a:b:C$openstack:compute/instance:Instance::dev-general-0-server";
const script = "urn:pulumi:dev::stackadm::a:b:C$command:remote:Command::dev-general-0-prepare";
const stack = "urn:pulumi:dev::stackadm::pulumi:pulumi:Stack::stackadm-dev";

interface Row {
  readonly code: ErrorCode;
  readonly urn?: string;
  readonly text: string;
  readonly sentence: RegExp;
}

/** What engine and providers really say, and the code it must become. */
const table: readonly Row[] = [
  {
    code: "HOST_KEY_MISMATCH",
    urn: script,
    text: "ssh: handshake failed: ssh: host key mismatch",
    sentence: /^Command 'dev-general-0-prepare': .*another host key/,
  },
  {
    code: "HOST_KEY_MISMATCH",
    urn: stack,
    text: "The machine dev-general-0 answers with another host key than the one it was given: refused.",
    sentence: /^The machine dev-general-0 answers with another host key/,
  },
  {
    code: "SSH_KEY_REFUSED",
    urn: script,
    text: "ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain",
    sentence: /refuses the login key/,
  },
  {
    code: "SSH_UNREACHABLE",
    urn: script,
    text: "after 30 failed attempts: dial tcp 172.29.1.9:22: connect: connection refused",
    sentence: /cannot be reached by SSH \(after 30 failed attempts/,
  },
  {
    code: "SERVER_NEVER_BOOTED",
    urn: stack,
    text: "The machine dev-general-1 never answered on SSH; the next `up` replaces it. Server dev-general-1 (x) is ACTIVE.\nLast lines of its console:\nKernel panic - not syncing",
    sentence: /^The machine dev-general-1 never answered[\s\S]*Kernel panic/,
  },
  {
    code: "SERVER_ERROR",
    urn: stack,
    text: "Nova could not make the machine dev-general-0; the next `up` replaces it. Server dev-general-0 (x) is ERROR: No valid host was found.",
    sentence: /^Nova could not make the machine dev-general-0.*No valid host/,
  },
  {
    code: "SERVER_ERROR",
    urn: server,
    text: "sdk-v2/provider2.go:572: sdk.helper_schema: error waiting for instance (b1) to become ready: unexpected state 'ERROR', wanted target 'ACTIVE'. last error: %!s(<nil>): provider=openstack",
    sentence: /^Instance 'dev-general-0-server': Nova could not make the machine/,
  },
  {
    code: "QUOTA_EXCEEDED",
    urn: server,
    text: "error creating: Quota exceeded for cores: Requested 2, but already used 20 of 20 cores",
    sentence: /quota is used up \(Quota exceeded for cores: Requested 2/,
  },
  {
    code: "QUOTA_EXCEEDED",
    text: 'Expected HTTP response code [201] but got 409 instead, body: {"NeutronError": {"type": "OverQuota", "message": "x"}}',
    sentence: /quota is used up/,
  },
  {
    code: "AUTH_FAILED",
    text: "error: One or more errors occurred: Authentication failed",
    sentence: /refused the credentials/,
  },
  {
    code: "NOT_FOUND",
    text: "Unable to find flavor with name huge",
    sentence: /Unable to find flavor with name huge/,
  },
  {
    code: "NAME_OCCUPIED",
    text: "Key pair 'dev' already exists.",
    sentence: /something of this name is already there/,
  },
  {
    code: "LOAD_BALANCER_ERROR",
    text: "loadbalancer x has gone into state ERROR",
    sentence: /load balancer did not come up/,
  },
  {
    code: "KUBERNETES_UNREACHABLE",
    text: "configured Kubernetes cluster is unreachable: unable to load schema information from the API server",
    sentence: /Kubernetes API does not answer/,
  },
  {
    code: "NOT_READY",
    text: "timed out waiting for the condition",
    sentence: /did not become ready in time/,
  },
  {
    code: "INVALID_CONFIG",
    urn: stack,
    text: "Pulumi.dev.yaml is not valid:\n  cluster.image: is missing\n  cluster.zones: is no list",
    sentence: /cluster\.image: is missing\n {2}cluster\.zones/,
  },
  {
    code: "COMMAND_FAILED",
    urn: script,
    text: 'Process exited with status 1: running "sudo -n bash -s":\nchecking\nno disk space left\nProcess exited with status 1',
    sentence: /script on the machine failed \(no disk space left\)/,
  },
  {
    code: "FAILED",
    urn: server,
    text: "something new",
    sentence: /^Instance 'dev-general-0-server': something new/,
  },
  { code: "FAILED", text: "boom", sentence: /^The program: boom/ },
];

describe("what an error message means", () => {
  for (const { code, urn = "", text, sentence } of table)
    it(`${code}: ${text.split("\n")[0]?.slice(0, 70) ?? ""}`, () => {
      const error = explainMessage(urn, text);
      assert.equal(error.code, code);
      assert.match(error.sentence, sentence);
      assert.doesNotMatch(error.sentence, /\{who\}|\{message\}|\$\d/);
      assert.ok((error.hint ?? "").length > 10, "no hint");
    });

  it("names the resource at fault", () => {
    assert.deepEqual(explainMessage(server, "x").subject, {
      urn: server,
      resource: "dev-general-0-server",
    });
    assert.deepEqual(explainMessage("", "x").subject, {});
  });

  it("has a code of the public list and the exit code that belongs to it", () => {
    assert.equal(explainMessage("", "Authentication failed").exitCode, 3);
    assert.equal(explainMessage("", "is not valid:").exitCode, 2);
    assert.equal(explainMessage("", "boom").exitCode, 1);
    for (const { code } of table) assert.ok(errorCodes.includes(code));
  });
});

const error = (text: string, urn = ""): ClusterEvent => ({
  type: "message",
  at: 0,
  urn,
  severity: "error",
  text,
});

describe("several errors", () => {
  it("leave out those that only echo others", () => {
    const errors = explainAll([
      error("update failed", stack),
      error("No valid host was found", server),
    ]);
    assert.deepEqual(
      errors.map(({ code }) => code),
      ["SERVER_ERROR"],
    );
  });

  it("are all there is when they are only echoes", () => {
    assert.equal(explainAll([error("update failed", stack)]).length, 1);
  });

  it("leave out what is no error", () => {
    assert.deepEqual(
      explainAll([{ type: "message", at: 0, urn: "", severity: "warning", text: "careful" }]),
      [],
    );
  });

  it("are led by the cause, not by the consequence", () => {
    const errors = explainAll([
      error("after 30 failed attempts: dial tcp: i/o timeout", script),
      error("The machine dev-general-0 never answered on SSH; ...", stack),
      error("something else"),
    ]);
    assert.equal(errors[0]?.code, "SERVER_NEVER_BOOTED");
  });

  it("are led by our program's sentence, which knows more than the provider's", () => {
    const errors = explainAll([
      error("Error waiting for instance (b1) to become ready: unexpected state 'ERROR'", server),
      error("Nova could not make the machine dev-general-0; ... is ERROR: No valid host.", stack),
    ]);
    assert.match(errors[0]?.message ?? "", /^Nova could not make .*No valid host/);
  });
});
