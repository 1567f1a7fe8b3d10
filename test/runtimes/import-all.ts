import * as client from '@mcp-saga/client';
import * as core from '@mcp-saga/core';
import * as redis from '@mcp-saga/redis';
import * as seal from '@mcp-saga/seal';
import * as server from '@mcp-saga/server';
import * as serve from '@mcp-saga/server/serve';

// Their names are read when asked, so that no bundler leaves anything out.
const packages = { client, core, redis, seal, server, serve };

/** Everything that the packages export, by package. */
export default {
  fetch(): Response {
    return Response.json(
      Object.fromEntries(Object.entries(packages).map(([name, module]) => [name, Object.keys(module)])),
    );
  },
};
