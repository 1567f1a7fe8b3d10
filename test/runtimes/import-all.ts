import * as client from '@mcp-saga/client';
import * as cloudflare from '@mcp-saga/cloudflare';
import * as core from '@mcp-saga/core';
import * as program from '@mcp-saga/core/program';
import * as opentelemetry from '@mcp-saga/opentelemetry';
import * as queues from '@mcp-saga/queues';
import * as redis from '@mcp-saga/redis';
import * as seal from '@mcp-saga/seal';
import * as server from '@mcp-saga/server';
import * as serve from '@mcp-saga/server/serve';
import * as sql from '@mcp-saga/sql';
import * as xstate from '@mcp-saga/xstate';

// Read on demand, so that a bundler cannot remove any export.
const packages = {
  client,
  cloudflare,
  core,
  program,
  opentelemetry,
  queues,
  redis,
  seal,
  server,
  serve,
  sql,
  xstate,
};

/** All exports, by package. */
export default {
  fetch(): Response {
    return Response.json(
      Object.fromEntries(
        Object.entries(packages).map(([name, module]) => [name, Object.keys(module)]),
      ),
    );
  },
};
