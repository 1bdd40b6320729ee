/**
 * Pattern of user and password in a URL. The pattern also matches passwords with special characters
 * that are not percent-encoded, such as `/`. A number after the first `:` is a port.
 */
const login = /(?<=^[a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@|[^/?#:@[]*:(?!\d*(?:[/?#]|$))[^\s"'<>]*@)/i;

const parameterName = String.raw`([?&][\w.-]*(?:password|passphrase|token|secret|sig|signature)=)`;
/** Pattern of a secret parameter in the query of a URL. The last group is the value. */
const secretParameter = new RegExp(`${parameterName}([^&#]+)`, "gi");
/** Pattern of a secret parameter of a URL within a text. */
const secretParameterInText = new RegExp(`${parameterName}[^&#\\s"'<>]+`, "gi");

/** Returns the URL without its password, and without the values of secret parameters, for messages. */
export const removeUrlPassword = (url: string): string =>
  url
    .replace(login, (found) => `${found.slice(0, -1).split(":")[0] ?? ""}@`.replace(/^@$/, ""))
    .replace(secretParameter, "$1...");

/** Returns the password and the values of secret parameters in a URL, as they are written. */
export const findUrlPasswords = (url: string): readonly string[] => {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return [];
  const [, password] = /:(.+)@$/.exec(login.exec(url)?.[0] ?? "") ?? [];
  const parameters = [...url.matchAll(secretParameter)].map(([, , value = ""]) => value);
  return [...(password === undefined ? [] : [password]), ...parameters];
};

/** Pattern of a password in a URL within a text. The first group is the part before the password. */
const loginInText =
  /\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@[?#"'<>]*:)(?:[^\s/"'<>]*|(?!\d*[/?#])[^\s"'<>]*)@/gi;

/** Returns a text in which passwords and secret parameters of URLs are replaced. */
export const replaceUrlPasswords = (text: string, replacement: string): string =>
  text
    .replace(loginInText, (_, before: string) => `${before}${replacement}@`)
    .replace(secretParameterInText, (_, before: string) => `${before}${replacement}`);
