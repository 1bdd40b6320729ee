import { z } from "zod";

const inUtc = (moment: string): string => moment.replace(/(\.\d+)?Z?$/, "Z");

/**
 * Time in a response of Keystone, as ISO 8601 with a time zone. Keystone writes UTC times without a
 * time zone.
 */
export const utcTimeSchema = z
  .string()
  .nullish()
  .transform((end) => (end ? inUtc(end) : undefined));

/** Keystone's response to a login. Contains only the fields that this program reads. */
export const tokenSchema = z.object({
  token: z.object({
    // Keystone leaves out the time zone `Z` if the credential has an expiry.
    expires_at: z.string().transform(inUtc),
    user: z.object({
      id: z.string(),
      password_expires_at: utcTimeSchema,
    }),
    project: z.object({ id: z.string(), name: z.string().default("") }).optional(),
    roles: z.array(z.looseObject({ name: z.string() })).default([]),
    application_credential: z.object({ restricted: z.boolean() }).optional(),
    catalog: z
      .array(
        z.looseObject({
          type: z.string(),
          endpoints: z.array(
            z.looseObject({
              interface: z.string(),
              region: z.string().nullish(),
              url: z.string(),
            }),
          ),
        }),
      )
      .default([]),
  }),
});
export type Token = z.infer<typeof tokenSchema>["token"];
