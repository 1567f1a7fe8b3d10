import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { APIGatewayProxyStructuredResultV2, LambdaFunctionURLEvent } from 'aws-lambda';
import { install } from '../../../test/support/install.ts';

// Newest version for Node 20.
const installed = await install('runtimes', 'aws-lambda-ric@3.3.0');

/** Settings of a Lambda function. */
export interface LambdaFunction {
  /** Folder with the code. */
  readonly folder: string;
  readonly handler: string;
  readonly environment: { readonly [name: string]: string };
}

/**
 * Invokes a function with one event in a new process, which ends with the answer. AWS's runtime
 * interface client loads the handler, and talks to this process over the Lambda runtime API.
 *
 * @throws Error with the report of the client if the function fails
 */
export async function invoke(
  { folder, handler, environment }: LambdaFunction,
  event: LambdaFunctionURLEvent,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { promise: answered, resolve, reject } = deferred<string>();
  const answer: RequestListener = (request, response) => {
    const [, kind = ''] =
      /^\/2018-06-01\/runtime\/(?:invocation\/)?(.+)$/.exec(request.url ?? '') ?? [];
    if (kind === 'next') {
      response.setHeader('lambda-runtime-aws-request-id', event.requestContext.requestId);
      response.setHeader('lambda-runtime-deadline-ms', Date.now() + 30_000);
      response.end(JSON.stringify(event));
      return;
    }
    void text(request).then((posted) => {
      response.writeHead(202).end();
      if (kind.endsWith('/response')) resolve(posted);
      else reject(new Error(`The function failed: ${kind} ${posted}`));
    });
  };
  const api = createServer(answer);
  await once(api.listen(0, '127.0.0.1'), 'listening');
  const child = spawn(
    process.execPath,
    [
      '--require',
      fileURLToPath(new URL('rapid-client.cjs', import.meta.url)),
      join(installed, 'node_modules/aws-lambda-ric/bin/index.mjs'),
      handler,
    ],
    {
      cwd: folder,
      // Excludes the environment of this process.
      env: {
        ...environment,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(api.address() as AddressInfo).port}`,
        AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
        LAMBDA_TASK_ROOT: folder,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const gone = once(child, 'exit').then(() =>
    reject(new Error('The function ended before it answered')),
  );
  try {
    return JSON.parse(await answered) as APIGatewayProxyStructuredResultV2;
  } finally {
    child.kill('SIGKILL');
    await gone;
    api.close();
    api.closeAllConnections();
  }
}

function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: Error) => void;
} {
  let settle: Pick<ReturnType<typeof deferred<T>>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    promise,
    resolve: (value) => settle?.resolve(value),
    reject: (error) => settle?.reject(error),
  };
}
