/**
 * Pattern of user and password in a URL. The pattern also matches passwords with special characters
 * that are not percent-encoded.
 */
const login = /(?<=^[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/;

/** Returns the URL without its password, for messages. */
export const removeUrlPassword = (url: string): string =>
  url.replace(login, (found) => `${found.slice(0, -1).split(":")[0] ?? ""}@`.replace(/^@$/, ""));

/** Returns the password in a URL. Returns undefined if there is none. */
export const findUrlPassword = (url: string): string | undefined =>
  /:(.+)@$/.exec(login.exec(url)?.[0] ?? "")?.[1];
