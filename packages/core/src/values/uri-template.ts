import { AuthoringError } from './errors.ts';
/**
 * A URI template of level 1 (RFC 6570, section 1.2): literal text and variables `{name}`, each part
 * of one segment.
 */
export interface UriTemplate {
  /** Text of the template. */
  readonly text: string;
  /** Names of the variables, in order. */
  readonly variables: readonly string[];
  /** Decoded variables of a URI. Undefined for a URI of another form. */
  match(uri: string): { readonly [name: string]: string } | undefined;
}

/** Names of the variables of a template, as a type. */
export type UriVariables<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | UriVariables<Rest>
  : never;

/**
 * Suggests values for a variable of a template: `completion/complete` of MCP. Clients get the first
 * 100.
 * @param value - text typed so far
 * @param context - values of other variables, if the client sends them
 */
export type CompleteVariable = (
  value: string,
  context?: { readonly arguments?: { readonly [name: string]: string } },
) => string[] | Promise<string[]>;

// split() returns literals and variables in turns.
const variable = /\{([^{}]*)\}/;
const names = /^[A-Za-z_]\w*$/;
const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/**
 * Reads a URI template. Throws AuthoringError for a template beyond level 1, or with ambiguous
 * URIs.
 */
export function toUriTemplate(text: string): UriTemplate {
  if (typeof text !== 'string' || !scheme.test(text)) {
    throw new AuthoringError("A URI template starts with a scheme, as in 'orders://{id}'.", {
      anchor: 'names-and-versions',
    });
  }
  const parts = text.split(variable);
  const literals = parts.filter((_, index) => index % 2 === 0);
  const variables = parts.filter((_, index) => index % 2 === 1);
  const refused =
    variables.find((name) => !names.test(name)) ?? literals.find((part) => /[{}]/.test(part));
  if (refused !== undefined) {
    throw new AuthoringError(
      `The URI template '${text}' has '${refused}': only variables such as {id} can be used, without operators.`,
      { anchor: 'names-and-versions' },
    );
  }
  const twice = variables.find((name, index) => variables.indexOf(name) !== index);
  if (twice !== undefined)
    throw new AuthoringError(`The URI template '${text}' has '${twice}' twice.`, {
      anchor: 'names-and-versions',
    });
  if (variables.includes('uri')) {
    throw new AuthoringError(
      `The URI template '${text}' has a variable 'uri', a name reserved for the whole URI.`,
      { anchor: 'names-and-versions' },
    );
  }
  if (literals.slice(1, -1).includes('')) {
    throw new AuthoringError(`The URI template '${text}' needs text between two variables.`, {
      anchor: 'names-and-versions',
    });
  }
  return { text, variables, match: (uri) => matched(uri, literals, variables) };
}

/**
 * Matches each variable up to the first occurrence of the literal that follows: linear, without a
 * pattern to exploit.
 */
function matched(
  uri: string,
  [first = '', ...rest]: readonly string[],
  variables: readonly string[],
): { readonly [name: string]: string } | undefined {
  if (!uri.startsWith(first)) return undefined;
  if (rest.length === 0) return uri === first ? {} : undefined;
  const found: [string, string][] = [];
  let at = first.length;
  for (const [index, literal] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const end = isLast ? uri.length - literal.length : uri.indexOf(literal, at);
    if (end < at || (isLast && !uri.endsWith(literal))) return undefined;
    const value = decoded(uri.slice(at, end));
    if (value === undefined) return undefined;
    found.push([variables[index] as string, value]);
    at = end + literal.length;
  }
  return Object.fromEntries(found);
}

/** Value of a variable. Undefined for an empty text, or more than one segment. */
function decoded(text: string): string | undefined {
  if (text === '' || /[/?#]/.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
