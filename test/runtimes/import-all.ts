import * as client from '@mcp-saga/client';
import * as core from '@mcp-saga/core';
import * as program from '@mcp-saga/core/program';
import * as opentelemetry from '@mcp-saga/opentelemetry';
import * as redis from '@mcp-saga/redis';
import * as seal from '@mcp-saga/seal';
import * as server from '@mcp-saga/server';
import * as serve from '@mcp-saga/server/serve';
import * as xstate from '@mcp-saga/xstate';

// Their names are read when asked, so that no bundler leaves anything out.
const packages = { client, core, program, opentelemetry, redis, seal, server, serve, xstate };

/** Everything that the packages export, by package. */
export default {
  fetch(): Response {
    return Response.json(
      Object.fromEntries(Object.entries(packages).map(([name, module]) => [name, Object.keys(module)])),
    );
  },
};
