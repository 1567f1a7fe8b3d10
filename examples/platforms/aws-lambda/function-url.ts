import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type {
  APIGatewayProxyStructuredResultV2,
  LambdaFunctionURLEventWithIAMAuthorizer,
} from 'aws-lambda';

/** A function URL on loopback. */
export interface FunctionUrl {
  readonly url: URL;
  stop(): void;
}

/** IAM user ID for an access key. */
export type Users = ReadonlyMap<string, string>;

/**
 * Stands in for a function URL with `AuthType: AWS_IAM` and `InvokeMode: BUFFERED`: turns each
 * request into an event, and the result into a response. AWS would check the signature, but this
 * function trusts the access key.
 */
export async function startFunctionUrl(
  users: Users,
  invoke: (
    event: LambdaFunctionURLEventWithIAMAuthorizer,
  ) => Promise<APIGatewayProxyStructuredResultV2>,
): Promise<FunctionUrl> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const accessKey =
      /^AWS4-HMAC-SHA256 Credential=(\w+)\//.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const userId = users.get(accessKey);
    if (userId === undefined) {
      response.writeHead(403).end('{"Message":"Forbidden"}');
      return;
    }
    try {
      const result = await invoke(toEvent(request, await text(request), { accessKey, userId }));
      response.statusCode = result.statusCode ?? 200;
      for (const [name, value] of Object.entries(result.headers ?? {}))
        response.setHeader(name, String(value));
      response.end(
        Buffer.from(result.body ?? '', result.isBase64Encoded === true ? 'base64' : 'utf8'),
      );
    } catch (error) {
      console.error(error);
      response.writeHead(502).end('Internal Server Error');
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The event of a request, in payload format 2.0. */
function toEvent(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  body: string,
  { accessKey, userId }: { readonly accessKey: string; readonly userId: string },
): LambdaFunctionURLEventWithIAMAuthorizer {
  const [rawPath = '/', rawQueryString = ''] = url.split('?');
  const now = new Date();
  const domainName = 'abcdefghijklmnop.lambda-url.eu-west-1.on.aws';
  const accountId = '123456789012';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers: {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      host: domainName,
    },
    requestContext: {
      accountId,
      apiId: 'abcdefghijklmnop',
      authorizer: {
        iam: {
          accessKey,
          accountId,
          callerId: userId,
          cognitoIdentity: null,
          principalOrgId: 'o-example',
          userArn: `arn:aws:iam::${accountId}:user/${userId}`,
          userId,
        },
      },
      domainName,
      domainPrefix: 'abcdefghijklmnop',
      http: {
        method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: '192.0.2.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    isBase64Encoded: false,
    ...(body === '' ? {} : { body }),
  };
}
