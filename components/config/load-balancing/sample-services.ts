import type { z } from "zod";
import { address4, booleanField, doc, record } from "../../schema/fields.js";
import { serviceAnnotations } from "./service-annotations.js";

export const sampleServices = record({
  external: booleanField()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether one of the sample Services has a floating IP. `false` for a cloud in which floating IPs cannot be used.",
        "`true`",
      ),
    ),
  address: address4
    .optional()
    .meta(
      doc(
        "in place",
        "A floating IP that you own, which that Service uses and releases again.",
        "a new one",
      ),
    ),
  annotations: serviceAnnotations(),
}).prefault({});

export type SampleServices = z.output<typeof sampleServices>;
