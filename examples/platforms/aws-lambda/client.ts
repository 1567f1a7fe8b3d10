/** A function as its template has it, which serves each event in a process of its own while its key is rotated. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SagaGone } from '@mcp-saga/client';
import { assertBound, begin, connect, end, goOn, orderUmbrellas } from '@mcp-saga/example-order/client';
import { generateKey } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import type { LambdaFunctionURLEventWithIAMAuthorizer } from 'aws-lambda';
import { AwsClient } from 'aws4fetch';
import { startFunctionUrl } from './function-url.ts';
import { invoke, type LambdaFunction } from './invoke.ts';
import { buildFunction, readTemplate } from './template.ts';

const folder = await mkdtemp(join(tmpdir(), 'lambda-'));

/** Configures the function by its template, as `sam deploy --parameter-overrides` does. */
async function deploy(SagaKeys: string): Promise<LambdaFunction> {
  const template = await readTemplate({ SagaKeys });
  const { Handler, Environment, FunctionUrlConfig } = template.Properties;
  assert.deepEqual(FunctionUrlConfig, { AuthType: 'AWS_IAM', InvokeMode: 'BUFFERED' });
  await buildFunction(template, folder);
  return { folder, handler: Handler, environment: Environment.Variables };
}

const [old, young] = [generateKey('k1'), generateKey('k2')];
let deployed = await deploy(old);

const users = new Map([
  ['AKIAADA', 'AIDAADA'],
  ['AKIAEVE', 'AIDAEVE'],
]);
const events: LambdaFunctionURLEventWithIAMAuthorizer[] = [];
const functionUrl = await startFunctionUrl(users, async (event) => {
  events.push(event);
  const result = await invoke(deployed, event);
  // Plain JSON, so that nothing is encoded and nothing would have to be streamed.
  if (result.body !== '') assert.equal(result.headers?.['content-type'], 'application/json', result.body);
  assert.notEqual(result.isBase64Encoded, true);
  return result;
});

/** Connects with the requests signed as the URL asks for. */
async function connectAs(accessKeyId: string): Promise<Client> {
  const aws = new AwsClient({
    accessKeyId,
    secretAccessKey: 'secret',
    region: 'eu-west-1',
    service: 'lambda',
  });
  return await connect(functionUrl.url, { fetch: (url, init) => aws.fetch(url, init) });
}

const ada = await connectAs('AKIAADA');
const { by } = await orderUmbrellas(ada);
assert.notEqual(...by, 'another process went on');
await assertBound(ada, await connectAs('AKIAEVE'));

const begun = await begin(ada);
deployed = await deploy(`${old},${young}`);
deployed = await deploy(`${young},${old}`);
const asked = await goOn(ada, begun);
deployed = await deploy(young);
await end(ada, asked);
await assert.rejects(goOn(ada, begun), SagaGone, 'the old key opens nothing any more');

const [event] = events;
assert(event !== undefined);
const { authorizer: _, ...anybody } = event.requestContext;
const refused = await invoke(deployed, { ...event, requestContext: anybody });
assert.equal(refused.statusCode, 403, 'without AuthType: AWS_IAM nobody is served');
console.log(`${events.length} events, each in a process of its own.`);

functionUrl.stop();
await rm(folder, { recursive: true });
