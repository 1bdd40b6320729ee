import ts from "typescript";
import { roleTable } from "../../components/config/roles.js";

/**
 * Returns only the letters of a text in lower case, without a final "s". So "Control planes",
 * control-plane and controlPlane become equal.
 */
const plainly = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z]/g, "")
    .replace(/s$/, "");

const names = Object.keys(roleTable).map(plainly);
const labels = Object.values(roleTable).flatMap(({ label }) => label ?? []);

const equality = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);
const asking = new Set(["includes", "startsWith", "endsWith", "has", "test", "indexOf"]);
const comparing = new Set([...equality, ts.SyntaxKind.InKeyword]);

const isText = (node: ts.Node): node is ts.StringLiteralLike => ts.isStringLiteralLike(node);
const isNamed = (node: ts.Node): boolean =>
  isText(node) && (names.includes(plainly(node.text)) || labels.includes(node.text));
/**
 * Returns whether the name in an expression ends in `role`. A comparison of such an expression with
 * any literal is a condition on a role.
 */
const isRole = (node: ts.Node): boolean => /role\)*$/i.test(node.getText());
/**
 * Returns whether an expression is a setting of the user. Some access methods and kinds have the
 * same names as roles, so a comparison with them is no condition on a role.
 */
const isChoice = (node: ts.Node): boolean => /\b(access|way|kind)$/.test(node.getText());

const comparesRole = (one: ts.Node, other: ts.Node): boolean =>
  (isNamed(one) && !isChoice(other)) || (isText(one) && isRole(other));

function comparison(node: ts.Node): boolean {
  if (!ts.isBinaryExpression(node)) return false;
  const { left, right, operatorToken } = node;
  if (equality.has(operatorToken.kind))
    return comparesRole(left, right) || comparesRole(right, left);
  return operatorToken.kind === ts.SyntaxKind.InKeyword && isNamed(left);
}

function asked(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  const [argument] = node.arguments;
  if (!asking.has(name.text) || !argument) return false;
  const list = ts.isArrayLiteralExpression(expression) ? expression.elements : [];
  const words = ts.isRegularExpressionLiteral(expression) || list.some(isText);
  return (
    [argument, ...list].some(isNamed) ||
    (words && isRole(argument)) ||
    (isText(argument) && isRole(expression))
  );
}

const chosen = (node: ts.Node): boolean =>
  (ts.isSwitchStatement(node) && isRole(node.expression)) ||
  (ts.isCaseClause(node) && isNamed(node.expression) && !isChoice(node.parent.parent.expression));

/** Returns whether the syntax of an expression shows that it is boolean. */
const isBoolean = (node: ts.Node): boolean =>
  [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(node.kind) ||
  (ts.isBinaryExpression(node) && comparing.has(node.operatorToken.kind)) ||
  (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken);

/** Returns whether a declaration is a boolean that is named after a role. */
function flag(node: ts.Node): boolean {
  const declared =
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isPropertyAssignment(node);
  if (!declared || !names.some((name) => plainly(node.name.getText()).includes(name))) return false;
  const { type, initializer } = node as { type?: ts.TypeNode; initializer?: ts.Node };
  return (
    type?.kind === ts.SyntaxKind.BooleanKeyword ||
    (initializer !== undefined && isBoolean(initializer))
  );
}

/** Returns the places where TypeScript code depends on a role. */
export function conditionsIn(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (comparison(node) || asked(node) || chosen(node) || flag(node))
      found.push(node.getText().split("\n")[0] ?? "");
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true));
  return found;
}

/** Pattern of messages for users, which are no conditions. */
const saying = /\b(die|die_as|say|printf)\b.*$/;
const condition = /\[\[|\bif\b|\bcase\b|\bgrep -q|^\s*[^()\s]+\)/;
/**
 * Pattern of the roles in shell scripts. etcd is missing, because it is also the name of a program
 * that shell scripts must check.
 */
const inShell = /control[-_ ]?plane|worker|bastion|\$\{?\w*role\b/i;

/** Returns the lines where a shell script depends on a role. */
export const shellConditionsIn = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .map((line) => line.replace(saying, "").trim())
    .filter((line) => condition.test(line) && inShell.test(line));
