import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import { computeChecksum } from "../pulumi/checksum.js";
import { renderCloudConf, type CloudConfSettings } from "./cloud-conf.js";
import {
  caCertificateFile,
  clientCertificateFiles,
  buildCloudConfigSecret,
} from "./manifests/cloud-controller.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import { hashLoginPassword, type CloudLogin } from "../identity/cloud-login.js";
import type { ClientCertificate } from "../lookup/local-context.js";

/**
 * Access to the OpenStack cloud for the cluster's controllers. A changed value updates the Secret
 * in place, unless the comment of the value says otherwise.
 */
export interface CloudAccess {
  /** URL of Keystone v3. */
  readonly authUrl: pulumi.Input<string>;
  /** Region of all OpenStack services. */
  readonly region: pulumi.Input<string>;
  /** Login of the cluster's controllers. A change restarts the controllers. */
  readonly login: pulumi.Input<CloudLogin>;
  /**
   * Subnet from which load balancers get their addresses. A change affects only new load balancers.
   */
  readonly subnetId: pulumi.Input<string>;
  /**
   * Network from which load balancers get their addresses. A change affects only new load
   * balancers.
   */
  readonly networkId: pulumi.Input<string>;
  /**
   * External network from which Services get floating IPs. A change affects only new load
   * balancers.
   * @default none
   */
  readonly floatingNetworkId?: pulumi.Input<string>;
  /**
   * Network of the nodes. A change affects only new load balancers.
   * @default the network of the load balancers
   */
  readonly machines?: Pick<CloudAccess, "subnetId" | "networkId" | "floatingNetworkId">;
  /**
   * Router on which the cloud controller maintains routes to pods. A change is refused while the
   * cluster exists.
   * @default no routes
   */
  readonly routerId?: pulumi.Input<string | undefined>;
  /** Octavia provider. A change affects only new load balancers. */
  readonly loadBalancerProvider: string;
  /** CA certificate of the cloud, in PEM format. @default the public CAs */
  readonly caCertificate?: string;
  /**
   * TLS client certificate that the cloud requires. A change restarts the controllers.
   * @default none
   */
  readonly clientCertificate?: ClientCertificate;
  /**
   * Settings of the user for cloud.conf. A change restarts the pods that read cloud.conf.
   * @default none
   */
  readonly settings?: CloudConfSettings;
}

/** Arguments of {@link CloudConfigSecret}. */
export interface CloudConfigSecretArgs extends AddonArgs {
  readonly cloud: CloudAccess;
}

/** Secret with the cloud.conf of the cloud controller and the Cinder CSI controller. */
export class CloudConfigSecret extends Addon {
  static readonly type = "stackadm:addons:CloudConfig";

  readonly secret: kubernetes.core.v1.Secret;
  /**
   * Digest of the Secret's content. The digest itself is not secret. A changed digest restarts the
   * pods that read the Secret.
   */
  readonly checksum: pulumi.Output<string>;

  constructor(name: string, args: CloudConfigSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super(CloudConfigSecret.type, name, args, opts);
    const { caCertificate, clientCertificate, ...cloud } = args.cloud;
    const caFile = caCertificate === undefined ? undefined : caCertificateFile;
    const conf = pulumi.output({
      ...cloud,
      caFile,
      ...(clientCertificate && clientCertificateFiles),
    });
    const cloudConf = pulumi.secret(conf.apply((values) => renderCloudConf(values)));
    this.secret = this.object(
      kubernetes.core.v1.Secret,
      "secret",
      buildCloudConfigSecret(cloudConf, {
        caCertificate: caCertificate === undefined ? undefined : pulumi.output(caCertificate),
        client: clientCertificate && pulumi.secret(clientCertificate),
      }),
    );
    this.checksum = pulumi.unsecret(
      conf.apply((values) =>
        computeChecksum(
          renderCloudConf({ ...values, login: hashLoginPassword(values.login) }),
          caCertificate,
          // In clusters without a client certificate, the digest must not change, because a change
          // would restart pods.
          ...(clientCertificate
            ? [clientCertificate.certificate, clientCertificate.privateKey]
            : []),
        ),
      ),
    );
    this.registerOutputs({});
  }
}
