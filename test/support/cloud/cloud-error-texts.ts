import type { FailureCode } from "../../../base/failures/failure-codes.js";
import type { PulumiOpenstackVersion } from "../../../base/versions/pulumi-openstack-versions.js";

/**
 * Error with which a cloud refuses to create a security group, and the resulting text of the
 * OpenStack plugin.
 */
export interface Refusal {
  readonly status: number;
  readonly body: string;
  readonly code: FailureCode;
  /**
   * Text of each version of the plugin, with `http://cloud` instead of the cloud's address.
   * test/engine/plugins/cloud-error-texts.test.ts compares this text with the plugins.
   */
  readonly words: Readonly<Record<PulumiOpenstackVersion, string>>;
}

export const refusals: readonly Refusal[] = [
  {
    status: 401,
    body: "Authentication required",
    code: "AUTH_FAILED",
    words: {
      "3.15.2":
        "Error creating openstack_networking_secgroup_v2: Successfully re-authenticated, but got error executing request: Authentication failed",
      "5.5.1":
        "Error creating openstack_networking_secgroup_v2: Successfully re-authenticated, but got error executing request: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 401 instead: Authentication required",
    },
  },
  {
    status: 403,
    body: '{"NeutronError":{"type":"PolicyNotAuthorized","message":"Policy doesn\'t allow create_security_group to be performed.","detail":""}}',
    code: "FORBIDDEN",
    words: {
      "3.15.2":
        'Error creating openstack_networking_secgroup_v2: Request forbidden: [POST http://cloud/network/v9/v2.0/security-groups], error message: {"NeutronError":{"type":"PolicyNotAuthorized","message":"Policy doesn\'t allow create_security_group to be performed.","detail":""}}',
      "5.5.1":
        'Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 403 instead: {"NeutronError":{"type":"PolicyNotAuthorized","message":"Policy doesn\'t allow create_security_group to be performed.","detail":""}}',
    },
  },
  {
    status: 409,
    body: '{"NeutronError":{"type":"OverQuota","message":"Quota exceeded for resources: [\'security_group\'].","detail":""}}',
    code: "QUOTA_EXCEEDED",
    words: {
      "3.15.2":
        'Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 409 instead\n{"NeutronError":{"type":"OverQuota","message":"Quota exceeded for resources: [\'security_group\'].","detail":""}}',
      "5.5.1":
        'Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 409 instead: {"NeutronError":{"type":"OverQuota","message":"Quota exceeded for resources: [\'security_group\'].","detail":""}}',
    },
  },
  {
    status: 429,
    body: "",
    code: "CLOUD_BUSY",
    words: {
      "3.15.2":
        "Error creating openstack_networking_secgroup_v2: Too many requests have been sent in a given amount of time. Pause requests, wait up to one minute, and try again.",
      "5.5.1":
        "Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 429 instead: ",
    },
  },
  {
    status: 502,
    body: "<html><body><h1>502 Bad Gateway</h1>\nNo server is available.\n</body></html>",
    code: "CLOUD_UNREACHABLE",
    words: {
      "3.15.2": "Error creating openstack_networking_secgroup_v2: Bad Gateway",
      "5.5.1":
        "Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 502 instead: <html><body><h1>502 Bad Gateway</h1>\nNo server is available.\n</body></html>",
    },
  },
  {
    status: 503,
    body: "<html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>",
    code: "CLOUD_UNREACHABLE",
    words: {
      "3.15.2":
        "Error creating openstack_networking_secgroup_v2: The service is currently unable to handle the request due to a temporary overloading or maintenance. This is a temporary condition. Try again later.",
      "5.5.1":
        "Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 503 instead: <html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>",
    },
  },
  {
    status: 504,
    body: "<html><body><h1>504 Gateway Time-out</h1>\nNo server is available.\n</body></html>",
    code: "CLOUD_UNREACHABLE",
    words: {
      "3.15.2": "Error creating openstack_networking_secgroup_v2: Gateway Timeout",
      "5.5.1":
        "Error creating openstack_networking_secgroup_v2: Expected HTTP response code [201 202] when accessing [POST http://cloud/network/v9/v2.0/security-groups], but got 504 instead: <html><body><h1>504 Gateway Time-out</h1>\nNo server is available.\n</body></html>",
    },
  },
];
