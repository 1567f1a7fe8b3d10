/**
 * Deploys the function by its template, serves each event in a new process, and rotates the key
 * meanwhile.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SagaGone } from '@mcp-saga/client';
import {
  assertBound,
  assertShared,
  begin,
  connect,
  end,
  goOn,
  hasStore,
  orderUmbrellas,
} from '@mcp-saga/example-order/client';
import { generateKey } from '@mcp-saga/server';
import { postgresMigrations } from '@mcp-saga/sql';
import type { Client } from '@modelcontextprotocol/client';
import type { LambdaFunctionURLEventWithIAMAuthorizer } from 'aws-lambda';
import { AwsClient } from 'aws4fetch';
import { Client as Postgres } from 'pg';
import { startFunctionUrl } from './function-url.ts';
import { invoke, type LambdaFunction } from './invoke.ts';
import { buildFunction, readTemplate } from './template.ts';

const folder = await mkdtemp(join(tmpdir(), 'lambda-'));
const DatabaseUrl = process.env['DATABASE_URL'] ?? '';
if (DatabaseUrl !== '') {
  const database = new Postgres({ connectionString: DatabaseUrl });
  await database.connect();
  await database.query(postgresMigrations().join('\n'));
  await database.end();
}

// A deploy with other keys does not build the function again.
await buildFunction(await readTemplate({}), folder);

/** Configures the function by its template, as `sam deploy --parameter-overrides` does. */
async function deploy(SagaKeys: string): Promise<LambdaFunction> {
  const template = await readTemplate({ SagaKeys, DatabaseUrl });
  const { Handler, Environment, FunctionUrlConfig } = template.Properties;
  assert.deepEqual(FunctionUrlConfig, { AuthType: 'AWS_IAM', InvokeMode: 'BUFFERED' });
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
  // Plain JSON needs neither encoding nor streaming.
  if (result.body !== '')
    assert.equal(result.headers?.['content-type'], 'application/json', result.body);
  assert.notEqual(result.isBase64Encoded, true);
  return result;
});

/** Connects with signed requests. */
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
assert.notEqual(...by, 'another process continued the saga');
await assertBound(ada, await connectAs('AKIAEVE'));
if (hasStore()) await assertShared(ada);

const begun = await begin(ada);
deployed = await deploy(`${old},${young}`);
deployed = await deploy(`${young},${old}`);
const asked = await goOn(ada, begun);
deployed = await deploy(young);
await end(ada, asked);
await assert.rejects(goOn(ada, begun), SagaGone, 'the old key opens no token');

const [event] = events;
assert(event !== undefined);
const { authorizer: _, ...anybody } = event.requestContext;
const refused = await invoke(deployed, { ...event, requestContext: anybody });
assert.equal(refused.statusCode, 403, 'an event without an IAM user is refused');
console.log(`${events.length} events, each in a new process.`);

functionUrl.stop();
await rm(folder, { recursive: true });
