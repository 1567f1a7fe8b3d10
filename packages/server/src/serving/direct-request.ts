import { isRecord, logLevels } from '@mcp-saga/core/program';
import type { LogLevel } from '@mcp-saga/core';

/** Methods that need no `McpServer`. */
export type DirectMethod =
  | 'tools/call'
  | 'tools/callSaga'
  | 'tools/resumeSaga'
  | 'tools/cancelSaga';

/** Valid request of MCP 2026-07-28, in the parts that the SDK passes to a handler. */
export interface DirectRequest {
  readonly id: string | number;
  readonly method: DirectMethod;
  /** Params without the fields below. */
  readonly params: Fields;
  /** `_meta` without the envelope; undefined if empty. */
  readonly meta: Fields | undefined;
  /** Protocol version, client, capabilities, and log level. */
  readonly envelope: Fields;
  /** Least severe level of log messages that the client wants. Undefined: it wants none. */
  readonly logLevel: LogLevel | undefined;
  /** `true` if the client may get notifications before the response. */
  readonly isNotified: boolean;
  readonly requestState: string | undefined;
  readonly inputResponses: Fields | undefined;
}

interface Fields {
  readonly [key: string]: unknown;
}

/** The version of MCP whose requests need no server of the SDK. */
export const directRevision = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const versionKey = `${prefix}protocolVersion`;
const clientKey = `${prefix}clientInfo`;
const capabilitiesKey = `${prefix}clientCapabilities`;
const logLevelKey = `${prefix}logLevel`;
// The SDK checks it further, and no client of this revision sends it.
const relatedTaskKey = `${prefix}related-task`;

const methods: ReadonlySet<unknown> = new Set<DirectMethod>([
  'tools/call',
  'tools/callSaga',
  'tools/resumeSaga',
  'tools/cancelSaga',
]);

// The SDK checks capabilities recursively.
const maxCapabilityDepth = 8;

/**
 * Reads a request that the SDK would answer with a single JSON body. Returns undefined for all
 * others.
 */
export function toDirectRequest(request: Request, body: unknown): DirectRequest | undefined {
  if (!isRecord(body)) return undefined;
  const { jsonrpc, id, method, params, ...unknownFields } = body;
  if (jsonrpc !== '2.0' || !isRequestId(id) || !isDirectMethod(method) || !isRecord(params))
    return undefined;
  if (!isEmpty(unknownFields) || !hasStandardHeaders(request, method, params)) return undefined;
  const { _meta: allMeta, requestState, inputResponses, ...rest } = params;
  if (!isOptional(requestState, isString) || !isOptional(inputResponses, areResponses))
    return undefined;
  if (!isRecord(allMeta)) return undefined;
  const {
    [versionKey]: version,
    [clientKey]: client,
    [capabilitiesKey]: capabilities,
    [logLevelKey]: logLevel,
    ...meta
  } = allMeta;
  if (
    version !== directRevision ||
    !isOptional(client, isClientInfo) ||
    !areCapabilities(capabilities)
  )
    return undefined;
  const { progressToken } = meta;
  if (!isOptional(progressToken, isRequestId) || !isOptional(logLevel, isLogLevel))
    return undefined;
  if (relatedTaskKey in meta) return undefined;
  const own = isEmpty(meta) ? undefined : meta;
  return {
    id,
    method,
    params: own === undefined ? rest : { ...rest, _meta: own },
    meta: own,
    envelope: {
      [versionKey]: version,
      [clientKey]: client,
      [capabilitiesKey]: capabilities,
      ...(logLevel === undefined ? {} : { [logLevelKey]: logLevel }),
    },
    logLevel,
    isNotified:
      progressToken !== undefined || logLevel !== undefined || hasResumableRequests(capabilities),
    requestState,
    inputResponses,
  };
}

/** `true` for a JSON request with matching headers for version, method, and tool. */
function hasStandardHeaders({ headers }: Request, method: string, { name }: Fields): boolean {
  const isMirrored =
    isJson(headers.get('content-type')) &&
    headers.get('mcp-protocol-version') === directRevision &&
    headers.get('mcp-method') === method;
  if (!isMirrored || method !== 'tools/call') return isMirrored;
  const named = headers.get('mcp-name');
  // Headers with this prefix are encoded.
  return named === name && named?.startsWith('=?') === false;
}

/** `true` for JSON, perhaps with a character set. The SDK parses all other types. */
function isJson(contentType: string | null): boolean {
  return (
    contentType === 'application/json' ||
    (contentType !== null && /^application\/json; ?charset="?utf-8"?$/i.test(contentType))
  );
}

/** `true` for valid responses. The SDK removes invalid responses, and reports their keys. */
function areResponses(value: unknown): value is Fields {
  return (
    isRecord(value) &&
    Object.entries(value).every(
      ([key, response]) =>
        key !== '__proto__' &&
        isRecord(response) &&
        !('method' in response) &&
        !('result' in response),
    )
  );
}

function isClientInfo(value: unknown): value is Fields {
  if (!isRecord(value)) return false;
  const { name, version, title, websiteUrl, description, icons } = value;
  return (
    isString(name) &&
    isString(version) &&
    isOptional(icons, areIcons) &&
    [title, websiteUrl, description].every((text) => isOptional(text, isString))
  );
}

function areIcons(value: unknown): value is readonly Fields[] {
  return (
    Array.isArray(value) &&
    value.every((icon: unknown) => {
      if (!isRecord(icon)) return false;
      const { src, mimeType, sizes, theme } = icon;
      const areSizes = sizes === undefined || (Array.isArray(sizes) && sizes.every(isString));
      const isTheme = theme === undefined || theme === 'light' || theme === 'dark';
      return isString(src) && isOptional(mimeType, isString) && areSizes && isTheme;
    })
  );
}

/** `true` for valid capabilities. */
function areCapabilities(value: unknown): value is Fields {
  if (!isRecord(value) || !isFiniteJson(value, maxCapabilityDepth)) return false;
  const { elicitation = {}, sampling = {}, roots = {}, experimental = {}, extensions = {} } = value;
  if (![elicitation, sampling, roots, experimental, extensions].every(isRecord)) return false;
  const { form = {}, url = {} } = elicitation as Fields;
  const { context = {}, tools = {} } = sampling as Fields;
  return (
    [form, url, context, tools].every(isRecord) &&
    isOptional((form as Fields)['applyDefaults'], isBoolean) &&
    isOptional((roots as Fields)['listChanged'], isBoolean) &&
    [experimental, extensions].every((named) => Object.values(named as Fields).every(isRecord))
  );
}

/** `true` for a client that is told how to resume its request. */
function hasResumableRequests({ resumableRequests, experimental = {} }: Fields): boolean {
  const declared = (experimental as Fields)['resumableRequests'];
  return resumableRequests !== undefined || declared !== undefined;
}

/**
 * `true` for JSON of limited depth with finite numbers. Very large numbers are parsed as infinite.
 */
function isFiniteJson(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((part) => isFiniteJson(part, depth - 1));
}

function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || is(value);
}

function isLogLevel(value: unknown): value is LogLevel {
  return logLevels.includes(value as LogLevel);
}

/** `true` for the ID of a JSON-RPC request. */
export function isRequestId(value: unknown): value is string | number {
  return isString(value) || Number.isSafeInteger(value);
}

/** `true` for a method that needs no server of the SDK. */
export function isDirectMethod(value: unknown): value is DirectMethod {
  return methods.has(value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}
