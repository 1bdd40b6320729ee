/**
 * Lint rule for tests. If all assertions of a test are in loops, at least one of the loops must run
 * over a list that cannot be empty. Otherwise, the test passes without any assertion if a filter
 * returns an empty list.
 *
 * A list that cannot be empty is a literal, or the result of `nonEmpty`
 * (test/support/non-empty.ts).
 */
const testNames = new Set(["it", "specify"]);
const assertionNames = /^(assert|assert[A-Z]\w*|golden)$/;
const callbackMethods = new Set([
  ...["forEach", "map", "flatMap", "filter", "find", "some", "every", "reduce"],
]);
/** Methods whose result has as many elements as the list on which they are called. */
const keepingMethods = new Set([
  ...["map", "entries", "keys", "values", "sort", "toSorted", "reverse", "toReversed", "concat"],
]);
const functionTypes = new Set([
  ...["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"],
]);
const loopTypes = new Set(["ForOfStatement", "ForInStatement"]);

/** Returns the expression without type assertions and `await` around it. */
function bare(node) {
  const wrapped = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"];
  if (wrapped.includes(node.type)) return bare(node.expression);
  return node.type === "AwaitExpression" ? bare(node.argument) : node;
}

function nameOfCallee(callee) {
  if (callee.type === "Identifier") return callee.name;
  return callee.type === "MemberExpression" ? nameOfCallee(callee.object) : undefined;
}

/**
 * Returns the initial value of a `const`, or the function declaration, to which an identifier
 * refers.
 */
function definitionOf(identifier, sourceCode) {
  for (let scope = sourceCode.getScope(identifier); scope; scope = scope.upper) {
    const [definition] = scope.set.get(identifier.name)?.defs ?? [];
    if (!definition) continue;
    if (definition.type === "FunctionName") return definition.node;
    const isConst = definition.type === "Variable" && definition.parent.kind === "const";
    return isConst && definition.node.id.type === "Identifier" ? definition.node.init : undefined;
  }
  return undefined;
}

function hasElement(expression, sourceCode) {
  const node = bare(expression);
  const again = (other) => hasElement(other, sourceCode);
  switch (node.type) {
    case "ArrayExpression":
      return node.elements.some((one) => one?.type !== "SpreadElement" || again(one.argument));
    case "ObjectExpression":
      return node.properties.some((one) => one.type !== "SpreadElement" || again(one.argument));
    case "Literal":
      return node.value !== "";
    case "Identifier": {
      const definition = definitionOf(node, sourceCode);
      return definition !== undefined && definition !== null && again(definition);
    }
    case "NewExpression":
      return node.arguments.length > 0 && again(node.arguments[0]);
    case "CallExpression":
      return callHasElement(node, again);
    default:
      return false;
  }
}

function callHasElement({ callee, arguments: given }, again) {
  if (callee.type === "Identifier") return callee.name === "nonEmpty";
  if (callee.type !== "MemberExpression") return false;
  const method = callee.property.name;
  if (callee.object.type === "Identifier" && callee.object.name === "Object")
    return given.length > 0 && again(given[0]);
  if (callee.object.type === "Identifier" && callee.object.name === "Array")
    return method === "from" && given[0]?.type === "ObjectExpression";
  return keepingMethods.has(method) && again(callee.object);
}

/** Returns the list over which a callback or the body of a loop runs. */
function listOf(node) {
  if (loopTypes.has(node.type)) return node.right;
  const { parent } = node;
  const isCallback =
    functionTypes.has(node.type) &&
    parent.type === "CallExpression" &&
    parent.arguments.includes(node) &&
    parent.callee.type === "MemberExpression" &&
    callbackMethods.has(parent.callee.property.name);
  return isCallback ? parent.callee.object : undefined;
}

const childrenOf = (node, sourceCode) =>
  (sourceCode.visitorKeys[node.type] ?? []).flatMap((key) => node[key] ?? []);

/**
 * Returns `certain` if `node` makes an assertion even if all lists are empty. Otherwise, returns
 * the loops that contain assertions.
 */
function assertionsIn(node, sourceCode, seen = new Set()) {
  const loops = [];
  const visit = (current) => {
    if (!current || seen.has(current)) return false;
    seen.add(current);
    if (current.type === "CallExpression") {
      if (assertionNames.test(nameOfCallee(current.callee) ?? "")) return true;
      if (current.callee.type === "Identifier") {
        const definition = definitionOf(current.callee, sourceCode);
        if (definition && functionTypes.has(definition.type) && visitCalled(definition))
          return true;
      }
    }
    const list = listOf(current);
    if (list === undefined || hasElement(list, sourceCode))
      return childrenOf(current, sourceCode).some(visit);
    const inside = assertionsIn(current.body, sourceCode, new Set(seen));
    if (inside.certain || inside.loops.length > 0) loops.push(list);
    return loopTypes.has(current.type) && visit(current.right);
  };
  const visitCalled = (called) => {
    if (seen.has(called)) return false;
    const inside = assertionsIn(called.body, sourceCode, new Set([...seen, called]));
    loops.push(...inside.loops);
    return inside.certain;
  };
  return { certain: visit(node), loops };
}

export default {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      uncertain:
        "Every assertion of this test is in a loop that may be empty: use nonEmpty() or assert the list.",
    },
  },
  create: ({ sourceCode, report }) => ({
    CallExpression(node) {
      const name = nameOfCallee(node.callee);
      const body = node.arguments.at(-1);
      if (!testNames.has(name) || !body || !functionTypes.has(body.type)) return;
      const { certain, loops } = assertionsIn(body.body, sourceCode);
      if (!certain && loops.length > 0) report({ node: loops[0], messageId: "uncertain" });
    },
  }),
};
