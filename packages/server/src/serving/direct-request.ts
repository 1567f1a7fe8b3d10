import { isRecord } from '@mcp-saga/core/program';

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
  /** Protocol version, client, and capabilities. */
  readonly envelope: Fields;
  readonly requestState: string | undefined;
  readonly inputResponses: Fields | undefined;
}

interface Fields {
  readonly [key: string]: unknown;
}

const revision = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const versionKey = `${prefix}protocolVersion`;
const clientKey = `${prefix}clientInfo`;
const capabilitiesKey = `${prefix}clientCapabilities`;
// Requests with these keys may get notifications before the response, or are checked further by the
// SDK.
const furtherKeys = ['progressToken', `${prefix}logLevel`, `${prefix}related-task`] as const;

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
    ...meta
  } = allMeta;
  if (version !== revision || !isOptional(client, isClientInfo) || !areCapabilities(capabilities))
    return undefined;
  if (furtherKeys.some((key) => key in meta)) return undefined;
  const own = isEmpty(meta) ? undefined : meta;
  return {
    id,
    method,
    params: own === undefined ? rest : { ...rest, _meta: own },
    meta: own,
    envelope: { [versionKey]: version, [clientKey]: client, [capabilitiesKey]: capabilities },
    requestState,
    inputResponses,
  };
}

/** `true` for a JSON request with matching headers for version, method, and tool. */
function hasStandardHeaders({ headers }: Request, method: string, { name }: Fields): boolean {
  const isMirrored =
    headers.get('content-type') === 'application/json' &&
    headers.get('mcp-protocol-version') === revision &&
    headers.get('mcp-method') === method;
  if (!isMirrored || method !== 'tools/call') return isMirrored;
  const named = headers.get('mcp-name');
  // Headers with this prefix are encoded.
  return named === name && named?.startsWith('=?') === false;
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
  if (!isRecord(value) || value['icons'] !== undefined) return false;
  const { name, version, title, websiteUrl, description } = value;
  return (
    isString(name) &&
    isString(version) &&
    [title, websiteUrl, description].every((text) => isOptional(text, isString))
  );
}

/**
 * `true` for valid capabilities. Clients with resumable requests need notifications, and are served
 * by the SDK.
 */
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
    [experimental, extensions].every((named) => Object.values(named as Fields).every(isRecord)) &&
    [value, experimental as Fields].every((declared) => declared['resumableRequests'] === undefined)
  );
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

function isRequestId(value: unknown): value is string | number {
  return isString(value) || Number.isSafeInteger(value);
}

function isDirectMethod(value: unknown): value is DirectMethod {
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
