// A process with the server of a contender. It tells its parent the port, and ends with it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { toListener } from '../interop/support/http-server.ts';
import type { ProcessOptions } from './start-process.ts';
import { contenders } from './contenders.ts';
import { providerAt } from './provider.ts';

const [sent = ''] = process.argv.slice(2);
const { name, provider, database, keys, packages } = JSON.parse(sent) as ProcessOptions;
const contender = contenders.find((one) => one.name === name);
if (contender === undefined) throw new Error(`There is no contender ${name}`);
process.once('disconnect', () => process.exit());
const served = await contender.open({
  provider: providerAt(provider),
  database,
  keys,
  load: (module) => import(pathToFileURL(createRequire(`${packages}/`).resolve(module)).href),
});
const listener = 'listener' in served ? served.listener : toListener(served.fetch);
const server = createServer(listener).listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
