import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Addon } from "../support/addon.js";
import { checksum } from "../support/checksum.js";
import { renderCloudConf, type CloudSettings } from "./cloud-conf.js";
import {
  caCertificateFile,
  clientCertificateFiles,
  cloudConfigSecretObject,
} from "./manifests/cloud-controller.js";
import type { AddonArgs } from "../support/addon.js";
import { unguessable, type CloudLogin } from "../identity/cloud-login.js";
import type { ClientCertificate } from "../support/operator.js";

/** What the cluster's own controllers must know about the cloud. */
export interface CloudAccess {
  /** Identity endpoint (Keystone v3). Change: in place. */
  readonly authUrl: pulumi.Input<string>;
  /** Region of all services. Change: in place. */
  readonly region: pulumi.Input<string>;
  /** With what the cluster's controllers sign in. Change: in place, they restart. */
  readonly login: pulumi.Input<CloudLogin>;
  /** Subnet in which load balancers get their addresses. Change: in place, for new load balancers. */
  readonly subnetId: pulumi.Input<string>;
  /** Network of the load balancers' addresses. Change: in place, for new load balancers. */
  readonly networkId: pulumi.Input<string>;
  /** External network of the services' floating IPs. Change: in place, for new load balancers. @default none */
  readonly floatingNetworkId?: pulumi.Input<string>;
  /** Where the nodes are, in the same words. Change: in place, for new load balancers. @default the same */
  readonly machines?: Pick<CloudAccess, "subnetId" | "networkId" | "floatingNetworkId">;
  /** Router for routes to the nodes' pods. Change: refused. @default none: the pod network needs no routes */
  readonly routerId?: pulumi.Input<string | undefined>;
  /** Octavia provider. Change: in place, for new load balancers. */
  readonly loadBalancerProvider: string;
  /** PEM certificate of the cloud's own authority. Change: in place. @default the public authorities */
  readonly caCertificate?: string;
  /** What the cloud has its users prove themselves by in TLS. Change: in place, the controllers restart. @default nothing */
  readonly clientCertificate?: ClientCertificate;
  /** Everything else of cloud.conf. Change: in place, its users restart. @default nothing */
  readonly settings?: CloudSettings;
}

/** Arguments of {@link CloudConfig}. */
export interface CloudConfigArgs extends AddonArgs {
  readonly cloud: CloudAccess;
}

/** The Secret with cloud.conf, for the cloud controller and the storage controller. */
export class CloudConfig extends Addon {
  static readonly type = "stackadm:addons:CloudConfig";

  readonly secret: kubernetes.core.v1.Secret;
  /** Digest of the content, not a secret: changes when pods must read it again. */
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
    const cloudConf = pulumi.secret(conf.apply((known) => renderCloudConf(known)));
    this.secret = this.object(
      kubernetes.core.v1.Secret,
      "secret",
      cloudConfigSecretObject(cloudConf, {
        caCertificate: caCertificate === undefined ? undefined : pulumi.output(caCertificate),
        client: clientCertificate && pulumi.secret(clientCertificate),
      }),
    );
    this.checksum = pulumi.unsecret(
      conf.apply((known) =>
        checksum(
          renderCloudConf({ ...known, login: unguessable(known.login) }),
          caCertificate,
          // Nothing where there is none: the digest of a cluster without stays as it is.
          ...(clientCertificate
            ? [clientCertificate.certificate, clientCertificate.privateKey]
            : []),
        ),
      ),
    );
    this.registerOutputs({});
  }
}
