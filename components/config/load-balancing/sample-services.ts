import type { z } from "zod";
import { ipv4AddressField, booleanField, doc, strictObject } from "../../schema/fields.js";
import { serviceAnnotationsSchema } from "./service-annotations.js";

export const sampleServicesSchema = strictObject({
  external: booleanField()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether one of the sample Services has a floating IP. `false` for a cloud in which floating IPs cannot be used.",
        "`true`",
      ),
    ),
  address: ipv4AddressField
    .optional()
    .meta(
      doc(
        "in place",
        "A floating IP that you own, which that Service uses and releases again.",
        "a new one",
      ),
    ),
  annotations: serviceAnnotationsSchema(),
}).prefault({});

export type SampleServices = z.output<typeof sampleServicesSchema>;
