import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../kubernetes-objects/addon.js";
import { checksum } from "../pulumi/checksum.js";
import { renderCloudConf, type CloudSettings } from "./cloud-conf.js";
import {
  caCertificateFile,
  clientCertificateFiles,
  cloudConfigSecretObject,
} from "./manifests/cloud-controller.js";
import type { AddonArgs } from "../kubernetes-objects/addon.js";
import { withHashedPassword, type CloudLogin } from "../identity/cloud-login.js";
import type { ClientCertificate } from "../lookup/local-context.js";

/** Values that the cluster's controllers need about the cloud. */
export interface CloudAccess {
  /** URL of Keystone v3. Change: in place. */
  readonly authUrl: pulumi.Input<string>;
  /** Region of all services. Change: in place. */
  readonly region: pulumi.Input<string>;
  /** Login of the cluster's controllers. Change: in place, the controllers restart. */
  readonly login: pulumi.Input<CloudLogin>;
  /** Subnet of the load balancers' addresses. Change: in place, for new load balancers. */
  readonly subnetId: pulumi.Input<string>;
  /** Network of the load balancers' addresses. Change: in place, for new load balancers. */
  readonly networkId: pulumi.Input<string>;
  /**
   * External network of the Services' floating IPs. Change: in place, for new load balancers.
   * @default none
   */
  readonly floatingNetworkId?: pulumi.Input<string>;
  /**
   * Network of the nodes. Change: in place, for new load balancers.
   * @default the network of the load balancers
   */
  readonly machines?: Pick<CloudAccess, "subnetId" | "networkId" | "floatingNetworkId">;
  /**
   * Router on which the cloud controller sets routes to pods. Change: refused.
   * @default no routes
   */
  readonly routerId?: pulumi.Input<string | undefined>;
  /** Octavia provider. Change: in place, for new load balancers. */
  readonly loadBalancerProvider: string;
  /** CA certificate of the cloud, PEM. Change: in place. @default the public CAs */
  readonly caCertificate?: string;
  /**
   * TLS client certificate that the cloud requires. Change: in place, the controllers restart.
   * @default none
   */
  readonly clientCertificate?: ClientCertificate;
  /**
   * Settings of the user for cloud.conf. Change: in place, the pods that read cloud.conf restart.
   * @default none
   */
  readonly settings?: CloudSettings;
}

/** Arguments of {@link CloudConfig}. */
export interface CloudConfigArgs extends AddonArgs {
  readonly cloud: CloudAccess;
}

/** Secret with cloud.conf, for cloud controller and storage controller. */
export class CloudConfig extends Addon {
  static readonly type = "stackadm:addons:CloudConfig";

  readonly secret: kubernetes.core.v1.Secret;
  /**
   * Digest of the Secret's content, which is not secret. Another digest restarts the pods that read
   * the Secret.
   */
  readonly checksum: pulumi.Output<string>;

  constructor(name: string, args: CloudConfigArgs, opts?: pulumi.ComponentResourceOptions) {
    super(CloudConfig.type, name, args, opts);
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
      cloudConfigSecretObject(cloudConf, {
        caCertificate: caCertificate === undefined ? undefined : pulumi.output(caCertificate),
        client: clientCertificate && pulumi.secret(clientCertificate),
      }),
    );
    this.checksum = pulumi.unsecret(
      conf.apply((values) =>
        checksum(
          renderCloudConf({ ...values, login: withHashedPassword(values.login) }),
          caCertificate,
          // Added only with a client certificate, so that the digest in other existing clusters
          // does not change.
          ...(clientCertificate
            ? [clientCertificate.certificate, clientCertificate.privateKey]
            : []),
        ),
      ),
    );
    this.registerOutputs({});
  }
}
