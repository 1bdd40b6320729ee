import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { ServerCertificate } from "../identity/webhook-certificate.js";
import { computeChecksum } from "../pulumi/checksum.js";
import { Addon, type AddonArgs } from "../kubernetes-objects/addon.js";
import type { CloudAccess } from "./cloud-config-secret.js";
import {
  buildKeystoneDaemonSet,
  renderKeystonePolicy,
  buildKeystoneSecret,
} from "./manifests/keystone-auth.js";

type Specified = NonNullable<ClusterSpec["kubernetes"]["keystone"]>;

/** Settings of the Keystone webhook. */
export type KeystoneAuthSpec = Specified & {
  /**
   * Key and certificate of the webhook. The API servers accept only this certificate. A change
   * restarts the webhook's pods.
   */
  readonly webhook: pulumi.Input<ServerCertificate>;
};

/** Arguments of {@link KeystoneAuth}. */
export interface KeystoneAuthArgs extends AddonArgs {
  readonly spec: KeystoneAuthSpec;
  /** Image of the webhook. A change restarts the webhook on one control plane after the other. */
  readonly image: string;
  /** OpenStack cloud whose users may log in. A change restarts the webhook's pods. */
  readonly cloud: Pick<CloudAccess, "authUrl" | "caCertificate">;
}

/**
 * Webhook that authenticates Keystone tokens for the API server. Each control plane runs one pod of
 * the webhook.
 */
export class KeystoneAuth extends Addon {
  static readonly type = "stackadm:addons:KeystoneAuth";

  /** DaemonSet of the webhook. Pulumi waits until Keystone has answered on each control plane. */
  readonly daemonSet: kubernetes.apps.v1.DaemonSet;

  constructor(name: string, args: KeystoneAuthArgs, opts?: pulumi.ComponentResourceOptions) {
    super(KeystoneAuth.type, name, args, opts);
    const { image, cloud, spec } = args;
    const { url = cloud.authUrl, policy } = spec;
    const { caCertificate } = cloud;
    const { certificate, privateKey } = pulumi.secret(pulumi.output(spec.webhook));
    const secret = this.object(
      kubernetes.core.v1.Secret,
      "secret",
      buildKeystoneSecret({ certificate, privateKey, caCertificate, policy }),
    );
    this.daemonSet = this.object(
      kubernetes.apps.v1.DaemonSet,
      "daemon-set",
      buildKeystoneDaemonSet({
        image,
        url,
        caCertificate: caCertificate !== undefined,
        policy: policy !== undefined,
        controlPlaneTaints: args.controlPlaneTaints,
        checksum: pulumi.unsecret(
          certificate.apply((text) =>
            computeChecksum(text, caCertificate, policy && renderKeystonePolicy(policy)),
          ),
        ),
      }),
      // The pods need their Secret to start, so it is created first.
      { dependsOn: [secret], customTimeouts: this.daemonSetTimeouts },
    );
    this.registerOutputs({});
  }
}
