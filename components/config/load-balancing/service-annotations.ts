import { z } from "zod";
import { doc, shortValue } from "../../schema/fields.js";

/**
 * Returns the full name of an annotation of cloud-provider-openstack:
 * `loadbalancer.openstack.org/flavor-id` for `flavor-id`.
 */
const annotation = (name: string): string => `loadbalancer.openstack.org/${name}`;

/** Annotations of Services that the program reads or sets itself. */
export const serviceAnnotationKeys = {
  internal: "service.beta.kubernetes.io/openstack-internal-load-balancer",
  class: annotation("class"),
  flavor: annotation("flavor-id"),
  zone: annotation("availability-zone"),
  certificate: annotation("default-tls-container-ref"),
} as const;

/** Annotations that users must not set on any Service, each with the error message. */
const refused: Readonly<Record<string, string>> = {
  [serviceAnnotationKeys.internal]: "comes from another setting; leave it out",
  [annotation("load-balancer-address")]: "is set by the cloud controller; leave it out",
  [annotation("member-subnet-id")]:
    "is the machines' own subnet, which the program knows; leave it out",
};

/**
 * Annotations that users must not set on Traefik's Service, each with the error message. These
 * annotations change what Traefik's pods receive.
 */
export const annotationsRefusedForTraefik: Readonly<Record<string, string>> = {
  // Traefik's configuration does not accept the proxy protocol from any load balancer.
  [annotation("proxy-protocol")]:
    "would be read as a part of the request, because Traefik accepts the proxy protocol from no load balancer",
  [annotation("x-forwarded-for")]: "needs listeners of HTTP, and Traefik's second port is TLS",
  [serviceAnnotationKeys.certificate]:
    "terminates TLS before Traefik, which terminates TLS itself on its second port",
};

/**
 * Returns the schema of a Service's annotations. `more` contains further annotations that users
 * must not set.
 */
export const serviceAnnotationsSchema = (more: Readonly<Record<string, string>> = {}) =>
  z
    .record(
      z.string(),
      z.string({
        error: ({ input }) => `${shortValue(input)} is no text; write it between quotes`,
      }),
      {
        error: ({ input }) =>
          `${shortValue(input)} is not a map of annotations; write one like \`${serviceAnnotationKeys.flavor}: ...\``,
      },
    )
    .superRefine((written, context) => {
      for (const [key, reason] of Object.entries({ ...refused, ...more }))
        if (key in written) context.addIssue({ code: "custom", path: [key], message: reason });
    })
    .optional()
    .meta(
      doc(
        "in place",
        `Annotations of the Service, with their full names, such as \`${serviceAnnotationKeys.flavor}\`. [cloud-provider-openstack](https://github.com/kubernetes/cloud-provider-openstack/blob/release-1.36/docs/openstack-cloud-controller-manager/expose-applications-using-loadbalancer-type-service.md) lists those that set up the load balancer.`,
      ),
    );
