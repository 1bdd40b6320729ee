import assert from "node:assert/strict";
import { decodeEvent } from "../../../automation/pulumi/events.js";
import { explainMessage } from "../../../automation/engine/engine-errors.js";
import type { Failure } from "../../../base/failures/failure.js";
import type { FailureCode } from "../../../base/failures/failure-codes.js";
import { diagnostic } from "./fake-engine.js";

export const server =
  "urn:pulumi:dev::stackadm::a:b:C$openstack:compute/instance:Instance::dev-general-0-server";
export const script =
  "urn:pulumi:dev::stackadm::a:b:C$command:remote:Command::dev-general-0-prepare";
export const stack = "urn:pulumi:dev::stackadm::pulumi:pulumi:Stack::stackadm-dev";

const identity = "urn:pulumi:dev::stackadm::a:b:C$command:local:Command::dev-identity";
const member =
  "urn:pulumi:dev::stackadm::a:b:C$openstack:loadbalancer/member:Member::dev-endpoint-member-1";
const object = "urn:pulumi:dev::stackadm::a:b:C$kubernetes:core/v1:Service::dev-web";

const boolName =
  "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal bool into Go struct field ClusterConfiguration.clusterName of type string";
const stackTrace = "To see the stack trace of this error execute with --v=5 or higher";

/** Returns the failure that the service derives from a message of the engine. */
export const explain = (urn: string, said: string): Failure => {
  const event = decodeEvent(diagnostic(said, "error", urn));
  assert.equal(event?.type, "message");
  return explainMessage(event);
};

export interface EngineMessage {
  readonly code: FailureCode;
  readonly urn?: string;
  /** Whether the Pulumi program of this repository reported the error. */
  readonly own?: true;
  readonly text: string;
  readonly sentence: RegExp;
}

/** Real messages of the engine and its providers, with the failure code expected for each. */
export const engineMessages: readonly EngineMessage[] = [
  {
    code: "HOST_KEY_MISMATCH",
    urn: script,
    text: "ssh: handshake failed: ssh: host key mismatch",
    sentence: /^Command 'dev-general-0-prepare': .*another host key/,
  },
  {
    code: "HOST_KEY_MISMATCH",
    urn: stack,
    own: true,
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
    own: true,
    text: "The machine dev-general-1 never answered on SSH; the next `up` replaces it. Server dev-general-1 (x) is ACTIVE.\nLast lines of its console:\nKernel panic - not syncing",
    sentence: /^The machine dev-general-1 never answered[\s\S]*Kernel panic/,
  },
  {
    code: "SERVER_STOPPED",
    urn: stack,
    own: true,
    text: "The machine dev-general-1 does not run: Nova says SHUTOFF. Start it with `openstack server start dev-general-1`.",
    sentence: /^The machine dev-general-1 does not run.*server start dev-general-1`\.$/,
  },
  {
    code: "SERVER_ERROR",
    urn: stack,
    own: true,
    text: "Nova could not create the machine dev-general-0; the next `up` replaces it. Server dev-general-0 (x) is ERROR: No valid host was found.",
    sentence: /^Nova could not create the machine dev-general-0.*No valid host/,
  },
  {
    code: "SERVER_ERROR",
    urn: server,
    text: "sdk-v2/provider2.go:572: sdk.helper_schema: error waiting for instance (b1) to become ready: unexpected state 'ERROR', wanted target 'ACTIVE'. last error: %!s(<nil>): provider=openstack",
    sentence: /^Instance 'dev-general-0-server': Nova could not create the machine/,
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
    code: "WRONG_PASSPHRASE",
    text: "error: getting stack configuration: get stack secrets manager: incorrect passphrase",
    sentence: /the passphrase differs from the one .*, or none is set \(incorrect passphrase\)\.$/,
  },
  {
    code: "WRONG_PASSPHRASE",
    text: "error: getting stack configuration: get stack secrets manager: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
    sentence: /or none is set \(passphrase must be set with PULUMI_CONFIG_PASSPHRASE or/,
  },
  {
    code: "UNEXPECTED_CHANGES",
    text: "error: no changes were expected but changes occurred",
    sentence: /and no change was expected \(no changes were expected but changes occurred\)\.$/,
  },
  {
    code: "NOT_FOUND",
    text: "Unable to find flavor with name huge",
    sentence: /Unable to find flavor with name huge/,
  },
  {
    code: "PROTECTED",
    urn: identity,
    text: `resource "${identity}" cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the \`protect\` flag from the resource in your Pulumi program and run \`pulumi up\`, or use the command:`,
    sentence:
      /^Command 'dev-identity': the cluster or a part of it is protected against deletion \(res/,
  },
  {
    code: "PROTECTED",
    urn: server,
    text: `unable to replace resource "${server}"\nas it is currently marked for protection. To unprotect the resource, remove the \`protect\` flag from the resource in your Pulumi program and run \`pulumi up\``,
    sentence: /^Instance 'dev-general-0-server': the cluster or a part of it is protected against/,
  },
  {
    code: "NAME_OCCUPIED",
    text: "Key pair 'dev' already exists.",
    sentence: /^An object with this name already exists \(Key pair 'dev' already exists\)\.$/,
  },
  {
    code: "LOAD_BALANCER_ERROR",
    text: "loadbalancer x has gone into state ERROR",
    sentence: /load balancer did not become active/,
  },
  {
    code: "LOAD_BALANCER_ERROR",
    urn: member,
    text: 'error deleting member: Expected HTTP response code [202 204] when accessing [DELETE https://cloud/v2/lbaas/pools/p/members/m], but got 409 instead\n{"faultcode": "Client", "faultstring": "Load Balancer 3f is immutable and cannot be updated.", "debuginfo": null}',
    sentence: /^Member 'dev-endpoint-member-1': the load balancer .*accepts no change/,
  },
  {
    code: "LOAD_BALANCER_ERROR",
    urn: member,
    text: "Unable to retrieve parent pool (p) for the member: Resource not found: [GET https://cloud/v2/lbaas/pools/p]",
    sentence: /^Member 'dev-endpoint-member-1': the load balancer .*accepts no change/,
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
    own: true,
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
    code: "COMMAND_FAILED",
    urn: script,
    text: `Process exited with status 1: running "sudo -n bash -s":\nkubeadm init\n${stackTrace}\nreason: kubeadm init failed on dev-general-0: ${boolName}`,
    sentence:
      /^Command 'dev-general-0-prepare': the script on the machine failed \(kubeadm init failed on dev-general-0: error unmarshaling JSON: .* of type string\)\.$/,
  },
  {
    code: "COMMAND_FAILED",
    urn: script,
    text: 'Process exited with status 1: running "sudo -n bash -s":\n\t[ERROR FileAvailable]: /etc/x already exists\ntimed out waiting\nreason: `[[ $1 == "$&" ]]` ended with code 1\n',
    sentence: /failed \(`\[\[ \$1 == "\$&" \]\]` ended with code 1\)/,
  },
  {
    code: "COMMAND_FAILED",
    urn: script,
    text: `Process exited with status 137: running "sudo -n bash -s":\nerror: ${boolName}\n${stackTrace}\nok\n`,
    sentence: /the script on the machine failed \(error: error unmarshaling JSON/,
  },
  {
    code: "COMMAND_FAILED",
    urn: script,
    text: 'Process exited with status 1: running "sudo -n bash -s":\n\t[ERROR NumCPU]: the number of available CPUs 1 is less than the required 2\nTo see the stack trace of this error execute with --v=5 or higher\n',
    sentence: /failed \(\[ERROR NumCPU\]: the number of available CPUs 1 is less/,
  },
  {
    code: "QUOTA_EXCEEDED",
    urn: server,
    text: "1 error occurred:\n\t* error creating: Quota exceeded, too many key pairs.\n\n",
    sentence: /^Instance .*quota is used up \(Quota exceeded, too many key pairs\)\.$/,
  },
  {
    code: "CLOUD_UNTRUSTED",
    urn: server,
    text: '1 error occurred:\n\t* error creating: Post "https://203.0.113.2:18774/v2.1/servers": tls: failed to verify certificate: x509: certificate signed by unknown authority\n\n',
    sentence: /cannot be verified \(.*x509: certificate signed by unknown authority/,
  },
  {
    code: "CLOUD_UNREACHABLE",
    urn: server,
    text: '1 error occurred:\n\t* error creating: Post "http://203.0.113.2:8774/v2.1/servers": dial tcp 203.0.113.2:8774: connect: connection refused\n\n',
    sentence: /the cloud does not answer \(dial tcp 203\.0\.113\.2:8774/,
  },
  {
    code: "KUBERNETES_UNREACHABLE",
    urn: object,
    text: 'configured Kubernetes cluster is unreachable: unable to load schema information from the API server: Get "https://192.0.2.10:6444/openapi/v2?timeout=32s": dial tcp 192.0.2.10:6444: connect: connection refused',
    sentence: /Kubernetes API does not answer/,
  },
  {
    code: "WEBHOOK_FAILED",
    urn: object,
    text: `resource "${object}" was not successfully created by the Kubernetes API server: Internal error occurred: failed calling webhook "check.example.com": failed to call webhook: Post "https://policy-svc.policy.svc:443/check?timeout=10s": dial tcp 10.96.7.7:443: connect: connection refused`,
    sentence: /admission webhook .* does not answer \(failed calling webhook "check\.example\.com"/,
  },
  {
    code: "WEBHOOK_FAILED",
    urn: object,
    text: 'Internal error occurred: failed calling webhook "check.example.com": failed to call webhook: Post "https://policy-svc.policy.svc:443/check": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    sentence: /admission webhook .* does not answer/,
  },
  {
    code: "KUBERNETES_LOGIN_REFUSED",
    urn: object,
    text: "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: the server has asked for the client to provide credentials",
    sentence: /refuses the credentials of the kubeconfig \(the server has asked/,
  },
  {
    code: "KUBERNETES_UNTRUSTED",
    urn: object,
    text: 'configured Kubernetes cluster is unreachable: unable to load schema information from the API server: Get "https://192.0.2.10:6444/openapi/v2?timeout=32s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    sentence: /certificate of the Kubernetes API cannot be verified \(.*unknown authority\)\.$/,
  },
  {
    code: "KUBERNETES_UNTRUSTED",
    urn: object,
    text: 'Get "https://192.0.2.10:6444/api/v1/services": x509: certificate has expired or is not yet valid: current time 2027-01-01T00:00:00Z is after 2026-12-31T00:00:00Z',
    sentence: /cannot be verified \(.*has expired or is not yet valid/,
  },
  {
    code: "SSH_AGENT_FAILED",
    urn: script,
    text: "after 30 failed attempts: ssh: handshake failed: agent: failed to sign challenge",
    sentence: /ssh-agent does not sign, or no longer runs \(agent: failed to sign challenge\)/,
  },
  {
    code: "SSH_AGENT_FAILED",
    urn: script,
    text: "dial unix /tmp/ssh-abc/agent.4242: connect: no such file or directory",
    sentence: /ssh-agent does not sign, or no longer runs \(dial unix/,
  },
  {
    code: "QUOTA_EXCEEDED",
    urn: server,
    text: "error creating: VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes_fast quota. Requested 10G, quota is 10G and 8G has been consumed.",
    sentence: /quota is used up \(exceeds allowed gigabytes_fast quota\. Requested 10G/,
  },
  {
    code: "KUBERNETES_REFUSED",
    urn: object,
    text: `resource "${object}" was not successfully created by the Kubernetes API server: namespaces "nowhere" not found`,
    sentence: /^Service 'dev-web': .*Kubernetes API server: namespaces "nowhere" not found\)\.$/,
  },
  {
    code: "NAME_OCCUPIED",
    urn: object,
    text: `resource "${object}" was not successfully created by the Kubernetes API server: services "web" already exists\n\nThe resource already exists in the cluster. This can happen when:`,
    sentence: /^Service 'dev-web': an object .* \(services "web" already exists\)\.$/,
  },
  {
    code: "NOT_READY",
    urn: object,
    text: `resource "${object}" was successfully created, but the Kubernetes API server reported that it failed to fully initialize or become live: 'web' timed out waiting to be Ready`,
    sentence: /did not become ready in time \(failed to .*'web' timed out waiting to be Ready\)/,
  },
  {
    code: "DRAIN_BLOCKED",
    urn: script,
    text: 'Process exited with status 1: running "sudo -n bash -s":\nmoving\nreason: [DRAIN_BLOCKED] dev-general-0 could not be drained.',
    sentence: /^Command 'dev-general-0-prepare': dev-general-0 could not be drained\.$/,
  },
  {
    code: "FAILED",
    urn: server,
    text: "something new",
    sentence: /^Instance 'dev-general-0-server': something new/,
  },
  { code: "FAILED", text: "boom", sentence: /^The program: boom/ },
];
