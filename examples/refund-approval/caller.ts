/**
 * A client that continues a refund until the managers have their links, prints the saga as JSON,
 * and then waits for its end.
 */
import assert from 'node:assert/strict';
import { SuspendedSaga } from '@mcp-saga/client';
import { connect } from '@mcp-saga/example-run-server';

const [url = '', saga = ''] = process.argv.slice(2);
const client = await connect(new URL(url), {});
const turn = await SuspendedSaga.from(client, JSON.parse(saga)).resume();
assert(turn.status === 'suspended');
console.log(JSON.stringify(turn.saga));
process.stdin.resume();
