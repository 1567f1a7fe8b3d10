import { order } from '@mcp-saga/example-order/saga';
import { serveSagas } from '@mcp-saga/server/serve';
import type { ServerRequest } from 'srvx';
import { toLambdaHandler } from 'srvx/aws-lambda';
import { iamAuth, principal } from './iam.ts';

const sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  auth: {
    authenticate: (request: ServerRequest) => iamAuth(request.runtime?.awsLambda?.event.requestContext),
    principal,
  },
});

export const handler: ReturnType<typeof toLambdaHandler> = toLambdaHandler({
  fetch: (request) => sagas.fetch(request),
});
