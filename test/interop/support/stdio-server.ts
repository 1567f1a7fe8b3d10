// A server over stdio. It appends its effects to a file, because clients may drop its output.
import { appendFileSync } from 'node:fs';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { newServer } from './http-server.ts';
import { createHost } from './sagas.ts';

const { SAGA_KEYS: keys = '', INTEROP_MODEL: model, INTEROP_EFFECTS: effects = '' } = process.env;
const host = createHost({ keys, hasModel: model === 'yes' }, (path) =>
  appendFileSync(effects, `${path}\n`),
);
serveStdio(() => newServer((server) => host.attach(server)));
